"""`rnng-dy parse`: trees of sentences, by the parser or by the generative model alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.files import SourceSentence
from oracle.streams import refuse_input_as_output
from oracle.treebank import format_tree
from rnng_dy import registry
from rnng_dy.cli.line_by_line import parse_line_by_line
from rnng_dy.cli.options import (
    AT_LEAST_1,
    device_option,
    jobs_option,
    model_option,
    output_option,
    resume_option,
)
from rnng_dy.cli.output import open_model, run_batches
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.raw_text import text_options
from rnng_dy.cli.searching import search_lines, search_options
from rnng_dy.cli.sentences import (
    Item,
    LinesOf,
    in_places,
    read_items,
    report_left_out,
    report_unseen,
    tagged_option,
    unseen_tags,
)
from rnng_dy.cli.tag_choice import TagChoice, tags_option
from rnng_dy.execution.batches import batches
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work
from rnng_dy.search.surprisal import SearchOptions

PARSED_WORDS, SEARCHED_WORDS = 600, 100
"""Words in one batch."""


@click.command()
@model_option
@click.argument("source", type=FILE, metavar="INPUT")
@output_option
@text_options
@tagged_option
@tags_option
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Answer each line of standard input, a sentence of words, of word_TAG or of --text, with its tree before the "
    "next one is read; one that cannot be parsed with an empty line.",
)
@click.option(
    "--nbest",
    type=AT_LEAST_1,
    metavar="K",
    help="The generative model's K best trees: lines `sentence ||| log p(x, y) in nats ||| tree`.",
)
@search_options
@jobs_option
@resume_option
@device_option
def parse(
    folder,
    source,
    output,
    text,
    tagged,
    tags_from,
    line_buffered,
    nbest,
    options,
    jobs,
    resume,
    device,
) -> None:
    """Parse greedily with a parser, or with the generative model alone by word-synchronous search.

    INPUT is an oracle, trees, or tokenised sentences, one a line, of words or word_TAG. An empty line among sentences
    stays one among the trees. With --text it is running text. The options of the search are for the generative model.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """  # fmt: skip
    refuse_input_as_output(output, source)
    if line_buffered and ((source, output) != ("-", "-") or jobs > 1 or resume):
        raise click.UsageError(
            "--line-buffered goes from standard input to standard output, without --jobs and --resume"
        )
    how = _way_to_parse(folder, nbest, SearchOptions(**options), device)
    executor = local_executor(jobs, device)
    model = open_model(how.place, executor)
    if line_buffered:
        parse_line_by_line(model, how.open_lines(), tagged, TagChoice(model, tags_from), text)
        return
    items = read_items(model, source, tagged, TagChoice(model, tags_from), text)
    sentences = [item.sentence for item in items]
    key = content_hash("parse", *how.identity, sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(items, lambda item: len(item.sentence.tokens), how.words))
    # an empty line keeps the others in their places
    opened = partial(in_places, how.open_lines, how.of_none)
    work = Work(executor, opened, lambda item: how.of_none)
    run_batches("parse", grouped, work.lines_of, output, key, resume)
    report_unseen(unseen_tags(model, items))
    report_left_out(work.left_out, source)


class _Way(NamedTuple):
    """How a kind of model parses."""

    place: ModelFolder
    open_lines: Callable[[], LinesOf]
    words: int
    """In one batch."""
    of_none: Lines
    """What stands for a sentence without a tree."""
    identity: Sequence[object]
    """What the output depends on besides model and sentences."""


def _way_to_parse(folder: str, nbest: int | None, options: SearchOptions, device: str) -> _Way:
    kind = registry.kind_of(folder)
    if kind == "generative":
        if (nbest or 1) > options.word_beam and options.search == "beam":
            raise click.UsageError(f"--nbest {nbest} needs --word-beam {nbest} at the least")
        place = ModelFolder(kind, folder, device)
        lines = partial(search_lines, place, options, nbest)
        return _Way(place, lines, SEARCHED_WORDS, [] if nbest else [""], [options, nbest])
    if nbest is not None:
        raise click.UsageError("--nbest is for the generative model: `sample` draws from a parser")
    place = ModelFolder("discriminative", folder, device)
    return _Way(place, partial(_parse_lines, place), PARSED_WORDS, [""], [])


def _parse_lines(place: ModelFolder) -> LinesOf:
    from rnng_dy.search.greedy import parse_batch

    parser = place.open()

    def lines(batch: Sequence[Item]) -> list[Lines]:
        results = parse_batch(parser, [item.ids for item in batch])
        return [[line(item.sentence, ids)] for item, (ids, _) in zip(batch, results, strict=True)]

    def line(sentence: SourceSentence, ids: Sequence[int]) -> str:
        return format_tree(parser.tree_of(ids, sentence.tokens, sentence.tags))

    return lines
