"""The generative model without the parser: its own trees, and its perplexity by several methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from oracle.brackets import parse_line
from oracle.errors import InputError
from oracle.files import open_text
from oracle.lazy import nltk
from oracle.samples import read_likelihoods
from oracle.treebank import tags, with_tags
from rnng_dy.evaluation.perplexity import gap, in_all

NO_CONSTITUENTS = "TOP"
"""A label that EVALB does not count."""
SEARCHES = ("beam", "particles")


def read_trees_alone(path: Path, golds: Sequence[nltk.Tree]) -> tuple[list[nltk.Tree], int]:
    """Return the model's trees with the gold tags, and the number of sentences without a tree.

    A sentence without a tree gets no constituents. Raises InputError unless the file has one line per sentence.
    """
    with open_text(path) as stream:
        # words may contain characters that Python counts as line ends
        lines = [line.rstrip("\n") for line in stream]
    if len(lines) != len(golds):
        raise InputError(f"{len(lines)} lines for {len(golds)} sentences", path)
    found = []
    for number, (line, gold) in enumerate(zip(lines, golds, strict=True), 1):
        flat = nltk.Tree(NO_CONSTITUENTS, [nltk.Tree(tag, [word]) for word, tag in gold.pos()])
        tree = parse_line(line, path, number, any_bytes=True) if line else flat
        found.append(with_tags(tree, tags(gold)))
    return found, lines.count("")


def several_ways(
    folder: Path, run: str, sampled: Sequence[float], lengths: Sequence[int]
) -> dict[str, object]:
    """Return the perplexity by each search beside importance sampling, on sentences that have p > 0 by all of them.

    `sampled` are log marginals in nats. `process_seconds` adds the times.
    """
    log_ps = [sampled]
    for search in SEARCHES:
        rows = read_likelihoods(folder / f"{run}.{search}.likelihoods")
        log_ps.append([-negative for _, negative in rows])
    of_samples, *of_searches = in_all(log_ps)
    found: dict[str, object] = {"run": run, "of": len(sampled)}
    for search, of_search in zip(SEARCHES, of_searches, strict=True):
        beside = gap(of_search, of_samples, lengths)
        found["sentences"], found["words"] = beside.sampled.sentences, beside.sampled.words
        found["samples"] = {"perplexity": beside.sampled.perplexity}
        measures = {
            name: getattr(beside, name) for name in ("a_sentence", "a_word", "ratio", "above")
        }
        found[search] = {"perplexity": beside.searched.perplexity, **measures}
    return found


def process_seconds(run: str, proposal: str, stages: Sequence[Mapping]) -> dict[str, float]:
    """Return each method's processor time: seconds of its stages times their processes, NaN if not recorded.

    `proposal` is the run whose parser drew the samples.
    """
    known = {
        stage["name"]: math.nan
        if None in (stage["seconds"], stage.get("processes"))
        else stage["seconds"] * stage["processes"]
        for stage in stages
    }
    names = {"samples": [f"sample {proposal}", f"score {run}"]}
    names |= {search: [f"perplexity {run} {search}"] for search in SEARCHES}
    return {way: sum(known[name] for name in of_way) for way, of_way in names.items()}
