"""`rnng-dy score`: compute joint likelihoods of trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import click

from oracle.samples import format_likelihood
from oracle.unknown import CLASSES
from rnng_dy.cli.job import sentences_job
from rnng_dy.cli.options import generative_option, open_option, output_option
from rnng_dy.cli.paths import FILE, check_files
from rnng_dy.cli.quiet import say, warn
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
    trees = list(scoring.trees_to_score(source, model, is_open))
    groups = [list(group) for _, group in groupby(trees, lambda tree: (tree.sentence, tree.words))]
    batches = ([group] for group in groups)
    left_out = job.write(output, batches, _lines, _impossible, is_open, inputs=[source])
    reasons = [(group[0].sentence + 1, scoring.impossible(model, group)) for group in groups]
    reasons = [(number, found) for number, found in reasons if found]
    for number, found in reasons:
        warn(f"sentence {number}: p = 0, {'; '.join(found)}")
    if reasons:
        warn(f"{len(reasons)} of {len(groups)} sentences have trees with p = 0")
    # samples have classes in place of unknown words
    pairs = (
        (token, None if word in CLASSES else token)
        for group in groups
        if group not in left_out
        for token, word in zip(group[0].tokens, group[0].words, strict=True)
    )
    if unknown := unknown_words(pairs):
        say(unknown)
    if left_out:
        numbers = ", ".join(str(group[0].sentence + 1) for group in left_out)
        warn(f"p = 0 because memory ran out: all trees of sentences {numbers}")


def _lines(model, groups: Sequence[Group]) -> list[Lines]:
    found = []
    for group in groups:
        log_ps = scoring.tree_log_probs(model, group[0].words, [tree.actions for tree in group])
        length, spelling = len(group[0].words), group[0].spelling
        found.append([format_likelihood(length, -log_p - spelling) for log_p in log_ps])
    return found


def _impossible(group: Group) -> Lines:
    return [format_likelihood(len(tree.words), math.inf) for tree in group]
