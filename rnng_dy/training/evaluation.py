"""Scores on development data, by which training selects the best model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nltk

from oracle.blocks import OracleSentence
from oracle.treebank import tags as tags_of
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.search.greedy import parse_all
from rnng_dy.search.scoring import batched_log_probs
from rnng_dy.training.data import Examples


def parser_scores(
    parser: Any, sentences: Sequence[OracleSentence], golds: Sequence[nltk.Tree]
) -> dict[str, float]:
    """Score greedy parses by labelled bracketing (EVALB's rules, COLLINS parameters).

    The scored trees have gold tags, whatever tags the parser read, since EVALB identifies
    punctuation by tags. Returns `f1`, `recall` and `precision` in percent, and F1 as `score`.
    """
    tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in sentences]
    results = parse_all(parser, tokens, [len(s.tokens) for s in sentences])
    systems = [
        nltk.Tree("", []) if result is None else parser.tree_of(result[0], s.tokens, tags_of(gold))
        for s, gold, result in zip(sentences, golds, results, strict=True)
    ]
    scores = evalb.score(golds, systems)
    figures = {name: getattr(scores, name) for name in ("f1", "recall", "precision")}
    if None in results:
        figures["dev_left_out"] = results.count(None)
    return {"score": scores.f1, **figures}


def word_scores(model: Any, examples: Examples) -> dict[str, float]:
    """Score development examples by their likelihood, with their gold trees if the model has trees.

    Returns the log likelihood in nats, also as `score`, the perplexity per word, and counts.
    Sentences that do not fit into memory, and those with p = 0, are left out.
    """
    of_words = likelihood(_log_probs(model, examples), map(model.length, examples))
    return {
        "score": of_words.llh,
        "log_likelihood": of_words.llh,
        "perplexity": of_words.perplexity,
        "dev_words": of_words.words,
        "dev_sentences": of_words.sentences,
        "dev_left_out": len(examples.sentences) - of_words.sentences,
    }


def _log_probs(model: Any, examples: Examples) -> list[float]:
    """Return log probabilities in nats; NaN for an example that does not fit into memory."""
    if not hasattr(model, "transitions"):
        # sentence ends have a probability, and are not counted as words
        return model.log_probs(examples).sum(axis=1).tolist()
    return batched_log_probs(model, examples)
