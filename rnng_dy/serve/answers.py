"""Answers of models to requests: the same ones for pages and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracle.brackets import format_tree
from oracle.common.errors import InputError, RnngError
from oracle.common.files import finite
from oracle.common.lazy import nltk
from oracle.sentences import split_tokens
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import MeasuredSentence
from rnng_dy.evaluation.word_tables import json_word
from rnng_dy.search.greedy import parse_batch
from rnng_dy.search.nbest import nbest_batch
from rnng_dy.search.posterior import posterior
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, measure, measures_of
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.requests import MeasuredWords, ParsedSentence, Posterior, Tree
from rnng_dy.text.regions import divided

Words = tuple[list[str], Sequence[str] | None]
"""The words of a sentence, and their tags, if it has some."""
ScoredTrees = Sequence[tuple[nltk.Tree, float]]


def parsed(model: Any, wanted: Any, limits: Limits) -> list[ParsedSentence]:
    """Return the best trees of sentences."""
    sentences = _sentences(model, wanted, limits)
    if not hasattr(model, "surprisals_of"):
        return list(_by_parser(model, sentences, wanted))
    if wanted.samples:
        raise RnngError("samples: a generative model has no samples of a given sentence")
    return list(_by_beam(model, sentences, wanted.k))


def _by_parser(parser: Any, sentences: Sequence[Words], wanted: Any) -> Iterator[ParsedSentence]:
    read = [(words, parser.tags_read(words, tags)) for words, tags in sentences]
    encoded = [parser.encode(*sentence) for sentence in read]
    if wanted.k == 1:
        best = [[of_sentence] for of_sentence in parse_batch(parser, encoded)]
    else:
        best = nbest_batch(parser, encoded, wanted.k)
    drawn: Sequence[Any] = [()] * len(read)
    if wanted.samples:
        drawn = sample_batch(parser, encoded, wanted.samples, 1.0, [[wanted.seed]] * len(read))
    for of_sentence, found, samples in zip(read, best, drawn, strict=True):
        trees, sampled = (
            [(parser.tree_of(ids, *of_sentence), float(log_q)) for ids, log_q in scored]
            for scored in (found, samples)
        )
        answer = _answer(*of_sentence, trees)
        if sampled:
            _add_posterior(answer, trees, sampled)
        yield answer


def _by_beam(model: Any, sentences: Sequence[Words], k: int) -> Iterator[ParsedSentence]:
    measured = measure(model, [words for words, _ in sentences], end=True)
    for (words, tags), found in zip(sentences, measured, strict=True):
        given = tags or [NO_TAG] * len(words)
        trees = [
            (model.transitions.tree_of(each.actions, words, given), each.log_prob)
            for each in found.trees[:k]
        ]
        yield _answer(words, tags, trees, found.problem)


def _answer(
    words: Sequence[str], tags: Sequence[str] | None, trees: ScoredTrees, problem: str | None = None
) -> ParsedSentence:
    found = [Tree(tree=format_tree(tree), log_prob=log_prob) for tree, log_prob in trees]
    given = None if tags is None else list(tags)
    return ParsedSentence(tokens=list(words), tags=given, trees=found, problem=problem or None)


def _add_posterior(answer: ParsedSentence, trees: ScoredTrees, samples: ScoredTrees) -> None:
    """Add the probabilities of constituents, estimated from samples, and the tree of highest expected F1."""
    found = posterior(samples, None, True)
    for of_tree, (tree, _) in zip(answer.trees, trees, strict=True):
        of_tree.posteriors = found.of_constituents(tree)
    best = found.decode()
    answer.posterior = Posterior(
        tree=format_tree(best), posteriors=found.of_constituents(best), entropy=found.entropy
    )


def measured(model: Any, wanted: Any, limits: Limits) -> list[MeasuredSentence]:
    """Return the records of the words of sentences."""
    words = [words for words, _ in _sentences(model, wanted, limits)]
    options = SearchOptions(beam=wanted.beam, word_beam=wanted.word_beam)
    return list(model.measure(words, options, wanted.end))


def measured_words(model: Any, wanted: Any, limits: Limits) -> list[MeasuredWords]:
    """Return the surprisals of the words of sentences, without their beams unless they are asked for."""
    system = getattr(model, "transitions", None)
    columns = measures_of(DEFAULT_OPTIONS, has_trees=system is not None)
    sentences = []
    for found in measured(model, wanted, limits):
        words: list[Any] = [
            finite(json_word(found.records, i, columns, system)) for i in range(len(found.records))
        ]
        if not wanted.beams:
            words = [{k: v for k, v in word.items() if k != "beam"} for word in words]
        sentences.append(MeasuredWords(words=words, problem=found.problem))
    return sentences


ANSWERS = {"parse": parsed, "surprisal": measured_words}
"""Functions of a model, a request and limits, by the name of the request. They raise RnngError."""


def _sentences(model: Any, wanted: Any, limits: Limits) -> list[Words]:
    """Return a request's sentences. Raises RnngError if there are none, or too many or too long ones."""
    given = [
        [tuple(token) if isinstance(token, list) else token for token in sentence]
        for sentence in wanted.sentences
    ]
    lines = [*enumerate(wanted.text.split("\n"), 1)]
    try:
        text = "\n".join(map(" ".join, divided(lines, None, wanted.mark or None)))
    except InputError as error:
        raise RnngError(f"text: {error.message.replace('--mark', 'the field mark')}") from None
    found = given or model.segmenter.sentences_in(text)[0]
    if not found:
        raise RnngError("text: there is no sentence in it")
    if len(found) > limits.sentences:
        raise RnngError(f"text: {len(found)} sentences, more than {limits.sentences}")
    longest = max(map(len, found))
    if longest > limits.words:
        raise RnngError(f"text: a sentence of {longest} words, more than {limits.words}")
    return [split_tokens(tokens) for tokens in found]
