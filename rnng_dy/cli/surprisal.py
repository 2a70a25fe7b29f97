"""`rnng-dy surprisal`: measure the surprisal of each word."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import click

from oracle.common.errors import RnngError, listed
from oracle.common.files import is_replaced
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN
from rnng_dy.cli import inputs
from rnng_dy.cli.job import job_options
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import Command, open_option, outputs_option, together, write_output
from rnng_dy.cli.rules import flag, goes, option
from rnng_dy.cli.signature import SEARCHED, signature
from rnng_dy.drawing.measured_words import FIGURES, FORMS, WordWriter, require_matplotlib
from rnng_dy.evaluation.records import MeasuredSentence, WordRecord, unmeasured
from rnng_dy.evaluation.unknown_words import require_known, unknown_words_of
from rnng_dy.evaluation.word_tables import RegionRows, TokenRows, WordRows
from rnng_dy.search.decoding import without_empty_lines
from rnng_dy.search.scoring import measure_along, require_derivable, tree_sentences
from rnng_dy.search.surprisal import SearchOptions, measure_batch, measures_of, search_batches
from rnng_dy.settings import COUNT
from rnng_dy.text.columns import USUAL
from rnng_dy.text.regions import divided
from rnng_dy.text.sources import NumberedSentence
from rnng_dy.text.spelling import required_spelling, with_open_classes
from rnng_dy.text.stimuli import read_stimuli

SHOWN_CONDITIONS = 12
UNKNOWN = click.Choice(["class", "error"])
OF_TABLES = "with `output` .tsv/.csv"
OF_MEASURES = f"{OF_TABLES}/.jsonl/.html"
"""Rules of options about tables, and about all forms with measures."""


def _kind_of_rows(merge: bool, by_region: bool) -> type[TokenRows]:
    return RegionRows if by_region else WordRows if merge else TokenRows


@click.command(cls=Command)
@inputs.system_option
@outputs_option(FORMS)
@inputs.search_options(
    inputs.seed_option,
    goes("with `search` particles"),
    option("--runs", "Means over N runs.", COUNT, default=1, metavar="N"),
    goes(OF_MEASURES),
    flag("--next-word", "Add the entropy of the next word (slow)."),
)
@open_option
@option("--unknown", "Read unknown words as their classes, or stop.", UNKNOWN, default="class")
@goes(OF_MEASURES)
@flag("--end", "Add a row for the end of each sentence.")
@together(
    "kind",
    _kind_of_rows,
    goes(f"with `is_text`, {OF_TABLES}"),
    flag("--merge", "With --text: a row per written word."),
    goes(f"without `end` or `merge`, {OF_TABLES}"),
    flag("--by-region", "With --stimuli: a row per region."),
)
@goes("without `is_text` or `is_stimuli` or `next_word`")
@flag("--along-trees", "Measure along the trees of INPUT.")
@inputs.columns_options
@inputs.source_options(flag("--stimuli", "INPUT is a table: csv, tsv, xlsx.", "is_stimuli"))
@job_options
def surprisal(
    system, source, columns, outputs, options, is_open, unknown, end, kind, along_trees, job
) -> None:
    """Measure the surprisal of each word in bits, with other measures, as a table.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line. With --text
    it is running text, and with --stimuli a table of stimuli, whose other columns the output has.
    With --along-trees each word is measured in its sentence's own tree, without a search.

    Example: rnng-dy surprisal --model generator sentences.txt -o words.tsv -o page.html
    """  # fmt: skip
    inputs.require_trees(outputs, system, also="along_trees")
    if along_trees and (given := inputs.given_options(*SEARCHED)):
        raise RnngError(f"{given[0]} is for searches, and `along_trees` has none")
    table: Any = source.path
    if source.text is not None:
        texts = [*enumerate(filter(str.strip, source.text.splitlines()), 1)]
        parts = divided(texts, "INPUT", columns.mark, is_usual=True)
        if columns.mark is not None or any(len(regions) > 1 for regions in parts):
            table, source = [{"text": text} for _, text in texts], source._replace(is_stimuli=True)
    if kind is WordRows and source.is_stimuli:
        raise click.UsageError("--merge is for running text without regions")
    if (columns != USUAL or kind is RegionRows) and not source.is_stimuli:
        remedy = "add --stimuli, or | to a text in quotation marks"
        raise click.UsageError(f"columns, marks and regions are those of stimuli: {remedy}")
    if not outputs.keys().isdisjoint(FIGURES):
        require_matplotlib()
        if not source.is_stimuli:
            raise click.UsageError("a figure is of items: add --stimuli")
    measures = measures_of(options, system.has_trees, is_open, along_trees)
    model = job.open(system)
    if source.is_stimuli:
        stimuli = read_stimuli(table, columns)
        if counts := Counter(text.condition for text in stimuli.texts if text.condition):
            items = {text.item for text in stimuli.texts} - {None}
            shown = listed([f"{name} ({n})" for name, n in counts.items()], SHOWN_CONDITIONS)
            say(f"items: {len(items)}; " * bool(items) + f"texts of each condition: {shown}")
        texts = stimuli.tokenised(model.segmenter, source.one_per_line)
        rows = (RegionRows if kind is RegionRows else WordRows)(texts, stimuli, measures)
        sentences = list(chain.from_iterable(texts))
    else:
        sentences = list(tree_sentences(source.path) if along_trees else source.read(model))
        rows = WordRows([[s] for s in sentences]) if kind is WordRows else TokenRows()
    if unknown == "error":
        require_known(model, source.path, sentences)
    spellings = None
    if is_open:
        sentences, spellings = with_open_classes(required_spelling(model, system.title), sentences)
    if along_trees:
        require_derivable(model, source.path, sentences)
    transitions = model.transitions if model.has_trees else TOP_DOWN
    measure = partial(
        _measured,
        options=None if along_trees else options,
        end=end,
        with_trees=".trees" in outputs,
        with_beams=".jsonl" in outputs or ".html" in outputs,
    )
    items = [NumberedSentence(i, s) for i, s in enumerate(sentences)]
    file = next(filter(is_replaced, outputs.values()), None)
    with job.results(file, measure.keywords, sentences) as work:
        for batch in work.map(measure, search_batches(options, items)):
            work.write([[(m or _without_memory(s, end)).to_json()] for (_, s), m in batch])
        # the first output, which names the kept results, comes last
        for form in reversed(outputs):
            writer = WordWriter(form, rows, measures, end, transitions, spellings, signature())
            measured = map(MeasuredSentence.from_json, work.results.lines())
            write_output(outputs[form], writer.parts(measured))
        measured = map(MeasuredSentence.from_json, work.results.lines())
        if message := unknown_words_of(_records(measured, sentences, source.path)):
            hint = "" if is_open or model.spelling is None else "; --open measures these words"
            say(message + hint)


def _measured(
    batch: Sequence[NumberedSentence],
    model: Any,
    options: SearchOptions | None,
    end: bool,
    with_trees: bool,
    with_beams: bool,
) -> Iterator[MeasuredSentence]:
    """Yield the measures of each sentence; an empty sentence has no words.

    Without `options` they are those along its tree.
    """

    def measured(sentences: Sequence[NumberedSentence]) -> Iterable[MeasuredSentence]:
        if options is None:
            return measure_along(model, [item.sentence for item in sentences], end or with_trees)
        return measure_batch(sentences, model, options, end or with_trees)

    for sentence in without_empty_lines(measured, batch, MeasuredSentence([])):
        records = sentence.records
        if not with_beams:
            records = [replace(record, beam=()) for record in records]
        yield sentence._replace(records=records, trees=sentence.trees[:1] if with_trees else ())


def _without_memory(sentence: SourceSentence, end: bool) -> MeasuredSentence:
    tokens = [*sentence.tokens, *([None] if end else [])]
    return MeasuredSentence(unmeasured(tokens), problem="does not fit into memory")


def _records(
    measured: Iterable[MeasuredSentence], sentences: Sequence[SourceSentence], path: str
) -> Iterator[WordRecord]:
    """Yield the records of sentences, and report why some of their measures are not finite."""
    for sentence, whole in zip(sentences, measured, strict=True):
        if whole.problem:
            warn(f"{path}:{sentence.line}: {whole.problem}")
        yield from whole.records
