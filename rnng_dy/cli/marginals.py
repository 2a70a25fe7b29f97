"""Probabilities of sentences under the generative model, by the searches that sum over derivations."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import click

from oracle.files import OracleSentence
from rnng_dy.cli.output import gather_batches, open_model
from rnng_dy.cli.rerank import require_fit
from rnng_dy.cli.searching import grouped_for, tree_line
from rnng_dy.cli.workers import Workers
from rnng_dy.evaluation.perplexity import Gap, gap
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work
from rnng_dy.search.importance import read_sampled
from rnng_dy.search.surprisal import SearchOptions, measure
from rnng_dy.search.words import Analysis


class Item(NamedTuple):
    """A sentence and its place in the oracle, from 0."""

    index: int
    sentence: OracleSentence


class Marginal(NamedTuple):
    """What a model says of a sentence."""

    log_p: float
    """log p(x) in nats, the end of the sentence included; -inf where a search finds no tree."""
    problem: str | None = None
    """Why p = 0."""
    seconds: float = 0.0
    """That a search took, in the process that did it."""
    tree: str = ""
    """The best complete one on one line, empty where there is none."""


def search_marginals(
    place: ModelFolder,
    sentences: Sequence[OracleSentence],
    options: SearchOptions,
    workers: Workers,
    output: str | None,
    resume: bool,
) -> list[Marginal]:
    """Of each sentence; beside `output` is kept what a stopped run has found."""
    executor = workers.executor(place.device)
    open_model(place, executor)
    items = [Item(i, sentence) for i, sentence in enumerate(sentences)]
    grouped = grouped_for(options, items)
    words = [(s.tokens, s.tags, s.unkified) for s in sentences]
    key = content_hash("perplexity", options, words, *place.content())
    work = Work(executor, partial(_open_lines, place, options), _left_out)
    lines = gather_batches("perplexity", grouped, work.lines_of, output, key, resume)
    return [Marginal(*json.loads(line)) for line in lines]


def _open_lines(
    place: ModelFolder, options: SearchOptions
) -> Callable[[Sequence[Item]], list[Lines]]:
    model = place.open()

    def lines(batch: Sequence[Item]) -> list[Lines]:
        begin = time.perf_counter()
        tokens, unkified = zip(*((s.tokens, s.unkified) for _, s in batch), strict=True)
        numbers = [item.index for item in batch]
        found = list(measure(model, tokens, options, True, unkified, numbers))
        seconds = (time.perf_counter() - begin) / len(batch)
        return [
            [json.dumps(Marginal(m.log_mass, m.problem, seconds, best(item.sentence, m.trees)))]
            for item, m in zip(batch, found, strict=True)
        ]

    def best(sentence: OracleSentence, trees: Sequence[Analysis]) -> str:
        return tree_line(model.transitions, sentence, trees[0]) if trees else ""

    return lines


def _left_out(item: Item) -> Lines:
    return [json.dumps(Marginal(-math.inf, "does not fit into memory", 0.0))]


def sampled_marginals(
    samples: str, likelihoods: str, sentences: Sequence[OracleSentence], source: str
) -> list[float]:
    """log p(x) in nats of each sentence by importance sampling, -inf for one without samples.

    Raises InputError where samples are of other sentences.
    """
    found = [-math.inf] * len(sentences)
    for of_sentence in read_sampled(samples, likelihoods):
        require_fit(of_sentence.best[0], sentences, samples, source)
        found[of_sentence.index] = of_sentence.estimate.log_marginal
    return found


def print_search(
    found: Sequence[Marginal],
    options: SearchOptions,
    sampled: Sequence[float] | None,
    lengths: Sequence[int],
) -> dict[str, object]:
    """Print the seconds of a search and, where there are samples, its gap to them; gives the numbers."""
    seconds = math.fsum(of_sentence.seconds for of_sentence in found)
    click.echo(f"seconds={seconds:.1f}")
    numbers: dict[str, object] = {"search": asdict(options), "seconds": seconds}
    if sampled is not None:
        beside = gap([of_sentence.log_p for of_sentence in found], sampled, lengths)
        _print_gap(beside)
        numbers["beside_samples"] = beside._asdict() | {
            "searched": beside.searched._asdict(),
            "sampled": beside.sampled._asdict(),
        }
    return numbers


def _print_gap(found: Gap) -> None:
    sampled = found.sampled
    click.echo(f"p > 0 by search and samples: {sampled.sentences} sentences, {sampled.words} words")
    for name, of_way in (("search", found.searched), ("samples", sampled)):
        click.echo(f"{name}: LLH={of_way.llh:.15g} PPL={of_way.perplexity:.15g}")
    click.echo(
        f"gap: {found.a_sentence:.6g} nats a sentence, {found.a_word:.6g} nats a word, "
        f"ratio of perplexities {found.ratio:.6g}"
    )
    click.echo(f"search above samples: {found.above} sentences")
