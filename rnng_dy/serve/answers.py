"""Answers of models to batches of requests, as computations that can be left between their parts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from oracle.brackets import format_tree, parse_line
from oracle.errors import ImpossibleError, RnngError
from oracle.parsed import ScoredTree
from oracle.tokens import Token, split_tokens
from oracle.treebank import NO_TAG
from rnng_dy.parallel import batches
from rnng_dy.registry import KINDS
from rnng_dy.search.attention import attention_weights
from rnng_dy.search.generation import generate_trees
from rnng_dy.search.greedy import parse_batch
from rnng_dy.search.nbest import nbest_batch
from rnng_dy.search.posterior import Posterior, posterior
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import MAX_STATES, example_log_probs
from rnng_dy.search.surprisal import SearchOptions, measure_in_parts
from rnng_dy.search.words import MeasuredSentence, WordRecord
from rnng_dy.serve.requests import (
    Limits,
    Parse,
    Request,
    Sample,
    Score,
    Surprisal,
    TextRequest,
)


class Refusal(NamedTuple):
    """The reason why a model does not answer a request, in the user's words."""

    reason: str


class TreesOf(NamedTuple):
    """A sentence and its trees."""

    tokens: Sequence[str]
    tags: Sequence[str] | None
    trees: Sequence[ScoredTree]
    posterior: Posterior | None = None
    weights: Sequence[Sequence[Sequence[float]]] | None = None
    """Attention weights of the children of each tree's constituents, inner ones first; None without attention."""
    problem: str = ""
    """The reason why there is no tree."""


class Word(NamedTuple):
    """A word that was measured before the answer is complete."""

    request: int
    """Number of the request in its batch; all numbers are from 0."""
    sentence: int
    number: int
    record: WordRecord


Answer = Any
"""A list with an item per sentence or tree, or a Refusal."""


PART_SECONDS = 0.5
"""Seconds after which a part ends even without words; the server can give up a batch after each part."""
Steps = Generator[Sequence[Word], None, list[Answer]]
"""A computation that yields words between its parts, often none, and returns the answers of a batch."""


def _timer(ready: Sequence[Word] = ()) -> Callable[[], bool]:
    """Return a function that returns whether a part is due: words are ready, or the last part is long ago."""
    last = time.monotonic()

    def is_due() -> bool:
        nonlocal last
        if not ready and time.monotonic() - last < PART_SECONDS:
            return False
        last = time.monotonic()
        return True

    return is_due


def _parse(model: Any, batch: Sequence[Parse], limits: Limits) -> Steps:
    first, sentences = batch[0], [_sentences(model, request, limits) for request in batch]
    flat = [tokens for of_request in sentences for tokens in of_request]
    if KINDS[model.kind].generates_words:
        if first.samples:
            raise RnngError("samples: a generative model has no samples of a given sentence")
        split = [split_tokens(tokens) for tokens in flat]
        found = []
        measured = measure_in_parts(model, [words for words, _ in split], end=True, is_due=_timer())
        for of_sentence in measured:
            if of_sentence is None:
                yield ()
            else:
                found.append(_best(model, *split[len(found)], of_sentence, first.k))
    else:
        found = yield from _parsed(model, [_read(model, tokens) for tokens in flat], first)
    return _by_request(found, sentences)


def _best(
    model: Any, words: Sequence[str], tags: Sequence[str] | None, found: MeasuredSentence, k: int
) -> TreesOf:
    given = tags or [NO_TAG] * len(words)
    trees = [
        ScoredTree(format_tree(model.transitions.tree_of(x.actions, words, given)), x.log_prob)
        for x in found.trees[:k]
    ]
    return TreesOf(words, tags, trees, None, _weights(model, trees), found.problem or "")


def _read(parser: Any, tokens: Sequence[Token]) -> tuple[Sequence[str], Sequence[str] | None]:
    words, tags = split_tokens(tokens)
    return words, parser.tags_read(words, tags)


def _parsed(parser: Any, read: Sequence[tuple], options: Parse) -> Steps:
    encoded = [parser.encode(*sentence) for sentence in read]
    if options.k == 1:
        best = [[parsed] for parsed in parse_batch(parser, encoded)]
    else:
        best = nbest_batch(parser, encoded, options.k)
    posteriors: Sequence[Posterior | None] = [None] * len(read)
    if options.samples:
        yield ()
        seeds = [[options.seed]] * len(read)
        drawn = sample_batch(parser, encoded, options.samples, 1.0, seeds)
        posteriors = [
            posterior([(parser.tree_of(ids, *of), log_q) for ids, log_q in samples], None, True)
            for of, samples in zip(read, drawn, strict=True)
        ]
    return [
        TreesOf(*of, scored := _scored(parser, of, trees), shares, _weights(parser, scored))
        for of, trees, shares in zip(read, best, posteriors, strict=True)
    ]


def _weights(model: Any, trees: Sequence[ScoredTree]) -> Sequence[Sequence[Sequence[float]]] | None:
    """Return the attention weights of trees; None if the model's composition has none."""
    if not model.has_attention:
        return None
    examples = [model.example_of(parse_line(each.tree), True) for each in trees]
    return [
        [weights.tolist() for _, weights in constituents or ()]
        for constituents in attention_weights(model, examples)
    ]


def _scored(parser: Any, of: tuple, trees: Sequence[tuple]) -> list[ScoredTree]:
    return [ScoredTree(format_tree(parser.tree_of(ids, *of)), float(q)) for ids, q in trees]


def _surprisal(model: Any, batch: Sequence[Surprisal], limits: Limits) -> Steps:
    first, sentences = batch[0], [_sentences(model, request, limits) for request in batch]
    places = [(i, j) for i, of_request in enumerate(sentences) for j in range(len(of_request))]
    flat = [split_tokens(sentences[i][j])[0] for i, j in places]
    found, ready = [], []

    def heard(sentence: int, number: int, record: WordRecord) -> None:
        request, own = places[sentence]
        if batch[request].stream:
            ready.append(Word(request, own, number, record if first.beams else _bare(record)))

    if KINDS[model.kind].has_trees:
        options = SearchOptions(beam=first.beam, word_beam=first.word_beam)
        measured = measure_in_parts(
            model, flat, options, first.end, heard=heard, is_due=_timer(ready)
        )
        for of_sentence in measured:
            if of_sentence is None:
                yield ready.copy()
                ready.clear()
            else:
                found.append(of_sentence)
    else:
        found = [
            MeasuredSentence([r for r in records if first.end or r.token is not None])
            for records in model.surprisals_of(flat)
        ]
    if not first.beams:
        # they are most of what would go to the process of the server
        found = [of._replace(records=list(map(_bare, of.records)), trees=()) for of in found]
    return _by_request(found, sentences)


def _bare(record: WordRecord) -> WordRecord:
    return replace(record, beam=())


def _sample(model: Any, batch: Sequence[Sample], limits: Limits) -> Steps:
    first, answers = batch[0], []
    if KINDS[model.kind].generates_words:
        is_due, trees = _timer(), []
        for tree, log_p in generate_trees(model, first.n, first.seed, first.max_length):
            trees.append(ScoredTree(format_tree(tree), log_p))
            if is_due():
                yield ()
        # equal requests have equal samples
        return [[TreesOf((), None, trees)]] * len(batch)
    for request in batch:
        read = [_read(model, tokens) for tokens in _sentences(model, request, limits)]
        encoded = [model.encode(*sentence) for sentence in read]
        seeds = [[first.seed]] * len(read)
        drawn = sample_batch(model, encoded, first.n, first.alpha, seeds)
        answers.append(
            [TreesOf(*of, _scored(model, of, s)) for of, s in zip(read, drawn, strict=True)]
        )
        yield ()
    return answers


def _score(model: Any, batch: Sequence[Score], limits: Limits) -> Steps:
    examples: list[Any] = []
    for request in batch:
        for text in request.trees:
            tree = parse_line(text)
            if len(tree.leaves()) > limits.words:
                raise RnngError(f"a tree of {len(tree.leaves())} words, more than {limits.words}")
            try:
                examples.append(model.example_of(tree))
            except ImpossibleError:
                examples.append(None)
    possible = [example for example in examples if example is not None]
    log_probs: list[float] = []
    for part in batches(possible, lambda example: len(example.actions), MAX_STATES):
        log_probs += example_log_probs(model, part)
        yield ()
    rest = iter(log_probs)
    found = [-math.inf if example is None else next(rest) for example in examples]
    return _by_request(found, [request.trees for request in batch])


def _sentences(model: Any, request: TextRequest, limits: Limits) -> Sequence[Sequence[Token]]:
    """Return a request's sentences as tokens. Raises RnngError if there are none, or too many or too long ones."""
    found = request.sentences or model.tokens_of(request.text)
    if not found:
        raise RnngError("there is no sentence in it")
    if len(found) > limits.sentences:
        raise RnngError(f"{len(found)} sentences, more than {limits.sentences}, the limit here")
    longest = max(map(len, found))
    if longest > limits.words:
        raise RnngError(f"a sentence of {longest} words, more than {limits.words}, the limit here")
    return found


def _by_request(found: Sequence[object], requests: Sequence[Sequence]) -> list[Answer]:
    """Return the results of each request, which has as many as it has items."""
    results: Iterator[object] = iter(found)
    return [list(islice(results, len(items))) for items in requests]


ANSWERS: Mapping[type[Request], Callable[..., Steps]] = {
    Parse: _parse,
    Surprisal: _surprisal,
    Sample: _sample,
    Score: _score,
}
"""Functions of a model, a batch and limits; a batch of several that raises RnngError is done one by one."""
