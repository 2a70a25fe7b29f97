"""Answers of models, one after the other: the same ones for pages and for JSON."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import starmap
from typing import Any

from fastapi import HTTPException, Request

from oracle.brackets import format_tree, parse_line
from oracle.common.errors import InputError, RnngError
from oracle.common.files import finite
from oracle.sentences import SourceSentence, split_tokens
from rnng_dy import load
from rnng_dy.evaluation.records import MeasuredSentence
from rnng_dy.evaluation.word_tables import json_word
from rnng_dy.search.decoding import BestTrees, Decoder, GreedyTrees, SearchedTrees
from rnng_dy.search.parsing import BEAM
from rnng_dy.search.posterior import posterior
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, measures_of
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.requests import MeasuredWords, ParsedSentence, Posterior, Tree
from rnng_dy.text.regions import divided
from rnng_dy.text.sources import NumberedSentence


def parsed(model: Any, wanted: Any, limits: Limits) -> list[ParsedSentence]:
    """Return the best trees of sentences, by the decoders of `rnng-dy parse`."""
    sentences = [*starmap(NumberedSentence, enumerate(_sentences(model, wanted, limits)))]
    decoder: Decoder = GreedyTrees()
    if model.generates_words:
        if wanted.samples:
            raise RnngError("samples: a generative model has no samples of a given sentence")
        word_beam = max(DEFAULT_OPTIONS.word_beam, wanted.k)
        decoder = SearchedTrees(wanted.k, SearchOptions(word_beam=word_beam))
    elif wanted.k > 1:
        decoder = BestTrees(wanted.k, max(BEAM, 2 * wanted.k))
    answers = []
    for sentence, found in decoder(sentences, model):
        trees = [Tree(tree=tree.tree, log_prob=tree.log_prob) for tree in found.trees]
        how = {"tokens": sentence.tokens, "tags": sentence.tags, "problem": found.problem or None}
        answers.append(ParsedSentence(trees=trees, **how))
    if wanted.samples:
        _add_posteriors(answers, model, wanted)
    return answers


def _add_posteriors(answers: Sequence[ParsedSentence], parser: Any, wanted: Any) -> None:
    """Add probabilities of constituents, from samples, and the tree of the highest expected F1."""
    encoded = [parser.encode(answer.tokens, answer.tags) for answer in answers]
    # as Python's `sample` draws
    seeds = [[wanted.seed, i] for i in range(len(answers))] if answers[1:] else [[wanted.seed]]
    drawn = sample_batch(parser, encoded, wanted.samples, 1.0, seeds)
    for answer, samples in zip(answers, drawn, strict=True):
        read = answer.tokens, answer.tags
        pairs = [(parser.tree_of(actions, *read), float(log_q)) for actions, log_q in samples]
        estimate = posterior(pairs, None, True)
        for tree in answer.trees:
            tree.posteriors = estimate.of_constituents(parse_line(tree.tree))
        best = estimate.decode()
        shares, entropy = estimate.of_constituents(best), estimate.entropy
        answer.posterior = Posterior(tree=format_tree(best), posteriors=shares, entropy=entropy)


def measured(model: Any, wanted: Any, limits: Limits) -> list[MeasuredSentence]:
    """Return the records of the words of sentences."""
    words = [list(sentence.tokens) for sentence in _sentences(model, wanted, limits)]
    options = SearchOptions(beam=wanted.beam, word_beam=wanted.word_beam)
    return list(model.measure(words, options, wanted.end))


def measured_words(model: Any, wanted: Any, limits: Limits) -> list[MeasuredWords]:
    """Return the surprisals of the words of sentences, with their beams if these are wanted."""
    system = model.transitions if model.has_trees else None
    columns = measures_of(DEFAULT_OPTIONS, model.has_trees)
    sentences = []
    for records, _, _, problem in measured(model, wanted, limits):
        if not wanted.beams:
            records = [replace(record, beam=()) for record in records]
        words: Any = [finite(json_word(records, i, columns, system)) for i in range(len(records))]
        sentences.append(MeasuredWords(words=words, problem=problem))
    return sentences


ANSWERS = {"parse": parsed, "surprisal": measured_words}
"""Functions of a model, a request and limits, by the name of the request. They raise RnngError."""


def _sentences(model: Any, wanted: Any, limits: Limits) -> list[SourceSentence]:
    """Return a request's sentences. Raises RnngError for none, too many, and too long ones."""
    lines = [*enumerate(wanted.text.split("\n"), 1)]
    try:
        text = "\n".join(map(" ".join, divided(lines, None, wanted.mark or None)))
    except InputError as error:
        raise RnngError(f"text: {error.message.replace('--mark', 'the field mark')}") from None
    sentences = [
        [tuple(token) if isinstance(token, list) else token for token in sentence]
        for sentence in wanted.sentences
    ] or model.segmenter.sentences_in(text)[0]
    if not sentences:
        raise RnngError("text: there is no sentence in it")
    if len(sentences) > limits.sentences:
        raise RnngError(f"text: {len(sentences)} sentences, more than {limits.sentences}")
    if (longest := max(map(len, sentences))) > limits.words:
        raise RnngError(f"text: a sentence of {longest} words, more than {limits.words}")
    pairs = map(split_tokens, sentences)
    return [SourceSentence(tuple(words), tags and tuple(tags), None, 1) for words, tags in pairs]


class Worker:
    """Models by name, and a thread that uses them."""

    def __init__(self, models: Mapping[str, object], limits: Limits, device: str | None):
        """Load the models that are given as text. Raises RnngError."""
        self._thread, self._turn = ThreadPoolExecutor(1), asyncio.Lock()
        self._limits, self._waiting = limits, 0
        # `dict` draws the pairs in the thread, since one that uses a GPU must have opened it
        pairs = ((name, load(m, device) if isinstance(m, str) else m) for name, m in models.items())
        self.models: Mapping[str, Any] = self._thread.submit(dict, pairs).result()

    async def run(self, request: Request, answer: Callable, wanted: Any) -> Any:
        """Return the answer of a model: `answer(model, wanted, limits)`.

        Raises HTTPException with the status 503 if too many requests wait, 422 if the model cannot
        answer, and 499, which nobody reads, if the client left while it waited.
        """
        if self._waiting >= self._limits.queue:
            reason = "too many requests wait: try again later"
            raise HTTPException(503, reason, {"retry-after": "1"})
        self._waiting += 1
        try:
            async with self._turn:
                if await request.is_disconnected():
                    raise HTTPException(499)
                loop, model = asyncio.get_running_loop(), self.models[wanted.model]
                return await loop.run_in_executor(self._thread, answer, model, wanted, self._limits)
        except RnngError as error:
            raise HTTPException(422, str(error)) from None
        except MemoryError:
            raise HTTPException(422, "it does not fit into the memory of the server") from None
        finally:
            self._waiting -= 1
