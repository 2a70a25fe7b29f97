"""Scores on development data, by which training selects the best model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import nltk

from oracle.blocks import OracleSentence
from oracle.treebank import tags as tags_of
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search import scoring
from rnng_dy.search.greedy import parse_all
from rnng_dy.training.examples import examples_of


class ParserEvaluation:
    """Labelled bracketing F1 of greedy parses (EVALB's rules, COLLINS parameters).

    The scored trees have gold tags, whatever tags the parser read, since EVALB identifies punctuation by tags.
    """

    def __init__(
        self, parser: Any, sentences: Sequence[OracleSentence], golds: Sequence[nltk.Tree]
    ):
        self._parser, self._sentences, self._golds = parser, sentences, golds
        self._tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in sentences]
        pairs = zip(sentences, golds, strict=True)
        reads_tags = parser.vocabulary.tags is not None
        reads_gold = reads_tags and all(list(s.tags) == tags_of(gold) for s, gold in pairs)
        self._how = "parsed and scored with gold tags" if reads_gold else "scored with gold tags"

    def describe(self, record: Mapping[str, Any]) -> str:
        """Return the record of an evaluation as text."""
        return f"dev F1 {record['f1']:.2f} ({self._how})"

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


class WordsEvaluation:
    """Likelihood of development sentences, with their gold trees if the model has trees; p = 0 is left out."""

    def __init__(self, model: Any, sentences: Sequence[OracleSentence]):
        self._model = model
        self.examples, self.impossible = examples_of(model, sentences)

    def describe(self, record: Mapping[str, Any]) -> str:
        """Return the record of an evaluation as text."""
        of = " of words and trees" if hasattr(self._model, "transitions") else ""
        return f"dev perplexity{of} {record['perplexity']:.2f}, {record['dev_words']} words"

    def __call__(self) -> dict[str, float]:
        """Return the log likelihood in nats, also as `score`, the perplexity per word, and counts."""
        lengths = map(self._model.length, self.examples)
        of_words = likelihood(self._log_probs(), lengths)
        return {
            "score": of_words.llh,
            "log_likelihood": of_words.llh,
            "perplexity": of_words.perplexity,
            "dev_words": of_words.words,
            "dev_sentences": of_words.sentences,
            "dev_left_out": len(self.impossible) + len(self.examples) - of_words.sentences,
        }

    def _log_probs(self) -> list[float]:
        """Return log probabilities in nats; NaN for an example that does not fit into memory."""
        if not hasattr(self._model, "transitions"):
            # sentence ends have a probability, and are not counted as words
            return self._model.log_probs(self.examples).sum(axis=1).tolist()
        score = partial(scoring.example_log_probs, self._model)
        return [
            math.nan if log_p is None else log_p
            for part in batches(self.examples, lambda e: len(e.actions), scoring.MAX_STATES)
            for log_p in split_on_memory_error(score, part)
        ]
