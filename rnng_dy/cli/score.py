"""`rnng-dy score`: joint likelihoods of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import click

from oracle.files import format_likelihood, is_samples_file, read_samples
from oracle.transitions import actions_of
from oracle.treebank import read_trees, words
from rnng_dy.cli.options import (
    device_option,
    jobs_option,
    model_option,
    output_option,
    resume_option,
)
from rnng_dy.cli.output import fingerprint, run_batches
from rnng_dy.cli.work import Lines, Place, Work


class ScoredTree(NamedTuple):
    """A tree to score: its sentence, its unkified words and its actions."""

    sentence: int
    words: tuple[str, ...]
    actions: tuple[str, ...]


Group = list[ScoredTree]
"""The trees of a sentence."""


@click.command()
@model_option
@click.argument("source", metavar="SAMPLES")
@output_option
@jobs_option
@resume_option
@device_option
def score(folder, source, output, jobs, resume, device) -> None:
    """Joint likelihoods of the trees of a samples file, or of a file of trees: words, tab, -log p(x, y) in nats.

    Example: rnng-dy score --model generator test.props -o test.likelihoods
    """
    place = Place("generative", folder, device, jobs)
    model = place.open()
    trees = _trees_to_score(source, model)
    groups = [list(group) for _, group in groupby(trees, lambda tree: (tree.sentence, tree.words))]
    key = fingerprint("score", trees, Path(folder, "parameters.npz"))
    work = Work(place, _open_lines, lambda group: [_line(tree) for tree in group])

    def lines_of(left: Sequence[Group]) -> Iterator[Lines]:
        return work.lines_of([[group] for group in left])

    run_batches("score", groups, lines_of, output, key, resume, unit="trees")
    _report_unseen(model, groups)
    if work.left_out:
        numbers = ", ".join(str(group[0].sentence) for group in work.left_out)
        click.echo(f"p = 0 for want of memory: all trees of sentences {numbers}", err=True)


def _open_lines(place: Place) -> Callable[[Sequence[Group]], list[Lines]]:
    model = place.open()
    from rnng_dy.vocabulary import UnseenSymbolError

    def lines(batch: Sequence[Group]) -> list[Lines]:
        return [likelihoods(group) for group in batch]

    def likelihoods(group: Group) -> Lines:
        examples = {}
        for actions in dict.fromkeys(tree.actions for tree in group):
            try:
                examples[actions] = model.encode(group[0].words, actions)
            except UnseenSymbolError:
                continue
        log_probs = {}
        if examples:
            sequences = [example.actions for example in examples.values()]
            ids = next(iter(examples.values())).words
            values = model.joint_log_probs(ids, sequences).tolist()
            log_probs = dict(zip(examples, values, strict=True))
        return [_line(tree, log_probs.get(tree.actions)) for tree in group]

    return lines


def _line(tree: ScoredTree, log_p: float | None = None) -> str:
    return format_likelihood(len(tree.words), float("inf") if log_p is None else -log_p)


def _trees_to_score(source: str, model) -> list[ScoredTree]:
    """The trees of a samples file (words as they are) or of a tree file (words made UNK classes)."""
    if is_samples_file(source):
        return [
            ScoredTree(
                s.index, tuple(s.tree.leaves()), tuple(actions_of(s.tree, preterminals=False))
            )
            for s in read_samples(source)
        ]
    return [
        ScoredTree(
            i, tuple(model.vocabulary.unkify(words(located.tree))), tuple(actions_of(located.tree))
        )
        for i, located in enumerate(read_trees(source))
    ]


def _report_unseen(model, groups: Sequence[Group]) -> None:
    """Name the symbols of each sentence that training has not, which make p = 0."""
    from rnng_dy.vocabulary import UnseenSymbolError

    count = 0
    for group in groups:
        actions = dict.fromkeys(action for tree in group for action in tree.actions)
        try:
            model.encode(group[0].words, list(actions))
        except UnseenSymbolError as error:
            count += 1
            symbols = ", ".join(error.symbols)
            click.echo(
                f"sentence {group[0].sentence}: p = 0, unseen in training: {symbols}", err=True
            )
    if count:
        click.echo(f"{count} of {len(groups)} sentences have trees with p = 0", err=True)
