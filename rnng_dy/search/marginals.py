"""Probabilities of sentences: by searches that sum over derivations, and by models without trees."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oracle.blocks import OracleSentence
from oracle.errors import ImpossibleError
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
    tree: str = ""
    """The best complete tree on one line; empty if there is none."""


def marginal_lines(
    options: SearchOptions, model: Model, batch: Sequence[NumberedSentence]
) -> list[list[str]]:
    """Return the marginal of each sentence by a search, as one line of JSON."""
    found = list(measure_batch(options, True, model, batch))
    lines = []
    for item, measured in zip(batch, found, strict=True):
        best = [tree_line(model.transitions, item.sentence, tree) for tree in measured.trees[:1]]
        lines.append([json.dumps((measured.log_mass, measured.problem, "".join(best)))])
    return lines


def no_memory_line(item: NumberedSentence) -> list[str]:
    """Return the line for a sentence that does not fit into memory."""
    return [json.dumps(Marginal(-math.inf, "does not fit into memory"))]


def read_marginals(lines: Iterable[str]) -> Iterator[Marginal]:
    """Yield the marginals of lines that `marginal_lines` made."""
    for line in lines:
        yield Marginal(*json.loads(line))


def sequential_marginals(model, sentences: Sequence[OracleSentence]) -> list[Marginal]:
    """Return the marginals of a model that predicts word by word without a search.

    A scorer that gives no probabilities of sentences must give a surprisal of each word and of the sentence's end.
    """
    if not hasattr(model, "log_probs"):
        tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
        records = model.records_of(tokens, unkified)
        found = [-math.log(2) * math.fsum(record.surprisal for record in of) for of in records]
        problem = "the scorer gives no surprisal of a word or of the end"
    else:
        examples = []
        for sentence in sentences:
            try:
                examples.append(model.encode(sentence.unkified))
            except ImpossibleError:
                examples.append(None)
        log_probs = iter(model.log_probs([e for e in examples if e is not None]).tolist())
        found = [math.nan if example is None else sum(next(log_probs)) for example in examples]
        problem = "it has words unseen in training, or does not fit into memory"
    return [Marginal(x) if math.isfinite(x) else Marginal(-math.inf, problem) for x in found]
