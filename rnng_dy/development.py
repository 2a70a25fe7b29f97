"""Scores on development data, by which training selects a model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import nltk

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


class WordsEvaluation:
    """Likelihood of development sentences; those with symbols unseen in training have p = 0 and are left out."""

    def __init__(
        self,
        model: GenerativeModel | LstmLanguageModel,
        sentences: Sequence[OracleSentence],
    ):
        self.model = model
        self._examples = []
        self.unseen: dict[int, tuple[str, ...]] = {}
        """Symbols that make p = 0, by the line of the sentence in its oracle."""
        for sentence in sentences:
            try:
                self._examples.append(model.encode_training(sentence))
            except UnseenSymbolError as error:
                self.unseen[sentence.line] = error.symbols

    def log_probs(self, examples: Sequence) -> list[float]:
        """In nats, NaN for an example that does not fit into memory."""
        raise NotImplementedError

    def __call__(self) -> dict[str, float]:
        """`score` is the log likelihood in nats, `perplexity` a word's."""
        log_probs = self.log_probs(self._examples)
        lengths = map(self.model.length, self._examples)
        fitting = [(p, n) for p, n in zip(log_probs, lengths, strict=True) if not math.isnan(p)]
        total, words = math.fsum(p for p, _ in fitting), sum(n for _, n in fitting)
        return {
            "score": total,
            "log_likelihood": total,
            "perplexity": math.exp(-total / words) if words else math.nan,
            "dev_words": words,
            "dev_sentences": len(fitting),
            "dev_left_out": len(self.unseen) + len(self._examples) - len(fitting),
        }


class LanguageModelEvaluation(WordsEvaluation):
    """Of words and ends; ends are not counted as words."""

    def log_probs(self, examples: Sequence) -> list[float]:
        return self.model.log_probs(examples).sum(axis=1).tolist()


class GeneratorEvaluation(WordsEvaluation):
    """Of words and gold trees together."""

    def log_probs(self, examples: Sequence) -> list[float]:
        return [p for e in examples for p in self._log_prob(e)]

    def _log_prob(self, example) -> list[float]:
        try:
            return self.model.joint_log_probs(example.words, [example.actions]).tolist()
        except MemoryError:
            return [math.nan]
