"""`rnng-dy parse`: trees of sentences, by the parser or by the generative model alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.parsed import ParsedSentence
from rnng_dy import registry
from rnng_dy.cli.finding import TreesOf, best, drawn, greedy, parser_trees
from rnng_dy.cli.line_by_line import parse_line_by_line
from rnng_dy.cli.options import (
    device_option,
    model_option,
    output_option,
    resume_option,
)
from rnng_dy.cli.output import open_model, run_and_make, run_batches
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.raw_text import text_options
from rnng_dy.cli.searching import (
    flag_given,
    given_search_option,
    grouped_for,
    search_options,
    search_trees,
)
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
from rnng_dy.cli.tree_formats import Wanted, Writer, make_drawing, paper_of, wanted_trees
from rnng_dy.cli.workers import Workers, workers_options
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work
from rnng_dy.search.nbest import BEAM
from rnng_dy.search.surprisal import SEARCHES, SearchOptions

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 10_000
"""Words in one batch, each as often as it is sampled."""


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
    "next one is read; one that cannot be parsed with an empty line, or with --format json with the error.",
)
@wanted_trees
@search_options
@workers_options()
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
    wanted,
    options,
    workers,
    resume,
    device,
) -> None:
    """Parse greedily with a parser, or with the generative model alone by word-synchronous search.

    A parser's --nbest come of a search that keeps the --beam most probable partial trees after each action (20, or
    twice K) and the greedy one. Its --samples are drawn from q as it is.

    INPUT is an oracle, trees, or tokenised sentences, one a line, of words or word_TAG. An empty line among sentences
    stays one among the trees. With --text it is running text. The other options of the search are for the generative
    model.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """  # fmt: skip
    check_files([output], [source])
    if line_buffered:
        _require_line_by_line(source, output, wanted, workers, resume)
    how = _way_to_parse(folder, wanted, SearchOptions(**options, seed=wanted.seed), device)
    executor = workers.executor(device)
    model = open_model(how.place, executor)
    writer = Writer(wanted.style, wanted.several, paper_of(output))
    if line_buffered:
        lines_of = _open_lines(how.open_trees, writer)
        parse_line_by_line(
            model, lines_of, tagged, TagChoice(model, tags_from), text, wanted.style == "json"
        )
        return
    items = read_items(model, source, tagged, TagChoice(model, tags_from), text)
    sentences = [item.sentence for item in items]
    key = content_hash("parse", wanted, how.options, sentences, *how.place.content())
    work = Work(executor, partial(_open_lines, how.open_trees, writer), partial(_none, writer))
    job = "parse", list(how.grouped(items)), work.lines_of, output, key, resume
    if wanted.is_made:
        title = f"Trees of {'standard input' if source == '-' else Path(source).name}"
        run_and_make(*job, make_drawing(wanted, output, title, f"{how.name} {folder}"))
    else:
        run_batches(*job)
    report_unseen(unseen_tags(model, items))
    report_left_out(work.left_out, source)


def _require_line_by_line(
    source: str, output: str, wanted: Wanted, workers: Workers, resume: bool
) -> None:
    """Raise UsageError where the answer to a line could not be one line on standard output."""
    if (source, output) != ("-", "-") or not workers.is_this_process or resume:
        raise click.UsageError(
            "--line-buffered goes from standard input to standard output, without --jobs, --scheduler and --resume"
        )
    if wanted.style not in ("brackets", "json") or (wanted.style == "brackets" and wanted.several):
        raise click.UsageError(
            "--line-buffered answers with one line: a tree in brackets, or --format json for --nbest and --samples too"
        )


class _Way(NamedTuple):
    """How a kind of model parses."""

    name: str
    place: ModelFolder
    open_trees: Callable[[], TreesOf]
    grouped: Callable[[Sequence[Item]], Iterable[Sequence[Item]]]
    """In batches."""
    options: SearchOptions | None
    """What the output depends on besides model, sentences and the trees that are wanted."""


def _way_to_parse(folder: str, wanted: Wanted, options: SearchOptions, device: str) -> _Way:
    kind, k = registry.kind_of(folder), wanted.nbest or 1
    if kind == "generative":
        if wanted.samples:
            raise click.UsageError("--samples is for a parser: a generative model has --nbest")
        if k > options.word_beam and "word_beam" in SEARCHES[options.search].options:
            raise click.UsageError(f"--nbest {k} needs --word-beam {k} at the least")
        place = ModelFolder(kind, folder, device)
        trees = partial(search_trees, place, options, k)
        return _Way("Generative model", place, trees, in_words(SEARCHED_WORDS), options)
    if flag := given_search_option(*["beam"] if wanted.nbest else []):
        more = ", and for a parser's --nbest" if flag == "--beam" else ""
        raise click.UsageError(f"{flag} is for generative models{more}: {folder} is a parser")
    place = ModelFolder("discriminative", folder, device)
    if wanted.nbest:
        beam = options.beam if flag_given("beam") else max(BEAM, 2 * k)
        if k > beam:
            raise click.UsageError(f"--nbest {k} needs --beam {k} at the least")
        find = partial(best, k, beam)
        options = replace(options, beam=beam)
        grouped = partial(grouped_for, options)
    elif wanted.samples:
        find = partial(drawn, wanted.samples, 1.0, wanted.seed)
        grouped = in_words(max(1, min(PARSED_WORDS, SAMPLED_WORDS // wanted.samples)))
    else:
        find, grouped = greedy, in_words(PARSED_WORDS)
    trees = partial(parser_trees, place, find)
    return _Way("Parser", place, trees, grouped, options if wanted.nbest else None)


def _open_lines(open_trees: Callable[[], TreesOf], writer: Writer) -> LinesOf:
    """The lines of sentences with their trees; an empty line keeps the others in their places."""
    trees_of = in_places(open_trees, [])

    def lines(batch: Sequence[Item]) -> list[Lines]:
        return [
            writer.lines(ParsedSentence(item.index + 1, item.sentence, trees))
            for item, trees in zip(batch, trees_of(batch), strict=True)
        ]

    return lines


def _none(writer: Writer, item: Item) -> Lines:
    """What stands for a sentence that does not fit into memory."""
    return writer.lines(ParsedSentence(item.index + 1, item.sentence, []))
