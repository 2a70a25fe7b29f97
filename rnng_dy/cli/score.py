"""`rnng-dy score`: compute joint likelihoods of trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from oracle.samples import format_likelihood
from oracle.unknown import CLASSES
from rnng_dy.cli.job import sentences_job
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import generative_option, open_option, output_option
from rnng_dy.cli.paths import FILE, check_files
from rnng_dy.evaluation.records import unknown_words
from rnng_dy.open_vocabulary import required_spelling
from rnng_dy.results import Lines
from rnng_dy.search import scoring
from rnng_dy.search.scoring import TreeToScore

Group = list[TreeToScore]
"""The trees of a sentence."""


@click.command()
@generative_option
@click.argument("source", type=FILE, metavar="SAMPLES")
@output_option
@open_option
@sentences_job
def score(folder, source, output, is_open, job) -> None:
    """Compute joint likelihoods of the trees in a file of samples or of trees.

    A line of the output has the number of words, a tab, and -log p(x, y) in nats.

    Example: rnng-dy score --model generator test.props -o test.likelihoods
    """
    check_files([output], [source])
    model = job.open("generative", folder)
    if is_open:
        required_spelling(model, folder)
    groups = impossible = 0
    words: Counter[tuple[str, str | None]] = Counter()

    def batches() -> Iterator[list[Group]]:
        nonlocal groups, impossible
        trees = scoring.trees_to_score(source, model, is_open)
        for _, found in groupby(trees, lambda tree: (tree.sentence, tree.words)):
            group = list(found)
            groups += 1
            if reasons := scoring.impossible(model, group):
                impossible += 1
                warn(f"sentence {group[0].sentence + 1}: p = 0, {'; '.join(reasons)}")
            words.update(_words(group))
            yield [group]

    left_out = job.write(output, batches(), _lines, _impossible, is_open, inputs=[source])
    if impossible:
        warn(f"{impossible} of {groups} sentences have trees with p = 0")
    for group in left_out:
        words.subtract(_words(group))
    if unknown := unknown_words(words.elements()):
        say(unknown)
    if left_out:
        numbers = ", ".join(str(group[0].sentence + 1) for group in left_out)
        warn(f"p = 0 because memory ran out: all trees of sentences {numbers}")


def _words(group: Group) -> Iterator[tuple[str, str | None]]:
    """Yield the words of a sentence, each as written and, unless it is unknown, as the model reads it."""
    for token, word in zip(group[0].tokens, group[0].words, strict=True):
        # samples have classes in place of unknown words
        yield token, None if word in CLASSES else token


def _lines(model, groups: Sequence[Group]) -> list[Lines]:
    found = []
    for group in groups:
        log_ps = scoring.tree_log_probs(model, group[0].words, [tree.actions for tree in group])
        length, spelling = len(group[0].words), group[0].spelling
        found.append([format_likelihood(length, -log_p - spelling) for log_p in log_ps])
    return found


def _impossible(group: Group) -> Lines:
    return [format_likelihood(len(tree.words), math.inf) for tree in group]
