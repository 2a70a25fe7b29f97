"""`rnng-dy score`: joint likelihoods of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import click

from oracle.brackets import read_tree_lines
from oracle.errors import ImpossibleError, InputError, RnngError
from oracle.files import format_likelihood, is_samples_file, read_samples
from oracle.streams import open_lines, read_lines
from oracle.treebank import words
from rnng_dy.cli.options import (
    device_option,
    model_option,
    output_option,
    resume_option,
)
from rnng_dy.cli.output import open_model, run_batches
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.workers import workers_options
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work


class ScoredTree(NamedTuple):
    """A tree to score: the number of its sentence, from 0, its unkified words and its actions."""

    sentence: int
    words: tuple[str, ...]
    actions: tuple[str, ...]


Group = list[ScoredTree]
"""The trees of a sentence."""


@click.command()
@model_option
@click.argument("source", type=FILE, metavar="SAMPLES")
@output_option
@workers_options()
@resume_option
@device_option
def score(folder, source, output, workers, resume, device) -> None:
    """Joint likelihoods of the trees of a samples file, or of a file of trees: words, tab, -log p(x, y) in nats.

    Example: rnng-dy score --model generator test.props -o test.likelihoods
    """
    check_files([output], [source])
    place, executor = ModelFolder("generative", folder, device), workers.executor(device)
    model = open_model(place, executor)
    trees = list(_trees_to_score(source, model))
    groups = [list(group) for _, group in groupby(trees, lambda tree: (tree.sentence, tree.words))]
    key = content_hash("score", trees, *place.content())
    work = Work(executor, partial(_open_lines, place), lambda group: [_line(t) for t in group])

    def lines_of(left: Sequence[Group]) -> Iterator[Lines]:
        return work.lines_of([[group] for group in left])

    run_batches("score", groups, lines_of, output, key, resume, unit="trees")
    _report_impossible(model, groups)
    if work.left_out:
        numbers = ", ".join(str(group[0].sentence + 1) for group in work.left_out)
        click.echo(f"p = 0 for want of memory: all trees of sentences {numbers}", err=True)


def _open_lines(place: ModelFolder) -> Callable[[Sequence[Group]], list[Lines]]:
    from rnng_dy.search.scoring import tree_log_probs

    model = place.open()

    def lines(batch: Sequence[Group]) -> list[Lines]:
        return [likelihoods(group) for group in batch]

    def likelihoods(group: Group) -> Lines:
        log_probs = tree_log_probs(model, group[0].words, [tree.actions for tree in group])
        return [_line(tree, log_p) for tree, log_p in zip(group, log_probs, strict=True)]

    return lines


def _line(tree: ScoredTree, log_p: float = -float("inf")) -> str:
    return format_likelihood(len(tree.words), -log_p)


def _trees_to_score(source: str, model) -> Iterator[ScoredTree]:
    """The trees of a samples file (words as they are) or of a tree file (words made UNK classes)."""
    actions_of, unkify = model.transitions.actions_of, model.vocabulary.unkify
    # opened once: what was read of a pipe is gone
    with open_lines(source) as stream:
        if is_samples_file(stream):
            for s in read_samples(source, stream):
                actions = actions_of(s.tree, preterminals=False)
                yield ScoredTree(s.index, tuple(words(s.tree)), tuple(actions))
            return
        for i, located in enumerate(read_tree_lines(read_lines(source, stream=stream), source)):
            try:
                actions = tuple(actions_of(located.tree))
            except RnngError as error:
                raise InputError(str(error), located.path, located.line) from None
            yield ScoredTree(i, tuple(unkify(words(located.tree))), actions)


def _report_impossible(model, groups: Sequence[Group]) -> None:
    """Say of each sentence why trees of it have p = 0."""
    count = 0
    for group in groups:
        reasons = {}
        for tree in dict.fromkeys(group):
            try:
                model.encode(tree.words, tree.actions)
            except ImpossibleError as error:
                reasons[str(error)] = None
        if reasons:
            count += 1
            click.echo(f"sentence {group[0].sentence + 1}: p = 0, {'; '.join(reasons)}", err=True)
    if count:
        click.echo(f"{count} of {len(groups)} sentences have trees with p = 0", err=True)
