"""`rnng-dy surprisal`: measure the surprisal of each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import NamedTuple

import click

from oracle.files import is_replaced, replacing
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy import registry
from rnng_dy.cli.job import ModelFolder, sentences_job
from rnng_dy.cli.options import (
    kneser_ney_option,
    open_option,
    order_option,
    seed_option,
    unknown_option,
)
from rnng_dy.cli.paths import GENERATIVE, check_files, outputs_option, write_output
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.source import source_options, stimuli_options
from rnng_dy.cli.word_scorers import chosen_baseline, model_of_words, scorer_option
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.records import (
    OF_NEXT_WORD,
    OPEN_MEASURES,
    MeasuredSentence,
    WordRecord,
    unknown_words_of,
    unmeasured,
    with_spellings,
)
from rnng_dy.evaluation.unknown_words import LocatedSentence, require_known
from rnng_dy.evaluation.word_tables import (
    RegionRows,
    TokenRows,
    WordRows,
    best_tree,
    header,
    json_line,
    line,
)
from rnng_dy.open_vocabulary import required_spelling, with_open_classes
from rnng_dy.results import Lines, Results
from rnng_dy.search.surprisal import SearchOptions, measure_batch, measures_of
from rnng_dy.search.trees import in_places
from rnng_dy.text.sources import NumberedSentence, Source
from rnng_dy.text.stimuli import Stimuli, read_stimuli

DEFAULT = "english-generative"
FORMS = {
    ".tsv": "a table",
    ".csv": "a table for spreadsheets",
    ".jsonl": "all measures and the partial trees after each word, a sentence per line",
    ".trees": "the best complete trees",
    ".html": "a page with a bar per word and the partial trees",
}
Message = tuple[Callable[[str], None], str]
"""A function that prints a message, and the message."""


@click.command()
@click.option(
    "--model",
    "folder",
    type=GENERATIVE,
    help=f"Generative or LSTM language model: folder, archive or name.  [default: {DEFAULT}]",
)
@kneser_ney_option
@scorer_option
@order_option
@outputs_option(FORMS)
@search_options
@seed_option
@open_option
@unknown_option
@click.option(
    "--next-word",
    is_flag=True,
    help="Measure the entropy of the next word, too, which takes more time.",
)
@click.option("--end", is_flag=True, help="Add a row for the end of each sentence.")
@click.option(
    "--merge",
    is_flag=True,
    help="With --text: write a row per written word, with the surprisals of its tokens added up.",
)
@click.option(
    "--by-region",
    is_flag=True,
    help="With --stimuli: write a row per region, with sums over its words.",
)
@source_options(*stimuli_options)
@sentences_job
def surprisal(
    folder,
    train_path,
    scorer,
    order,
    source,
    outputs,
    options,
    seed,
    next_word,
    is_open,
    unknown,
    end,
    merge,
    by_region,
    job,
) -> None:
    """Measure the surprisal of each word in bits, with further measures of the search, as a table.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line. With --text it is running
    text, and with --stimuli a table. Words that the model does not know are read as their classes of unknown words.
    Sentences are numbered from 1; empty lines of INPUT count, but not in running text.

    Example: rnng-dy surprisal --model generator sentences.txt -o surprisals.tsv -o surprisals.html
    """  # fmt: skip
    if [folder, train_path, scorer].count(None) < 2:
        raise click.UsageError("give either --model or --kneser-ney or --scorer")
    baseline, folder = chosen_baseline(train_path, scorer, order), folder or DEFAULT
    check_files(list(outputs.values()), [source.path, *(baseline.paths if baseline else [])])
    _check_rows(source, merge, by_region, end)
    stimuli = None if source.column is None else read_stimuli(source.path, source.column or None)
    options = SearchOptions(**options, seed=seed, next_word=next_word)
    wanted = _Wanted(end, ".trees" in outputs, ".jsonl" in outputs or ".html" in outputs)
    place = baseline or model_of_words(job.device, folder)
    columns = measures_of(options)
    if not (isinstance(place, ModelFolder) and registry.kind(place.kind).has_trees):
        flag = given_search_option() or ("-o FILE.trees" if wanted.trees else None)
        if flag is not None:
            raise click.UsageError(f"{flag} is for generative models with trees")
        columns = ["surprisal", *(OF_NEXT_WORD if next_word else ())]
    model = job.open_place(place)
    if is_open:
        columns = [*columns, *OPEN_MEASURES]
    sentences, rows = _read(source, stimuli, model, columns, merge, by_region)
    if unknown == "error":
        located = [LocatedSentence(source.path, s.line, s.tokens, s.unkified) for s in sentences]
        require_known(model, located)
    description = folder if baseline is None else baseline.title
    spellings = None
    if is_open:
        spelling = required_spelling(model, description)
        sentences, spellings = with_open_classes(spelling, sentences)
    items = [NumberedSentence(i, s) for i, s in enumerate(sentences)]
    transitions = getattr(model, "transitions", TOP_DOWN)
    writer = _Writer(rows, columns, end, transitions, spellings, description)
    messages: list[Message] = []
    with ExitStack() as stack:
        write = None if job.resume else writer.direct(outputs, stack)

        def make(kept: Results) -> None:
            for form, path in reversed(outputs.items()):
                if write is None or is_replaced(path) or form == ".html":
                    found = map(MeasuredSentence.from_json, kept.lines())
                    write_output(path, writer.parts(form, found))
            found = map(MeasuredSentence.from_json, kept.lines())
            messages.extend(_messages(items, source.path, found))

        job.write(
            next(iter(outputs.values())),
            grouped_for(options, items),
            partial(_lines, options, wanted),
            partial(_line_without_memory, wanted),
            options,
            sentences,
            wanted,
            inputs=[],
            make=make,
            on_lines=write or (lambda measured: None),
        )
    for tell, message in messages:
        tell(message)


class _Wanted(NamedTuple):
    """What is wanted besides the measures of words."""

    end: bool
    trees: bool
    beams: bool


def _lines(
    options: SearchOptions, wanted: _Wanted, model, batch: Sequence[NumberedSentence]
) -> list[Lines]:
    """Return the measures of each sentence as a line of JSON; an empty sentence has no words."""

    def measured(sentences: Sequence[NumberedSentence]) -> Iterator[MeasuredSentence]:
        for found in measure_batch(options, wanted.end or wanted.trees, model, sentences):
            records = found.records
            if not wanted.beams:
                records = [replace(record, beam=()) for record in records]
            trees = found.trees[:1] if wanted.trees else ()
            yield found._replace(records=records, trees=trees)

    return [[found.to_json()] for found in in_places(measured, batch, MeasuredSentence([]))]


def _line_without_memory(wanted: _Wanted, item: NumberedSentence) -> Lines:
    tokens = [*item.sentence.tokens, *([None] if wanted.end else [])]
    return [MeasuredSentence(unmeasured(tokens), problem="does not fit into memory").to_json()]


class _Writer(NamedTuple):
    """What each output holds."""

    rows: TokenRows
    columns: Sequence[str]
    """The measures."""
    end: bool
    """Whether sentence ends have rows."""
    transitions: TransitionSystem
    spellings: Sequence[Sequence[float]] | None
    """log p of each word's spelling in nats, per sentence; None without an open vocabulary."""
    description: str

    def direct(self, outputs: Mapping[str, str], stack: ExitStack) -> Callable[[Lines], None]:
        """Return a function that writes results to pipes and devices as soon as they are there; not pages."""
        streams = {
            form: stack.enter_context(replacing(path))
            for form, path in outputs.items()
            if not is_replaced(path) and form != ".html"
        }
        numbers = count(1)
        for form, stream in streams.items():
            stream.writelines(f"{text}\n" for text in self.first(form))

        def write(measured: Lines) -> None:
            for text, number in zip(measured, numbers):  # noqa: B905
                for form, stream in streams.items():
                    lines = self.lines(form, number, MeasuredSentence.from_json(text))
                    stream.writelines(f"{line}\n" for line in lines)
                    stream.flush()

        return write

    def parts(self, form: str, sentences: Iterable[MeasuredSentence]) -> Iterable[str]:
        """Return the text of an output in parts."""
        numbered = enumerate(sentences, 1)
        if form == ".html":
            words = [self._words(*item) for item in numbered]
            names = self.description, self.transitions, self.rows.names
            return surprisal_page(words, "Surprisal", *names)
        lines = chain.from_iterable(self.lines(form, *item) for item in numbered)
        return (f"{text}\n" for text in chain(self.first(form), lines))

    def first(self, form: str) -> list[str]:
        """Return the lines before the sentences: the names of a table's columns."""
        is_table = form in (".tsv", ".csv")
        return [header(self.columns, form[1:], self.rows.place)] if is_table else []

    def lines(self, form: str, number: int, measured: MeasuredSentence) -> Iterator[str]:
        """Yield the lines of a sentence, whose number is from 1."""
        words = self._words(number, measured)
        if form == ".trees":
            yield best_tree(measured, self.transitions)
        elif form == ".jsonl":
            fields = self.rows.fields(number, len(words))
            yield json_line(words, number, self.columns, self.transitions, fields)
        else:
            yield from (line(row, self.columns, form[1:]) for row in self.rows.of(number, words))

    def _words(self, number: int, measured: MeasuredSentence) -> list[WordRecord]:
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]


def _check_rows(source: Source, merge: bool, by_region: bool, end: bool) -> None:
    """Raise UsageError for rows that the input cannot have."""
    has_regions = source.column is not None
    if has_regions and merge:
        raise click.UsageError("--stimuli merges tokens itself: leave out --merge")
    if merge and source.text is None:
        raise click.UsageError("--merge is for running text: add --text")
    if by_region and (end or not has_regions):
        remedy = "leave out --end" if end else "add --stimuli"
        raise click.UsageError(f"--by-region is for regions of stimuli: {remedy}")


def _read(
    source: Source,
    stimuli: Stimuli | None,
    model,
    columns: Sequence[str],
    merge: bool,
    by_region: bool,
) -> tuple[Sequence[SourceSentence], TokenRows]:
    """Return the sentences of INPUT, and the rows of the table."""
    if stimuli:
        sentences = stimuli.tokenised(model.segmenter, source.text)
        return sentences, (RegionRows if by_region else WordRows)(sentences, stimuli, columns)
    sentences = list(source.read(lambda: model.segmenter, warn))
    return sentences, WordRows(sentences) if merge else TokenRows()


def _messages(
    items: Sequence[NumberedSentence], source: str, found: Iterable[MeasuredSentence]
) -> list[Message]:
    """Return the messages and warnings about the sentences."""
    problems: list[Message] = []

    def records() -> Iterator[WordRecord]:
        for item, measured in zip(items, found, strict=True):
            if measured.problem:
                problems.append((warn, f"{source}:{item.sentence.line}: {measured.problem}"))
            yield from measured.records

    unknown = unknown_words_of(records())
    return [*problems, (say, unknown)] if unknown else problems
