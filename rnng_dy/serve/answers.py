"""Answers of models to requests: the same ones for pages and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.brackets import format_tree
from oracle.errors import RnngError
from oracle.files import finite
from oracle.lazy import nltk
from oracle.tokens import Token, split_tokens
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import MeasuredSentence
from rnng_dy.evaluation.word_tables import json_word
from rnng_dy.search import posterior as posteriors
from rnng_dy.search.greedy import parse_batch
from rnng_dy.search.nbest import nbest_batch
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, measure, measures_of
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.requests import (
    Bracket,
    MeasuredWords,
    ParsedSentence,
    Posterior,
    Surprisals,
    Tree,
    Trees,
)

ScoredTrees = Sequence[tuple[nltk.Tree, float]]


def parse(model: Any, wanted: Any, limits: Limits) -> Trees:
    """Return the best trees of sentences."""
    sentences = _sentences(model, wanted, limits)
    if not hasattr(model, "surprisals_of"):
        return Trees(model=wanted.model, sentences=_parsed(model, sentences, wanted))
    if wanted.samples:
        raise RnngError("samples: a generative model has no samples of a given sentence")
    split, answers = [split_tokens(tokens) for tokens in sentences], []
    measured = measure(model, [words for words, _ in split], end=True)
    for (words, tags), found in zip(split, measured, strict=True):
        given = tags or [NO_TAG] * len(words)
        trees = [
            (model.transitions.tree_of(each.actions, words, given), each.log_prob)
            for each in found.trees[: wanted.k]
        ]
        answer = _sentence(words, tags, trees, found.problem)
        _add_weights(model, answer, trees)
        answers.append(answer)
    return Trees(model=wanted.model, sentences=answers)


def _parsed(parser: Any, sentences: Sequence, wanted: Any) -> list[ParsedSentence]:
    read, encoded = _read(parser, sentences)
    if wanted.k == 1:
        best = [[parsed] for parsed in parse_batch(parser, encoded)]
    else:
        best = nbest_batch(parser, encoded, wanted.k)
    drawn: Sequence[Any] = [()] * len(read)
    if wanted.samples:
        drawn = sample_batch(parser, encoded, wanted.samples, 1.0, [[wanted.seed]] * len(read))
    answers = []
    for of, found, samples in zip(read, best, drawn, strict=True):
        trees = _trees(parser, of, found)
        answer = _sentence(*of, trees)
        _add_weights(parser, answer, trees)
        if samples:
            _add_posterior(answer, trees, _trees(parser, of, samples))
        answers.append(answer)
    return answers


def _read(parser: Any, sentences: Sequence) -> tuple[list[tuple], list]:
    """Return words and tags as the parser reads them, and the sentences as ids."""
    split = map(split_tokens, sentences)
    read = [(words, parser.tags_read(words, tags)) for words, tags in split]
    return read, [parser.encode(*sentence) for sentence in read]


def _trees(parser: Any, of: tuple, found: Sequence[tuple]) -> ScoredTrees:
    return [(parser.tree_of(ids, *of), float(log_q)) for ids, log_q in found]


def _sentence(
    words: Sequence[str], tags: Sequence[str] | None, trees: ScoredTrees, problem: str | None = None
) -> ParsedSentence:
    found = [Tree(tree=format_tree(tree), log_prob=log_prob) for tree, log_prob in trees]
    given = None if tags is None else list(tags)
    return ParsedSentence(tokens=list(words), tags=given, trees=found, problem=problem or None)


def _add_weights(model: Any, answer: ParsedSentence, trees: ScoredTrees) -> None:
    """Add the attention weights of a model that has them."""
    if model.network.has_attention:
        for of_tree, (tree, _) in zip(answer.trees, trees, strict=True):
            of_tree.weights = [weights.tolist() for _, weights in model.attention(tree, True)]


def _add_posterior(answer: ParsedSentence, trees: ScoredTrees, samples: ScoredTrees) -> None:
    """Add the probabilities of brackets, estimated from samples."""
    found = posteriors.posterior(samples, None, True)
    for of, (tree, _) in zip(answer.trees, trees, strict=True):
        of.posteriors = found.of_constituents(tree)
    shares = [(b.start, -b.end, b.label, b.number, p) for b, p in found.probabilities.items()]
    best = found.decode()
    answer.posterior = Posterior(
        brackets=[
            Bracket(label=label, start=start, end=-end, probability=p)
            for start, end, label, _, p in sorted(shares)
        ],
        tree=format_tree(best),
        posteriors=found.of_constituents(best),
        entropy=found.entropy,
    )


def measured(model: Any, wanted: Any, limits: Limits) -> list[MeasuredSentence]:
    """Return the records of the words of sentences."""
    words = [split_tokens(tokens)[0] for tokens in _sentences(model, wanted, limits)]
    options = SearchOptions(beam=wanted.beam, word_beam=wanted.word_beam)
    return list(model.measure(words, options, wanted.end))


def surprisal(model: Any, wanted: Any, limits: Limits) -> Surprisals:
    """Return the surprisals of the words of sentences, without their beams unless they are asked for."""
    system = getattr(model, "transitions", None)
    columns = ["surprisal"] if system is None else measures_of(DEFAULT_OPTIONS)
    sentences = []
    for found in measured(model, wanted, limits):
        words: list[Any] = [
            finite(json_word(found.records, i, columns, system)) for i in range(len(found.records))
        ]
        if not wanted.beams:
            words = [{k: v for k, v in word.items() if k != "beam"} for word in words]
        sentences.append(MeasuredWords(words=words, problem=found.problem))
    return Surprisals(model=wanted.model, sentences=sentences)


ANSWERS = {"parse": parse, "surprisal": surprisal}
"""Functions of a model, a request and limits, by the name of the request. They raise RnngError."""


def _sentences(model: Any, wanted: Any, limits: Limits) -> Sequence[Sequence[Token]]:
    """Return a request's sentences as tokens. Raises RnngError if there are none, or too many or too long ones."""
    given = [
        [tuple(token) if isinstance(token, list) else token for token in sentence]
        for sentence in wanted.sentences
    ]
    found = given or model.segmenter.sentences_in(wanted.text)[0]
    if not found:
        raise RnngError("text: there is no sentence in it")
    if len(found) > limits.sentences:
        raise RnngError(f"text: {len(found)} sentences, more than {limits.sentences}")
    longest = max(map(len, found))
    if longest > limits.words:
        raise RnngError(f"text: a sentence of {longest} words, more than {limits.words}")
    return found
