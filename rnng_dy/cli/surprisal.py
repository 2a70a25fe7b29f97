"""`rnng-dy surprisal`: measure the surprisal of each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import click

from oracle.common.errors import listed
from oracle.transitions import TOP_DOWN
from rnng_dy.cli import inputs
from rnng_dy.cli.job import Lines, Results, job_options
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import Command, open_option, outputs_option, write_output
from rnng_dy.cli.rules import goes
from rnng_dy.drawing.measured_words import FORMS, WordWriter, require_matplotlib
from rnng_dy.evaluation.records import MeasuredSentence, WordRecord, unmeasured
from rnng_dy.evaluation.unknown_words import require_known, unknown_words_of
from rnng_dy.evaluation.word_tables import RegionRows, TokenRows, WordRows
from rnng_dy.search.decoding import in_places
from rnng_dy.search.surprisal import SearchOptions, measure_batch, measures_of, search_batches
from rnng_dy.text.columns import USUAL
from rnng_dy.text.regions import divided
from rnng_dy.text.sources import NumberedSentence
from rnng_dy.text.spelling import required_spelling, with_open_classes
from rnng_dy.text.stimuli import read_stimuli

SHOWN_CONDITIONS = 12
OF_TABLES = "with `output` .tsv/.csv"
OF_MEASURES = f"{OF_TABLES}/.jsonl/.html"
"""Rules of options about tables, and about all forms with measures."""


@click.command(cls=Command)
@inputs.system_option
@outputs_option(FORMS)
@inputs.search_options()
@inputs.seed_option
@open_option
@click.option(
    "--unknown",
    type=click.Choice(["class", "error"]),
    default="class",
    help="Read unknown words as their classes, or stop.",
)
@goes(OF_MEASURES)
@click.option("--next-word", is_flag=True, help="Add the entropy of the next word (slow).")
@goes(OF_MEASURES)
@click.option("--end", is_flag=True, help="Add a row for the end of each sentence.")
@goes(f"with `is_text`, {OF_TABLES}")
@click.option("--merge", is_flag=True, help="With --text: a row per written word.")
@goes(f"without `end`, {OF_TABLES}")
@click.option("--by-region", is_flag=True, help="With --stimuli: a row per region.")
@inputs.columns_options
@inputs.source_options(
    click.option("--stimuli", "is_stimuli", is_flag=True, help="INPUT is a table: csv, tsv, xlsx.")
)
@job_options
def surprisal(
    system, source, columns, outputs, options, is_open, unknown, end, merge, by_region, job
) -> None:
    """Measure the surprisal of each word in bits, with other measures, as a table.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line. With --text
    it is running text, and with --stimuli a table of stimuli, whose columns the output has.

    Example: rnng-dy surprisal --model generator sentences.txt -o words.tsv -o page.html
    """  # fmt: skip
    inputs.require_trees(outputs, system)
    table: Any = source.path
    if source.given is not None:
        texts = [*enumerate(filter(str.strip, source.given.splitlines()), 1)]
        parts = divided(texts, "INPUT", columns.mark, is_usual=True)
        if columns.mark is not None or any(len(regions) > 1 for regions in parts):
            table, source = [{"text": text} for _, text in texts], source._replace(is_stimuli=True)
    if merge and source.is_stimuli:
        raise click.UsageError("--merge is for running text without regions")
    if (columns != USUAL or by_region) and not source.is_stimuli:
        raise click.UsageError(
            "columns, marks and regions are those of stimuli: add --stimuli, or | to a text in quotation marks"
        )
    if ".svg" in outputs:
        require_matplotlib()
        if not source.is_stimuli:
            raise click.UsageError("a figure is of items: add --stimuli")
    measures = measures_of(options, system.has_trees, is_open)
    model = job.open(system)
    if source.is_stimuli:
        stimuli = read_stimuli(table, columns)
        if counts := Counter(text.condition for text in stimuli.texts if text.condition):
            items = {text.item for text in stimuli.texts} - {None}
            shown = listed([f"{name} ({n})" for name, n in counts.items()], SHOWN_CONDITIONS)
            say(f"items: {len(items)}; " * bool(items) + f"texts of each condition: {shown}")
        texts = stimuli.tokenised(model.segmenter, source.one_per_line)
        rows = (RegionRows if by_region else WordRows)(texts, stimuli, measures)
        sentences = list(chain.from_iterable(texts))
    else:
        sentences = list(source.read(model))
        rows = WordRows([[s] for s in sentences]) if merge else TokenRows()
    if unknown == "error":
        require_known(model, source.path, sentences)
    spellings = None
    if is_open:
        sentences, spellings = with_open_classes(required_spelling(model, system.title), sentences)
    transitions = getattr(model, "transitions", TOP_DOWN)
    writers = {
        path: WordWriter(form, rows, measures, end, transitions, spellings, system.title)
        for form, path in outputs.items()
    }

    def make(kept: Results) -> None:
        # the first output, which names the kept results, comes last
        for path in reversed(writers):
            found = map(MeasuredSentence.from_json, kept.lines())
            write_output(path, writers[path].parts(found))

        def records() -> Iterator[WordRecord]:
            for sentence, text in zip(sentences, kept.lines(), strict=True):
                measured = MeasuredSentence.from_json(text)
                if measured.problem:
                    warn(f"{source.path}:{sentence.line}: {measured.problem}")
                yield from measured.records

        if message := unknown_words_of(records()):
            hint = "" if is_open or model.spelling is None else "; --open measures these words"
            say(message + hint)

    wanted = end, ".trees" in outputs, ".jsonl" in outputs or ".html" in outputs
    job.write(
        next(iter(writers)),
        search_batches(options, [NumberedSentence(i, s) for i, s in enumerate(sentences)]),
        partial(_lines, options, *wanted),
        partial(_line_without_memory, end),
        options,
        sentences,
        wanted,
        inputs=[],
        make=make,
    )


def _lines(
    options: SearchOptions,
    end: bool,
    with_trees: bool,
    with_beams: bool,
    model,
    batch: Sequence[NumberedSentence],
) -> list[Lines]:
    """Return the measures of each sentence as a line of JSON; an empty sentence has no words."""
    lines = []
    measured = partial(measure_batch, options, end or with_trees, model)
    for found in in_places(measured, batch, MeasuredSentence([])):
        records = found.records
        if not with_beams:
            records = [replace(record, beam=()) for record in records]
        trees = found.trees[:1] if with_trees else ()
        lines.append([found._replace(records=records, trees=trees).to_json()])
    return lines


def _line_without_memory(end: bool, item: NumberedSentence) -> Lines:
    tokens = [*item.sentence.tokens, *([None] if end else [])]
    return [MeasuredSentence(unmeasured(tokens), problem="does not fit into memory").to_json()]
