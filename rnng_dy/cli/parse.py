"""`rnng-dy parse`: parse sentences with the parser or with the generative model alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.parsed import ParsedSentence, ScoredTree
from rnng_dy import registry
from rnng_dy.cli.job import Job, sentences_job
from rnng_dy.cli.line_by_line import parse_line_by_line
from rnng_dy.cli.option_groups import flag_given
from rnng_dy.cli.options import models_option, output_option
from rnng_dy.cli.paths import check_files, write_output
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.source import in_words, parser_source, reader_of
from rnng_dy.cli.tree_formats import MBR, Wanted, columns_of, wanted_trees
from rnng_dy.drawing.parsed_trees import MADE, TreeWriter
from rnng_dy.execution.work import Lines
from rnng_dy.search.nbest import BEAM
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.search.surprisal import SEARCHES, SearchOptions
from rnng_dy.search.trees import (
    NumberedSentence,
    best,
    drawn,
    greedy_tree,
    in_places,
    parser_trees,
    rated_trees,
    search_trees,
    tagged_tree,
)

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 10_000
"""Words in one batch; when sampling, each word counts once per sample."""


@click.command()
@models_option
@output_option
@parser_source
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Read sentences from standard input, one per line, and print the tree of each before reading the next line. "
    "If a sentence cannot be parsed, print an empty line, or the error with --format json.",
)
@wanted_trees
@search_options
@sentences_job
def parse(folders, source, output, line_buffered, wanted, options, job) -> None:
    """Parse sentences: greedily with a parser, or by word-synchronous search with a generative model.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line, as words or word_TAG. With
    --text it is running text. An empty line of a text gives an empty line of the output.

    With a parser, --nbest K searches for the K best trees: after each action it keeps the --beam most probable
    partial trees (default: the larger of 20 and 2K) and the greedy one. --samples K draws trees from q(y | x)
    without flattening, and --decode mbr makes one tree of them. The other search options are for generative models.
    With --generator both models decide, which gives the best trees and takes the longest.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """  # fmt: skip
    check_files([output], [source.path])
    if line_buffered:
        _require_line_by_line(source.path, output, wanted, job)
    way = way_to_parse(folders[0], wanted, SearchOptions(**options, seed=wanted.seed))
    job.beside(wanted.generator)
    reader = reader_of(job.open(way.kind, *folders), source)
    writer = TreeWriter(wanted.style, wanted.several, columns_of(output))
    lines = job.with_model(partial(lines_of, writer, way.trees))
    if line_buffered:
        parse_line_by_line(reader, lines(), wanted.style == "json")
        return
    items = reader.sentences()
    decides = wanted._replace(generator=None), way.options, [item.sentence for item in items]

    def make(kept: Path) -> None:
        title = f"Trees of {'standard input' if source.path == '-' else Path(source.path).name}"
        write_output(output, writer.drawing(kept, title, f"{way.name} {' and '.join(folders)}"))

    left_out = job.write(
        output,
        way.batches(items),
        lines,
        partial(without_trees, writer),
        *decides,
        make=make if wanted.style in MADE else None,
    )
    reader.report(left_out)


def _require_line_by_line(path: str, output: str, wanted: Wanted, job: Job) -> None:
    """Raise UsageError if the answer to a line could not be one line on standard output."""
    if (path, output) != ("-", "-") or not job.is_this_process or job.resume:
        raise click.UsageError(
            "--line-buffered goes from standard input to standard output, without --jobs, --scheduler and --resume"
        )
    if wanted.style not in ("brackets", "json") or (wanted.style == "brackets" and wanted.several):
        raise click.UsageError(
            "--line-buffered answers with one line: a tree in brackets, or --format json for --nbest and --samples too"
        )


class Way(NamedTuple):
    """How a kind of model parses sentences."""

    kind: str
    name: str
    trees: Callable[..., list[list[ScoredTree]]]
    """Function from a model and a batch to the trees per sentence."""
    batches: Callable[[Sequence[NumberedSentence]], Sequence[Sequence[NumberedSentence]]]
    options: SearchOptions | None = None
    """The options of the search on which the output depends; None if there is none."""


def way_to_parse(folder: str, wanted: Wanted, options: SearchOptions) -> Way:
    """Return how a model in a folder makes the trees that are wanted. Raises UsageError if it cannot."""
    kind, k = registry.kind_of(folder), wanted.nbest or 1
    if kind.generates_words and kind.has_trees:
        if wanted.decode == MBR:
            flag = "--generator" if wanted.generator else "--decode mbr"
            raise click.UsageError(f"{flag} is for a parser, or for samples: `rnng-dy rerank`")
        if wanted.samples:
            raise click.UsageError("--samples is for a parser: a generative model has --nbest")
        if k > options.word_beam and "word_beam" in SEARCHES[options.search].options:
            raise click.UsageError(f"--nbest {k} needs --word-beam {k} or more")
        trees = partial(search_trees, options, k)
        batches = partial(in_words, limit=SEARCHED_WORDS)
        return Way(kind.name, "Generative model", trees, batches, options)
    if flag := given_search_option(*["beam"] if wanted.nbest else []):
        more = ", and for a parser's --nbest" if flag == "--beam" else ""
        raise click.UsageError(f"{flag} is for generative models{more}: {folder} is a parser")
    if wanted.nbest:
        beam = options.beam if flag_given("beam") else max(BEAM, 2 * k)
        if k > beam:
            raise click.UsageError(f"--nbest {k} needs --beam {k} or more")
        find = partial(best, k, beam)
        options = replace(options, beam=beam)
        batches = partial(grouped_for, options)
    elif wanted.samples:
        alpha = FLATTENED if wanted.generator else 1.0
        find, options = partial(drawn, wanted.samples, alpha, wanted.seed), None
        limit = max(1, min(PARSED_WORDS, SAMPLED_WORDS // wanted.samples))
        batches = partial(in_words, limit=limit)
    else:
        find, options, batches = greedy_tree, None, partial(in_words, limit=PARSED_WORDS)
    if wanted.has_posteriors:
        trees = partial(rated_trees, find, wanted.decode == MBR, weight=wanted.weight)
    else:
        trees = partial(parser_trees, find, tagged_tree)
    return Way("discriminative", "Parser", trees, batches, options)


def lines_of(
    writer: TreeWriter, trees_of: Callable, model, batch: Sequence[NumberedSentence], **beside
) -> list[Lines]:
    """Return the lines of each sentence; empty input lines keep their places. `beside` may be a `generator`."""
    trees = in_places(partial(trees_of, model, **beside), batch)
    return [
        writer.lines(ParsedSentence(item.index + 1, item.sentence, of_item))
        for item, of_item in zip(batch, trees, strict=True)
    ]


def without_trees(writer: TreeWriter, item: NumberedSentence) -> Lines:
    """Return the lines that replace a sentence that does not fit into memory."""
    return writer.lines(ParsedSentence(item.index + 1, item.sentence, []))
