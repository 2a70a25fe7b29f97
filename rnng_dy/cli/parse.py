"""`rnng-dy parse`: parse sentences with the parser or with the generative model alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.files import is_replaced
from oracle.parsed import ParsedSentence, ScoredTree
from rnng_dy import registry
from rnng_dy.cli.job import sentences_job
from rnng_dy.cli.option_groups import flag_given
from rnng_dy.cli.paths import MODEL, check_files, outputs_option, write_output
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.source import in_words, parser_source, reader_of
from rnng_dy.cli.tree_formats import MBR, Wanted, columns_of, wanted_trees
from rnng_dy.drawing.parsed_trees import DRAWINGS, FORMS, TreeWriter
from rnng_dy.results import Lines, Results
from rnng_dy.search.nbest import BEAM
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.search.surprisal import SEARCHES, SearchOptions
from rnng_dy.search.trees import (
    NumberedSentence,
    as_read,
    best,
    drawn,
    greedy_tree,
    in_places,
    mbr_trees,
    parser_trees,
    search_trees,
    tagged_tree,
)

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 10_000
"""Words in one batch; when sampling, each word counts once per sample."""


@click.command()
@click.option(
    "--model", "folder", type=MODEL, default="english", help="Model folder, archive or name."
)
@outputs_option(FORMS)
@parser_source
@wanted_trees
@search_options
@sentences_job
def parse(folder, source, outputs, wanted, options, job) -> None:
    """Parse sentences: greedily with a parser, or by word-synchronous search with a generative model.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line, as words or, with
    --tagged, as word_TAG. With --text it is running text. An empty line of a text gives an empty line of the output.

    With a parser, --nbest K searches for the K best trees: after each action it keeps the --beam most probable
    partial trees (default: the larger of 20 and 2K) and the greedy one. --decode mbr makes one tree of --samples trees,
    drawn from q(y | x) without flattening. The other search options are for generative models. With --generator both
    models decide, which gives the best trees and takes the longest.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """  # fmt: skip
    paths = list(outputs.values())
    check_files(paths, [source.path])
    way = way_to_parse(folder, wanted, SearchOptions(**options, seed=wanted.seed))
    reader = reader_of(job.open(way.kind, folder), source)
    if wanted.generator:
        job.open("generative", wanted.generator)
    several = wanted.nbest is not None
    writers = {path: TreeWriter(form, several, columns_of(path)) for form, path in outputs.items()}
    is_made = len(outputs) > 1 or any(form in outputs for form in DRAWINGS)
    writer = TreeWriter(".jsonl", several, columns_of("")) if is_made else writers[paths[0]]
    decides = wanted._replace(generator=None), way.options, source._replace(path=""), writer.form

    def make(kept: Results) -> None:
        title = f"Trees of {'standard input' if source.path == '-' else Path(source.path).name}"
        for path, of_path in writers.items():
            write_output(path, of_path.parts(kept.lines(), title, f"{way.name} {folder}"))

    left_out = job.write(
        next(filter(is_replaced, paths), paths[0]),
        way.batches(reader.sentences()),
        partial(lines_of, writer, way.trees),
        partial(without_trees, writer),
        *decides,
        inputs=[source.path],
        make=make if is_made else None,
    )
    reader.report(left_out)


class Way(NamedTuple):
    """How a kind of model parses sentences."""

    kind: str
    name: str
    trees: Callable[..., list[list[ScoredTree]]]
    """Function from a model and a batch to the trees per sentence."""
    batches: Callable[[Iterable[NumberedSentence]], Iterable[Sequence[NumberedSentence]]]
    options: SearchOptions | None = None
    """The options of the search on which the output depends; None if there is none."""


def way_to_parse(folder: str, wanted: Wanted, options: SearchOptions) -> Way:
    """Return how a model in a folder makes the trees that are wanted. Raises UsageError if it cannot."""
    kind, k = registry.kind_of(folder), wanted.nbest or 1
    if kind.generates_words and kind.has_trees:
        if wanted.decode == MBR:
            flag = "--generator" if wanted.generator else "--decode mbr"
            raise click.UsageError(f"{flag} is for a parser, or for samples: `rnng-dy rerank`")
        if k > options.word_beam and "word_beam" in SEARCHES[options.search].reads:
            raise click.UsageError(f"--nbest {k} needs --word-beam {k} or more")
        trees = partial(search_trees, options, k)
        batches = partial(in_words, limit=SEARCHED_WORDS)
        return Way(kind.kind, "Generative model", trees, batches, options)
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
    elif wanted.decode == MBR:
        alpha = FLATTENED if wanted.generator else 1.0
        draw = partial(drawn, wanted.samples, alpha, wanted.seed)
        limit = max(1, min(PARSED_WORDS, SAMPLED_WORDS // wanted.samples))
        trees = partial(mbr_trees, draw, wanted.weight)
        return Way("discriminative", "Parser", trees, partial(in_words, limit=limit))
    else:
        find, options, batches = greedy_tree, None, partial(in_words, limit=PARSED_WORDS)
    trees = partial(parser_trees, find, tagged_tree)
    return Way("discriminative", "Parser", trees, batches, options)


def lines_of(writer: TreeWriter, trees_of: Callable, *models_and_batch) -> list[Lines]:
    """Return the lines of each sentence; empty input lines keep their places.

    The last arguments are the parser, perhaps a generative model that decides beside it, and the batch.
    """
    *models, batch = models_and_batch
    batch = as_read(models[0], batch)
    trees = in_places(partial(trees_of, *models), batch)
    return [
        writer.lines(ParsedSentence(item.index + 1, item.sentence, of_item))
        for item, of_item in zip(batch, trees, strict=True)
    ]


def without_trees(writer: TreeWriter, item: NumberedSentence) -> Lines:
    """Return the lines that replace a sentence that does not fit into memory."""
    return writer.lines(ParsedSentence(item.index + 1, item.sentence, []))
