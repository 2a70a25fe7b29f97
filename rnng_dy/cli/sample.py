"""`rnng-dy sample`: trees drawn from the parser."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from oracle.files import SourceSentence, format_sample
from oracle.lazy import nltk
from rnng_dy.cli.finding import Actions, drawn, parser_trees
from rnng_dy.cli.options import (
    ALPHA,
    device_option,
    model_option,
    output_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import open_model, run_batches
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.raw_text import text_options
from rnng_dy.cli.sentences import (
    Item,
    LinesOf,
    in_places,
    in_words,
    read_items,
    report_left_out,
    report_unseen,
    tagged_option,
    unseen_tags,
)
from rnng_dy.cli.tag_choice import TagChoice, tags_option
from rnng_dy.cli.workers import workers_options
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work

SAMPLED_WORDS = 100
"""Words in one batch."""


@click.command()
@model_option
@click.argument("source", type=FILE, metavar="INPUT")
@output_option
@click.option(
    "--samples",
    "n",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Trees a sentence.",
)
@click.option(
    "--alpha",
    type=ALPHA,
    default=0.8,
    show_default=True,
    help="Exponent that flattens the distribution drawn from; 1 leaves it as it is.",
)
@seed_option
@text_options
@tagged_option
@tags_option
@workers_options()
@resume_option
@device_option
def sample(
    folder, source, output, n, alpha, seed, text, tagged, tags_from, workers, resume, device
) -> None:
    """Draw trees of every sentence of INPUT from the parser, flattened by alpha, with the log q they were drawn with.

    Example: rnng-dy sample --model parser --samples 100 --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    check_files([output], [source])
    place, executor = ModelFolder("discriminative", folder, device), workers.executor(device)
    model = open_model(place, executor)
    items = read_items(model, source, tagged, TagChoice(model, tags_from), text)
    sentences = [item.sentence for item in items]
    key = content_hash("sample", n, alpha, seed, sentences, Path(folder, "parameters.npz"))
    grouped = list(in_words(SAMPLED_WORDS)(items))
    samples = partial(_sample_lines, place, n=n, alpha=alpha, seed=seed)
    opened = partial(in_places, samples, [])
    work = Work(executor, opened, lambda item: [])
    run_batches("sample", grouped, work.lines_of, output, key, resume)
    report_unseen(unseen_tags(model, items))
    report_left_out(work.left_out, source)


def _sample_lines(place: ModelFolder, n: int, alpha: float, seed: int) -> LinesOf:
    trees_of = parser_trees(place, partial(drawn, n, alpha, seed), _unkified_tree)

    def lines(batch: Sequence[Item]) -> list[Lines]:
        return [
            [format_sample(item.index, tree.log_prob, tree.tree) for tree in trees]
            for item, trees in zip(batch, trees_of(batch), strict=True)
        ]

    return lines


def _unkified_tree(parser, sentence: SourceSentence, actions: Actions) -> nltk.Tree:
    """Without tags, as the generative model reads it."""
    unkify, transitions = parser.vocabulary.unknown.unkify, parser.transitions
    words = sentence.unkified or unkify(sentence.tokens)
    return transitions.tree_of(transitions.decode(actions), words)
