"""Scores on development data, by which training selects a model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import nltk
import numpy as np

from oracle.files import OracleSentence
from oracle.transitions import tree_of
from oracle.treebank import tags as tags_of
from rnng_dy import evalb
from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.discriminative import DiscriminativeParser
from rnng_dy.generative import GenerativeModel
from rnng_dy.vocabulary import UnseenSymbolError


class ParserEvaluation:
    """Labelled bracketing F1 of greedy parses (EVALB's rules, COLLINS parameters)."""

    def __init__(
        self,
        parser: DiscriminativeParser,
        sentences: Sequence[OracleSentence],
        golds: Sequence[nltk.Tree],
    ):
        self._parser, self._sentences, self._golds = parser, sentences, golds
        self._tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in sentences]

    def __call__(self) -> dict[str, float]:
        """`score` and `f1` in percent."""
        decode = self._parser.vocabulary.actions.decode
        results = self._parser.parse_all_batches(self._tokens)
        # with the gold tags, whatever tags the parser saw: EVALB goes by them for what is punctuation
        systems = [
            nltk.Tree("", [])
            if result is None
            else tree_of(decode(result[0]), s.tokens, tags_of(gold))
            for s, gold, result in zip(self._sentences, self._golds, results, strict=True)
        ]
        scores = evalb.score(self._golds, systems)
        return {
            "score": scores.f1,
            "f1": scores.f1,
            "recall": scores.recall,
            "precision": scores.precision,
        }


class LanguageModelEvaluation:
    """Likelihood of sentences; those with words unseen in training have p = 0 and are left out."""

    def __init__(self, model: LstmLanguageModel, sentences: Sequence[OracleSentence]):
        self._model = model
        self._examples = []
        self.unseen: dict[int, tuple[str, ...]] = {}
        """Words that make p = 0, by the line of the sentence in its oracle."""
        for sentence in sentences:
            try:
                self._examples.append(model.encode(sentence.unkified))
            except UnseenSymbolError as error:
                self.unseen[sentence.line] = error.symbols

    def __call__(self) -> dict[str, float]:
        """`score` is the log likelihood in nats, ends included; `perplexity` is a word, ends not counted."""
        log_probs = self._model.log_probs(self._examples).sum(axis=1)
        fits = np.isfinite(log_probs)
        fitting = [e for e, fit in zip(self._examples, fits, strict=True) if fit]
        left_out = len(self.unseen) + len(self._examples) - len(fitting)
        return _likelihood_record(math.fsum(log_probs[fits]), fitting, left_out)


class GeneratorEvaluation:
    """Joint log likelihood of gold trees; those with symbols unseen in training have p = 0 and are left out."""

    def __init__(self, model: GenerativeModel, sentences: Sequence[OracleSentence]):
        self._model = model
        self._examples = []
        self.unseen: dict[int, tuple[str, ...]] = {}
        """Symbols that make p = 0, by the line of the sentence in its oracle."""
        for sentence in sentences:
            try:
                self._examples.append(model.encode(sentence.unkified, sentence.actions))
            except UnseenSymbolError as error:
                self.unseen[sentence.line] = error.symbols

    def __call__(self) -> dict[str, float]:
        """`score` is the log likelihood in nats; `perplexity` is of tree and words together, a word."""
        fitting, log_probs = [], []
        for example in self._examples:
            try:
                log_probs += self._model.joint_log_probs(example.words, [example.actions]).tolist()
                fitting.append(example)
            except MemoryError:
                continue
        left_out = len(self.unseen) + len(self._examples) - len(fitting)
        return _likelihood_record(math.fsum(log_probs), fitting, left_out)


def _likelihood_record(total: float, examples: Sequence, left_out: int) -> dict[str, float]:
    words = sum(len(e.words) for e in examples)
    return {
        "score": total,
        "log_likelihood": total,
        "perplexity": math.exp(-total / words) if words else math.nan,
        "dev_words": words,
        "dev_sentences": len(examples),
        "dev_left_out": left_out,
    }
