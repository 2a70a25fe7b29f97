"""Probabilities of sentences: by searches that sum over derivations, by samples, and by models without trees."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from oracle.blocks import OracleSentence
from oracle.errors import ImpossibleError
from rnng_dy.search.importance import other_words, read_sampled, require_fit
from rnng_dy.search.model import Model
from rnng_dy.search.surprisal import SearchOptions, measure_batch
from rnng_dy.search.trees import tree_line
from rnng_dy.text.sources import NumberedSentence


class Marginal(NamedTuple):
    """A model's probability of a sentence."""

    log_p: float
    """log p(x) in nats, including the end of the sentence; -inf if a search finds no tree."""
    problem: str | None = None
    """The reason why p = 0."""
    seconds: float = 0.0
    """Seconds that the search took, in the process that ran it."""
    tree: str = ""
    """The best complete tree on one line; empty if there is none."""


def marginal_lines(
    options: SearchOptions, model: Model, batch: Sequence[NumberedSentence]
) -> list[list[str]]:
    """Return the marginal of each sentence by a search, as one line of JSON."""
    begin = time.perf_counter()
    found = list(measure_batch(options, True, model, batch))
    seconds = (time.perf_counter() - begin) / len(batch)
    lines = []
    for item, measured in zip(batch, found, strict=True):
        best = [tree_line(model.transitions, item.sentence, tree) for tree in measured.trees[:1]]
        lines.append([json.dumps((measured.log_mass, measured.problem, seconds, "".join(best)))])
    return lines


def no_memory_line(item: NumberedSentence) -> list[str]:
    """Return the line for a sentence that does not fit into memory."""
    return [json.dumps(Marginal(-math.inf, "does not fit into memory"))]


def read_marginals(lines: Iterable[str]) -> Iterator[Marginal]:
    """Yield the marginals of lines that `marginal_lines` made."""
    for line in lines:
        yield Marginal(*json.loads(line))


def sequential_marginals(model, sentences: Sequence[OracleSentence]) -> list[Marginal]:
    """Return the marginals of a model that predicts word by word without a search."""
    examples = []
    for sentence in sentences:
        try:
            examples.append(model.encode(sentence.unkified))
        except ImpossibleError:
            examples.append(None)
    log_probs = iter(model.log_probs([e for e in examples if e is not None]).tolist())
    found = [math.nan if example is None else sum(next(log_probs)) for example in examples]
    problem = "it has words unseen in training, or does not fit into memory"
    return [Marginal(-math.inf, problem) if math.isnan(x) else Marginal(x) for x in found]


class SampledMarginals(NamedTuple):
    """Estimates of log p(x) by importance sampling."""

    log_ps: list[float]
    """In nats per sentence; -inf for a sentence without samples of its words."""
    other_words: list[tuple[str, str]]
    """Of each sentence whose samples have other words, the first such word, and the model's."""


def sampled_marginals(
    samples: str,
    likelihoods: str,
    sentences: Sequence[OracleSentence],
    source: str,
    unkify: Callable[[Sequence[str]], Sequence[str]],
) -> SampledMarginals:
    """Return the estimates for sentences whose `unkified` words are as the model reads them; `unkify` is the model's.

    Raises InputError if samples belong to other sentences.
    """
    found = SampledMarginals([-math.inf] * len(sentences), [])
    for of_sentence in read_sampled(samples, likelihoods):
        best, _ = of_sentence.best()
        require_fit(best, sentences, samples, source)
        if other := other_words(best, sentences[best.index], unkify):
            found.other_words.append(other)
        else:
            found.log_ps[best.index] = of_sentence.estimate.log_marginal
    return found
