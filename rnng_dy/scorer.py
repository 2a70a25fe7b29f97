"""What gives words surprisals: models, n-grams, tables of other programs, and plugins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise, zip_longest
from typing import Any, ClassVar

from oracle.common.errors import RnngError
from oracle.sentences import SourceSentence, split_tokens
from oracle.unknown import UnknownWords
from rnng_dy.evaluation.records import END, MeasuredSentence, Records, WordRecord, with_spellings
from rnng_dy.evaluation.word_tables import WordTable
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions
from rnng_dy.text.columns import USUAL, Columns
from rnng_dy.text.no_sentences import require_sentence
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel, required_spelling

Sentences = Sequence[Sequence[str]]
"""The words of each sentence."""
Unkified = Sequence[Sequence[str] | None] | None
"""The words as a scorer should read them; it derives those that are None."""


class Scorer:
    """A source of surprisals, in bits; all have the same calls.

    A scorer without a search defines `records_of`, and `next_word_entropies` if it can. A model
    with a search replaces `measure`.
    """

    generates_words: ClassVar[bool] = True
    has_trees: ClassVar[bool] = False
    updates: int | None = None
    about: Any = None
    of_strings = False
    """Whether all surprisals are of strings, as those of a table by `surprisal --open`."""
    spelling: SpellingModel | None = None
    """The probabilities of strings for an open vocabulary; None if the scorer has none."""

    @property
    def unknown(self) -> UnknownWords | None:
        """The words that the scorer knows; None if only scoring shows them."""
        return None

    @cached_property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns running text into the scorer's tokens."""
        return Segmenter()

    def surprisals(
        self,
        tokens: Any,
        options: SearchOptions = DEFAULT_OPTIONS,
        end: bool = False,
        open_vocabulary: bool = False,
    ) -> list[WordRecord]:
        """Measure the surprisal of each word of a sentence, in bits.

        Args:
            tokens: The words, or the sentence as a str.
            options: The search of a generative model; the default is the word-synchronous beam. All
                scorers read `next_word`.
            end: Whether to add a record for the end of the sentence.
            open_vocabulary: Whether the surprisal is that of the word as a string, with the
                surprisals of its class and of its spelling.

        Returns:
            A `WordRecord` per word. A word has infinite surprisal if the scorer lacks its class of
            unknown words; the words after it are read without it. Surprisals of an LSTM are NaN if
            the sentence does not fit into memory.

        Raises:
            RnngError: A token is invalid, the options are impossible, or the scorer has no spelling
                model.
        """
        tokens = getattr(tokens, "text", tokens)
        if isinstance(tokens, str):
            # also a text of one word, such as can't, has several tokens
            require_sentence(tokens)
            tokens = self.segmenter.tokens(tokens)
        return self.surprisals_of([tokens], options, end, open_vocabulary)[0]

    def surprisals_of(
        self,
        sentences: Any,
        options: SearchOptions = DEFAULT_OPTIONS,
        end: bool = False,
        open_vocabulary: bool = False,
        numbers: Sequence[int] | None = None,
    ) -> list[list[WordRecord]]:
        """Measure the surprisals of several sentences, which is faster than one at a time.

        Args:
            sentences: Running text or sentences; see `Segmenter.sentences_in`.
            options: The search, as in `surprisals`.
            end: Whether to add a record for the end of each sentence.
            open_vocabulary: Whether words count as strings, as in `surprisals`.
            numbers: The numbers of the sentences, which decide the draws of a particle filter.

        Returns:
            A list of `WordRecord` per sentence.
        """
        sentences, _ = self.segmenter.sentences_in(sentences, has_tags=False)
        if not open_vocabulary:
            return [s.records for s in self.measure(sentences, options, end, numbers=numbers)]
        spelling = required_spelling(self, "this model")
        spelt = [spelling.read(split_tokens(tokens)[0]) for tokens in sentences]
        measured = self.measure(sentences, options, end, [words for words, _ in spelt], numbers)
        pairs = zip(measured, spelt, strict=True)
        return [with_spellings(sentence.records, log_probs) for sentence, (_, log_probs) in pairs]

    def table(
        self,
        stimuli: Any,
        columns: Columns = USUAL,
        options: SearchOptions = DEFAULT_OPTIONS,
        open_vocabulary: bool = False,
    ) -> WordTable:
        """Measure the words of an experiment's stimuli.

        Args:
            stimuli: The name of a table (CSV, TSV, xlsx), rows as dictionaries, or a DataFrame;
                levels of its index that have names are columns.
            columns: The columns that do not have the usual names (see `Columns`).
            options: The search, as in `surprisals`.
            open_vocabulary: Whether words count as strings, as in `surprisals`.

        Returns:
            A row per written word, as dictionaries; its methods `by_region` and `by_sentence` add
            them up.

        Raises:
            InputError: The table cannot be read as stimuli, or has a column that is added.
        """
        surprisals = partial(self.surprisals_of, options=options, open_vocabulary=open_vocabulary)
        return WordTable(stimuli, columns, self.segmenter, surprisals)

    def measure(
        self,
        sentences: Sentences,
        options: SearchOptions = DEFAULT_OPTIONS,
        end: bool = False,
        unkified: Unkified = None,
        numbers: Sequence[int] | None = None,
    ) -> Iterable[MeasuredSentence]:
        """Return the measures of sentences of tokens, in order.

        Args:
            sentences: The tokens of each sentence.
            options: The search, as in `surprisals`.
            end: Whether to add a record for the end of each sentence.
            unkified: The words as the scorer should read them, None to derive them.
            numbers: The numbers of the sentences, which decide the draws of a particle filter.
        """
        tokens = [split_tokens(sentence)[0] for sentence in sentences]
        records: Iterable[list[WordRecord]] = self.records_of(tokens, unkified)
        if options.next_word:
            records = self._with_next_words([*records])
        pairs = zip_longest(records, tokens, fillvalue=())
        return (_measured([*row], words, end) for row, words in pairs)

    def records_of(self, sentences: Sentences, unkified: Unkified = None) -> list[list[WordRecord]]:
        """Return a record per token and one, with the token None, for the end; surprisals in bits.

        `unkified` are the words as the scorer should read them, None to derive them.
        """
        raise NotImplementedError

    def _as_read(
        self, sentences: Sentences, unkified: Unkified
    ) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Yield the words of each sentence, as written and as the scorer reads them."""
        for tokens, words in zip(sentences, unkified or [None] * len(sentences), strict=True):
            yield tokens, words or self.unknown.unkify(tokens, True)  # type: ignore[union-attr]

    def sentence_log_probs(self, sentences: Sequence[SourceSentence]) -> list[float]:
        """Return log p of sentences with ends in nats; not finite where a surprisal is missing."""
        tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
        measured = self.measure(tokens, end=True, unkified=unkified)
        return [-math.log(2) * math.fsum(r.surprisal for r in m.records) for m in measured]

    def next_word_entropies(self, sentences: Sentences) -> Sequence[Sequence[float]]:
        """Return the entropy of the next word in bits before each word and before each end.

        `sentences` are words as the scorer reads them. The end of the sentence counts as a word.
        Raises RnngError unless a scorer overrides this method.
        """
        raise RnngError("this scorer gives no entropy of the next word: leave out `next_word`")

    def _with_next_words(self, records: Sequence[Records]) -> Iterator[list[WordRecord]]:
        """Yield the records of each sentence, with entropies of the next word."""

        def was_read(record: WordRecord) -> bool:
            return record.token is not None and math.isfinite(record.surprisal)

        words = [[str(record.unk) for record in filter(was_read, row)] for row in records]
        for row, entropies in zip(records, self.next_word_entropies(words), strict=True):
            steps = pairwise(entropies)
            yield [_with_entropies(r, *next(steps)) if was_read(r) else r for r in row]


class WordScorer(Scorer):
    """A source of surprisals without a model folder, which defines `records_of`.

    `baselines.scorers.SCORERS` has them by name.
    """

    name: ClassVar[str]
    """Name after `--scorer`."""

    @classmethod
    def open(cls, path: str | None, order: int) -> WordScorer:
        """Return a scorer made from a file, if the user names one; `order` is the n of n-grams.

        Raises RnngError for an unusable file.
        """
        return cls(path)  # type: ignore[call-arg]


def _with_entropies(record: WordRecord, before: float, after: float) -> WordRecord:
    return replace(record, next_word_entropy=after, next_word_entropy_delta=after - before)


def _measured(records: Records, tokens: Sequence[str], end: bool) -> MeasuredSentence:
    """Return the measures of a sentence; `records` include that of its end.

    Raises RnngError for records of other tokens, or without the end, and a negative surprisal.
    """
    if wrong := [r for r in records if r.surprisal < -1e-4]:
        raise RnngError(f"surprisal of {wrong[0].token} < 0: log probabilities need the other sign")
    if [record.token for record in records] != [*tokens, None]:
        raise RnngError(f"the scorer's records are not of {' '.join(tokens)!r} and its end")
    unseen = [f"{r.token} ({r.unk})" for r in records if math.isinf(r.surprisal)]
    problem = f"not in the model's vocabulary, so skipped: {', '.join(unseen)}" if unseen else None
    wanted = list(records if end else records[:-1])
    if missing := [r.token or END for r in wanted if math.isnan(r.surprisal)]:
        problem = f"has no surprisal of {', '.join(missing)}"
        if not any(math.isfinite(r.surprisal) for r in records):
            problem = "does not fit into memory"
    return MeasuredSentence(wanted, problem=problem)
