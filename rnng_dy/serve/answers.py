"""Answers of models to batches of requests, in the process or thread that computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from oracle.brackets import format_tree, parse_line
from oracle.errors import ImpossibleError, RnngError
from oracle.parsed import ScoredTree
from oracle.tokens import Token, split_tokens
from oracle.treebank import NO_TAG
from rnng_dy import load
from rnng_dy.execution.batches import batches
from rnng_dy.registry import KINDS
from rnng_dy.search.attention import attention_weights
from rnng_dy.search.generation import generate_trees
from rnng_dy.search.greedy import parse_batch
from rnng_dy.search.nbest import nbest_batch
from rnng_dy.search.posterior import Posterior, posterior
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import MAX_STATES, example_log_probs
from rnng_dy.search.surprisal import SearchOptions, measure
from rnng_dy.search.words import MeasuredSentence
from rnng_dy.serve.requests import (
    Limits,
    Parse,
    Request,
    Sample,
    Score,
    ServedModel,
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


Answer = Any
"""A list with an item per sentence or tree, or a Refusal."""


def open_answers(
    models: Mapping[str, object], limits: Limits
) -> Callable[[Sequence[Request]], Sequence[Answer]]:
    """Return a function that answers batches; models are loaded ones, or folders, archives or names."""
    loaded = {
        name: load(model) if isinstance(model, str) else model for name, model in models.items()
    }

    def answers(batch: Sequence[Request]) -> Sequence[Answer]:
        if not batch:
            return [_described(name, model) for name, model in loaded.items()]
        return _answers(loaded[batch[0].model], batch, limits)

    return answers


def _described(name: str, model: Any) -> ServedModel:
    tags = getattr(model.vocabulary, "tags", None)
    return ServedModel(
        name,
        KINDS[model.kind],
        repr(model)[1:-1],
        model.about or {},
        getattr(model, "transitions", None),
        tuple(sorted(tags.symbols)) if tags is not None and model.tagger is not None else (),
    )


def _answers(model: Any, batch: Sequence[Request], limits: Limits) -> Sequence[Answer]:
    """Answer requests that can be computed together; if that fails, one by one."""
    try:
        return _ANSWERS[type(batch[0])](model, batch, limits)
    except (RnngError, MemoryError) as error:
        if len(batch) == 1:
            return [Refusal(str(error) or "it does not fit into the memory of the server")]
    return [_answers(model, [request], limits)[0] for request in batch]


def _parse(model: Any, batch: Sequence[Parse], limits: Limits) -> list[Answer]:
    first, sentences = batch[0], [_sentences(model, request, limits) for request in batch]
    flat = [tokens for of_request in sentences for tokens in of_request]
    if KINDS[model.kind].generates_words:
        if first.samples:
            raise RnngError("samples: a generative model has no samples of a given sentence")
        split = [split_tokens(tokens) for tokens in flat]
        measured = measure(model, [words for words, _ in split], end=True)
        found = [
            _best(model, words, tags, of_sentence, first.k)
            for (words, tags), of_sentence in zip(split, measured, strict=True)
        ]
    else:
        found = _parsed(model, [_read(model, tokens) for tokens in flat], first)
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


def _parsed(parser: Any, read: Sequence[tuple], options: Parse) -> list[TreesOf]:
    encoded = [parser.encode(*sentence) for sentence in read]
    if options.k == 1:
        best = [[parsed] for parsed in parse_batch(parser, encoded)]
    else:
        best = nbest_batch(parser, encoded, options.k)
    posteriors: Sequence[Posterior | None] = [None] * len(read)
    if options.samples:
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
    if not (model.compose.has_weights and "stack" in model.state.parts):
        return None
    examples = [model.example_of(parse_line(each.tree), True) for each in trees]
    return [
        [weights.tolist() for _, weights in constituents or ()]
        for constituents in attention_weights(model, examples)
    ]


def _scored(parser: Any, of: tuple, trees: Sequence[tuple]) -> list[ScoredTree]:
    return [ScoredTree(format_tree(parser.tree_of(ids, *of)), float(q)) for ids, q in trees]


def _surprisal(model: Any, batch: Sequence[Surprisal], limits: Limits) -> list[Answer]:
    first, sentences = batch[0], [_sentences(model, request, limits) for request in batch]
    flat = [split_tokens(tokens)[0] for of_request in sentences for tokens in of_request]
    if KINDS[model.kind].has_trees:
        options = SearchOptions(beam=first.beam, word_beam=first.word_beam)
        found = list(measure(model, flat, options, first.end))
    else:
        found = [
            MeasuredSentence([r for r in records if first.end or r.token is not None])
            for records in model.surprisals_of(flat)
        ]
    return _by_request(found, sentences)


def _sample(model: Any, batch: Sequence[Sample], limits: Limits) -> list[Answer]:
    first, answers = batch[0], []
    if KINDS[model.kind].generates_words:
        drawn = list(generate_trees(model, first.n, first.seed, first.max_length))
        trees = [ScoredTree(format_tree(tree), log_p) for tree, log_p in drawn]
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
    return answers


def _score(model: Any, batch: Sequence[Score], limits: Limits) -> list[Answer]:
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
    parts = batches(possible, lambda example: len(example.actions), MAX_STATES)
    log_probs = iter([log_prob for part in parts for log_prob in example_log_probs(model, part)])
    found = [-math.inf if example is None else next(log_probs) for example in examples]
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


_ANSWERS: Mapping[type[Request], Callable[..., list[Answer]]] = {
    Parse: _parse,
    Surprisal: _surprisal,
    Sample: _sample,
    Score: _score,
}
