"""Scores on development data, by which training selects the best model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

import nltk

from oracle.blocks import OracleSentence
from oracle.brackets import read_trees
from oracle.errors import ImpossibleError, InputError
from oracle.treebank import tags as tags_of
from oracle.treebank import words
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.search import scoring
from rnng_dy.search.greedy import parse_all


def read_golds(path: str, dev: Sequence[OracleSentence], dev_path: str) -> list[nltk.Tree]:
    """Read the development trees. Raises InputError if their words are not those of the development oracle."""
    golds = list(read_trees(path))
    if len(golds) != len(dev):
        raise InputError(f"{len(golds)} trees, but {dev_path} has {len(dev)} sentences", path)
    for gold, sentence in zip(golds, dev, strict=True):
        if tuple(words(gold.tree)) != sentence.tokens:
            raise InputError(
                f"its words are not those of the sentence at {dev_path}:{sentence.line}",
                path,
                gold.line,
            )
    return [gold.tree for gold in golds]


class ParserEvaluation:
    """Labelled bracketing F1 of greedy parses (EVALB's rules, COLLINS parameters).

    The scored trees have gold tags, whatever tags the parser read, since EVALB identifies punctuation by tags.
    """

    def __init__(
        self,
        parser: DiscriminativeParser,
        sentences: Sequence[OracleSentence],
        golds: Sequence[nltk.Tree],
    ):
        self._parser, self._sentences, self._golds = parser, sentences, golds
        self._tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in sentences]
        reads_tags = parser.vocabulary.tags is not None
        pairs = zip(sentences, golds, strict=True)
        reads_gold = reads_tags and all(list(s.tags) == tags_of(gold) for s, gold in pairs)
        self._tags_used = (
            "parsed and scored with gold tags" if reads_gold else "scored with gold tags"
        )

    def describe(self, record: Mapping[str, object]) -> str:
        """Return the record of an evaluation as text."""
        return f"dev F1 {record['f1']:.2f} ({self._tags_used})"

    def __call__(self) -> dict[str, float]:
        """Return `f1`, `recall` and `precision` in percent, and F1 as `score`."""
        transitions = self._parser.transitions
        lengths = [len(s.tokens) for s in self._sentences]
        results = parse_all(self._parser, self._tokens, lengths)
        systems = [
            nltk.Tree("", [])
            if result is None
            else transitions.tree_of(transitions.decode(result[0]), s.tokens, tags_of(gold))
            for s, gold, result in zip(self._sentences, self._golds, results, strict=True)
        ]
        scores = evalb.score(self._golds, systems)
        figures = {name: getattr(scores, name) for name in ("f1", "recall", "precision")}
        if None in results:
            figures["dev_left_out"] = results.count(None)
        return {"score": scores.f1, **figures}


def encode_possible(model, sentences: Iterable[OracleSentence]) -> tuple[list, dict[int, str]]:
    """Return examples, and for each sentence that has p = 0 the reason, by its line in the oracle."""
    examples, impossible = [], {}
    for sentence in sentences:
        try:
            examples.append(model.encode_training(sentence))
        except ImpossibleError as error:
            impossible[sentence.line] = str(error)
    return examples, impossible


class WordsEvaluation:
    """Likelihood of development sentences; sentences with p = 0 are left out."""

    figure: ClassVar[str]
    """Name of the perplexity, with the events that it covers."""

    def __init__(self, model, sentences: Sequence[OracleSentence]):
        self.model = model
        self.examples, self.impossible = encode_possible(model, sentences)

    def describe(self, record: Mapping[str, object]) -> str:
        """Return the record of an evaluation as text."""
        return f"{self.figure} {record['perplexity']:.2f}, {record['dev_words']} words"

    def log_probs(self, examples: Sequence) -> list[float]:
        """Return log probabilities in nats; NaN for an example that does not fit into memory."""
        raise NotImplementedError

    def __call__(self) -> dict[str, float]:
        """Return the log likelihood in nats, also as `score`, the perplexity per word, and counts."""
        of_words = likelihood(self.log_probs(self.examples), map(self.model.length, self.examples))
        return {
            "score": of_words.llh,
            "log_likelihood": of_words.llh,
            "perplexity": of_words.perplexity,
            "dev_words": of_words.words,
            "dev_sentences": of_words.sentences,
            "dev_left_out": len(self.impossible) + len(self.examples) - of_words.sentences,
        }


class LanguageModelEvaluation(WordsEvaluation):
    """Likelihood of words and sentence ends; ends are not counted as words."""

    figure = "dev perplexity"

    def log_probs(self, examples: Sequence) -> list[float]:
        """See `WordsEvaluation`."""
        return self.model.log_probs(examples).sum(axis=1).tolist()


class GeneratorEvaluation(WordsEvaluation):
    """Joint likelihood of words and gold trees."""

    figure = "dev perplexity of words and trees"

    def log_probs(self, examples: Sequence) -> list[float]:
        """See `WordsEvaluation`."""
        return [
            math.nan if log_p is None else log_p
            for part in batches(examples, lambda e: len(e.actions), scoring.MAX_STATES)
            for log_p in split_on_memory_error(partial(scoring.example_log_probs, self.model), part)
        ]
