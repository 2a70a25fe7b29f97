"""Records of word-by-word measures, a model's output: of tokens, and of written words."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from statistics import fmean, stdev
from typing import Any, NamedTuple

from oracle.sentences import SourceSentence

END = "</s>"
"""The written form of a sentence's end, whose record has no token."""

ROUNDING = 1e-3
"""The largest difference in bits of numbers that count as equal."""

_WRITTEN = re.compile(r"\S+")
_BREAKS_A_LINE = re.compile(r"[\0-\x1f\x7f\x85\u2028\u2029]")


class Analysis(NamedTuple):
    """A partial tree of the words so far, or a complete one at the end of a sentence."""

    log_prob: float
    """Joint log probability of its actions and words, in nats."""
    actions: Sequence[str]
    """Its actions, as in an oracle."""


@dataclass(frozen=True)
class WordRecord:
    """A word and its measures, in bits unless stated otherwise. Unavailable measures are None.

    The record of a sentence's end has the token None.
    """

    token: str | None
    """The word as written."""
    unk: str | None
    """The word as the model reads it: a word of its vocabulary, or a class of unknown words."""
    surprisal: float
    """-log2 p(word | the words before); infinite for a word that the model cannot generate."""
    standard_error: float | None = field(default=None, kw_only=True)
    """The standard error of the surprisal, if it is the mean of several runs of particles."""
    class_surprisal: float | None = field(default=None, kw_only=True)
    """With an open vocabulary, the share of the word or its class of unknown words."""
    spelling_surprisal: float | None = field(default=None, kw_only=True)
    """With an open vocabulary, -log2 p(string | class), 0 for a known word; both add up to it."""
    structure: float | None = None
    """How much the word changes the distribution of partial trees: its relative entropy."""
    cluster: float | None = None
    """-log2 p(the word's cluster | partial tree), the mean over partial trees."""
    word_in_cluster: float | None = None
    """-log2 p(word | its cluster, partial tree), the mean; the three add up to the surprisal."""
    rounds: int | None = None
    """Rounds of the search's loop until the word."""
    actions: int | None = None
    """Actions taken until the word."""
    distance: int | None = field(default=None, kw_only=True)
    """The same in the program of Hale et al. (2018), their distance; only with `like_reference`."""
    entropy: float | None = None
    """Entropy of the partial trees in the word beam; with particles, an estimate for all trees."""
    entropy_delta: float | None = None
    """Change of the entropy; before the first word the entropy is 0."""
    open: int | None = None
    """Number of open constituents in the best partial tree."""
    opened: float | None = None
    """Expected number of constituents opened between the word before and this word."""
    closed: float | None = None
    """Expected number of constituents closed there."""
    best_opened: int | None = None
    """These numbers in the best partial tree alone."""
    best_closed: int | None = None
    next_word_entropy: float | None = None
    """Entropy of the word after this one, if asked for; the sentence's end counts as a word."""
    next_word_entropy_delta: float | None = None
    """Change of this entropy since the word before."""
    top_down: int | None = field(default=None, kw_only=True)
    """Along a tree: the number of constituents that begin with the word."""
    bottom_up: int | None = field(default=None, kw_only=True)
    """The number of those that end with it."""
    left_corner: int | None = field(default=None, kw_only=True)
    """The number of those whose first child ends with it."""
    depth: int | None = field(default=None, kw_only=True)
    """The number of those that contain it."""
    beam: Sequence[Analysis] = field(default=(), repr=False)
    """The partial trees after the word, best first."""
    next_words: Sequence[tuple[str, float]] = field(default=(), repr=False)
    """The most probable next words, with their probabilities, if `next_word` was asked for."""
    of_runs: Sequence[float] = field(default=(), repr=False)
    """The surprisal of each run, if the surprisal is the mean of several."""

    @property
    def known(self) -> bool | None:
        """Whether the model knows the word itself; None for an end, and for a word not read."""
        return None if self.unk is None else self.token == self.unk


class MeasuredSentence(NamedTuple):
    """The measures of a sentence."""

    records: list[WordRecord]
    """Records of its words and, if asked for, of its end."""
    trees: Sequence[Analysis] = ()
    """Complete trees, best first; only if the end was asked for."""
    log_mass: float | None = None
    """log of the estimated probability of the words and, if asked for, the end, in nats."""
    problem: str | None = None
    """The reason why some of its measures are not finite."""

    def to_json(self) -> str:
        """Return the whole as one line for `from_json`."""
        return json.dumps(self._replace(records=[vars(record) for record in self.records]))

    @classmethod
    def from_json(cls, text: str) -> MeasuredSentence:
        """Return the sentence that `to_json` wrote."""
        records, trees, log_mass, problem = json.loads(text)
        for record in records:
            record["beam"] = [Analysis(*item) for item in record["beam"]]
        read = [WordRecord(**record) for record in records]
        return cls(read, [Analysis(*tree) for tree in trees], log_mass, problem)


Records = Sequence[WordRecord]
"""The records of a sentence: of its words and, if asked for, of its end."""
ALL_MEASURES = tuple(WordRecord.__annotations__)[2:-3]
"""All measures of a record, which are between `unk` and `beam`, in the order of a table."""
OPEN_MEASURES = ("class_surprisal", "spelling_surprisal")
"""The measures that only an open vocabulary gives."""
OF_NEXT_WORD = ("next_word_entropy", "next_word_entropy_delta")
"""The measures that are made only if they are asked for."""
NODE_COUNTS = ("top_down", "bottom_up", "left_corner", "depth")
"""The numbers of constituents in a given tree."""
ALONG_TREES = ("surprisal", "structure", "cluster", "word_in_cluster", *NODE_COUNTS)
"""The measures along given trees; an open vocabulary adds its own."""
OF_RUNS = ("standard_error",)
"""The measure that only several runs of particles give."""
MEASURES_AFTER = ("entropy", "open", "next_word_entropy")
"""The measures of which several tokens have the value after the last one."""


def mean_of_runs(runs: Sequence[MeasuredSentence]) -> MeasuredSentence:
    """Return the means of a sentence's measures over runs, with the partial trees of the first.

    `standard_error` is that of the mean surprisal.
    """
    records = []
    for of_word in zip(*(run.records for run in runs), strict=True):
        means: Any = {n: None if None in v else fmean(v) for n, v in _values(of_word).items()}
        bits = [record.surprisal for record in of_word]
        means["standard_error"] = standard_error_of_mean(bits)
        records.append(replace(of_word[0], **means, of_runs=bits))
    problem = next((run.problem for run in runs if run.problem), None)
    return MeasuredSentence(records, runs[0].trees, fmean(run.log_mass for run in runs), problem)


def _values(records: Records) -> dict[str, list[Any]]:
    """Return the values of all measures by name."""
    return {name: [getattr(record, name) for record in records] for name in ALL_MEASURES}


def standard_error_of_mean(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean of finite values, else None."""
    return stdev(values) / math.sqrt(len(values)) if all(map(math.isfinite, values)) else None


def unmeasured(tokens: Iterable[str | None]) -> list[WordRecord]:
    """Return the records of a sentence that does not fit into memory."""
    return [WordRecord(token, None, math.nan) for token in tokens]


def with_spellings(records: Records, log_probs: Sequence[float]) -> list[WordRecord]:
    """Return the records of words as strings, given log p in nats of the spelling of each."""
    spelled = []
    for record, log_prob in zip(records, chain(log_probs, [0.0]), strict=False):
        of_class, bits = record.surprisal, -log_prob / math.log(2) + 0.0
        shares = {"class_surprisal": of_class, "spelling_surprisal": bits}
        spelled.append(replace(record, surprisal=of_class + bits, **shares))
    return spelled


def one_word(text: str) -> str:
    r"""Return the text with escapes (`\t`, `\x20`) for space, control characters and line ends.

    Other backslashes stay as they are. Programs that split lines, columns or words then see one
    word.

    >>> print(one_word("a b\tc"), one_word("1\\/2"))
    a\x20b\tc 1\/2
    """
    text = text.replace(" ", r"\x20")
    return _BREAKS_A_LINE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def tokens_so_far(records: Records, end: int) -> list[str]:
    """Return the tokens of the first `end` records, escaped by `one_word`, but skipped ones."""
    return [
        one_word(record.token)
        for record in records[:end]
        if record.token is not None and (math.isfinite(record.surprisal) or record.beam)
    ]


class WrittenWord(NamedTuple):
    """A written word, or the end of a sentence, with the tokens that it covers."""

    sentence: int
    """The number of its sentence, from 1."""
    first: int
    """The number of its first token, from 1."""
    covered: Records
    text: str | None
    """None for the end of a sentence, as for `span`."""
    span: tuple[int, int] | None
    """Its characters in the text, from 0, the end exclusive."""

    @property
    def known(self) -> bool | None:
        """Whether the model saw all tokens unchanged; None for the end of a sentence."""
        known = [record.known for record in self.covered]
        return None if None in known else all(known)

    @property
    def token_ids(self) -> str:
        """`3`, or `3-4` for several tokens."""
        last = self.first + len(self.covered) - 1
        return f"{self.first}" if last == self.first else f"{self.first}-{last}"


def written_words(number: int, sentence: SourceSentence, records: Records) -> list[WrittenWord]:
    """Return the written words of a sentence of running text, which any white space separates.

    Records after the tokens, such as that of the end, stay alone.
    """
    text, spans = sentence.text, sentence.spans or ()
    offset = spans[0][0] if spans else 0
    begins = [offset + written.start() for written in _WRITTEN.finditer(text or "")]
    words = []
    for _, of_word in groupby(range(len(spans)), lambda i: bisect_right(begins, spans[i][0])):
        tokens = list(of_word)
        begin, end = spans[tokens[0]][0], spans[tokens[-1]][1]
        word = " ".join(_WRITTEN.findall(text[begin - offset : end - offset]))
        covered = [records[i] for i in tokens]
        words.append(WrittenWord(number, tokens[0] + 1, covered, word, (begin, end)))
    ends = enumerate(records[len(spans) :], len(spans) + 1)
    return words + [WrittenWord(number, i, [record], None, None) for i, record in ends]


def covering(text: str | None, covered: Records) -> WordRecord:
    """Return a text with the measures of its tokens; without tokens its surprisal is 0.

    Surprisal, its shares, rounds, actions, distance, changes of entropies and numbers of nodes are
    sums; a sum is None if some token lacks the measure. The standard error is that of the sum.
    `unk` is a single token's, and None for several tokens.
    """
    if len(covered) < 2:
        return replace(covered[0], token=text) if covered else WordRecord(text, None, 0.0)
    measures: dict[str, Any] = {n: of_tokens(n, v) for n, v in _values(covered).items()}
    if runs := [sum(bits) for bits in zip(*(r.of_runs for r in covered), strict=False)]:
        measures["standard_error"] = standard_error_of_mean(runs)
    return WordRecord(text, None, **measures)


def of_tokens(measure: str, values: Sequence[float | None]) -> float | None:
    """Return a measure of several tokens: their sum, None if one lacks it; or the last one's.

    Standard errors do not add up.
    """
    if measure in OF_RUNS:
        return values[0] if len(values) == 1 else None
    if measure in MEASURES_AFTER:
        return values[-1]
    return None if None in values else sum(values)
