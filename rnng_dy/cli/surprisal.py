"""`rnng-dy surprisal`: measure the surprisal of each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count

import click

from oracle.errors import RnngError
from oracle.files import is_replaced
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN
from rnng_dy import registry
from rnng_dy.cli.job import ModelFolder, sentences_job
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import (
    kneser_ney_option,
    open_option,
    order_option,
    output_option,
    seed_option,
    table_format_option,
    unknown_option,
)
from rnng_dy.cli.paths import FILE, GENERATIVE, PAGE, check_files, write_output
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.source import ITSELF, source_options, stimuli_options
from rnng_dy.cli.word_scorers import chosen_baseline, model_of_words, scorer_option
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.merging import read_raw
from rnng_dy.evaluation.records import OF_NEXT_WORD, OPEN_MEASURES, WordRecord, unknown_words_of
from rnng_dy.open_vocabulary import required_spelling, with_open_classes
from rnng_dy.results import Lines, Results
from rnng_dy.search.measured_lines import (
    WantedOutputs,
    line_without_memory,
    searched_lines,
    sequential_lines,
)
from rnng_dy.search.surprisal import SearchOptions, measures_of
from rnng_dy.search.surprisal_outputs import Outputs, Written, measured_sentences, open_outputs
from rnng_dy.search.table_rows import RawLineRows, RegionRows, StimulusRows, TextRows, TokenRows
from rnng_dy.search.trees import NumberedSentence
from rnng_dy.search.unknown_words import LocatedSentence, require_known
from rnng_dy.search.words import MeasuredSentence
from rnng_dy.text.sources import Source
from rnng_dy.text.stimuli import Stimuli, read_stimuli

Message = tuple[Callable[[str], None], str]
"""A function that prints a message, and the message."""


@click.command()
@click.option(
    "--model",
    "folder",
    type=GENERATIVE,
    help="Generative or LSTM language model: folder, archive or name.",
)
@kneser_ney_option
@scorer_option
@order_option
@output_option
@table_format_option
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
@click.option("--trees", type=FILE, help="Write the best complete tree of each sentence.")
@click.option(
    "--beams",
    type=FILE,
    help="Write the partial trees after each word, best first, with log probabilities.",
)
@click.option("--json", type=FILE, help="Write all measures as JSON, one sentence per line.")
@click.option(
    "--html", "page", type=PAGE, help="Write a page with a bar per word and the partial trees."
)
@click.option(
    "--merge",
    "raw",
    type=FILE,
    metavar="[RAW]",
    is_flag=False,
    flag_value=ITSELF,
    help="Write a row per written word, with the surprisals of its tokens added up. RAW is a file with the sentences "
    "of INPUT as they were written, one per line; without RAW, INPUT is running text (--text).",
)
@click.option(
    "--by-region",
    is_flag=True,
    help="With --stimuli: write a row per region, with sums over its words.",
)
@together("outputs", Outputs)
@source_options(*stimuli_options)
@sentences_job
def surprisal(
    folder,
    train_path,
    scorer,
    order,
    source,
    outputs,
    style,
    options,
    seed,
    next_word,
    is_open,
    unknown,
    end,
    raw,
    by_region,
    job,
) -> None:
    """Measure the surprisal of each word in bits, with further measures of the search, as a table.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line. With --text it is running
    text, and with --stimuli a table. Words that the model does not know are read as their classes of unknown words.
    Sentences are numbered from 1; empty lines of INPUT count, but not in running text.

    Example: rnng-dy surprisal --model generator sentences.txt -o surprisals.tsv --html surprisals.html
    """  # fmt: skip
    if [folder, train_path, scorer].count(None) != 2:
        raise click.UsageError("give either --model or --kneser-ney or --scorer")
    baseline = chosen_baseline(train_path, scorer, order)
    raw_path = None if raw == ITSELF else raw
    _check_outputs(outputs, [source.path, raw_path, *(baseline.paths if baseline else [])])
    _check_rows(source, raw, by_region, end)
    stimuli = None if source.column is None else read_stimuli(source.path, source.column or None)
    options = SearchOptions(**options, seed=seed, next_word=next_word)
    wanted = WantedOutputs(end, bool(outputs.trees), outputs.has_beams)
    place = baseline or model_of_words(job.device, folder)
    lines, columns = partial(searched_lines, options, wanted), measures_of(options)
    if not (isinstance(place, ModelFolder) and registry.kind(place.kind).has_trees):
        _refuse_for_words(outputs)
        lines = partial(sequential_lines, wanted, next_word)
        columns = ["surprisal", *(OF_NEXT_WORD if next_word else ())]
    model = job.open_place(place)
    transitions = getattr(model, "transitions", TOP_DOWN)
    if is_open:
        columns = [*columns, *OPEN_MEASURES]
    sentences, rows = _read(source, stimuli, model, columns, style, raw, by_region)
    if unknown == "error":
        located = [LocatedSentence(source.path, s.line, s.tokens, s.unkified) for s in sentences]
        require_known(model, located)
    description = folder if baseline is None else baseline.title
    spellings = None
    if is_open:
        spelling = required_spelling(model, description)
        sentences, spellings = with_open_classes(spelling, sentences)
    items = [NumberedSentence(i, s) for i, s in enumerate(sentences)]
    what = Written(columns, end, transitions, rows, spellings)
    run = partial(
        job.write,
        outputs.output,
        grouped_for(options, items),
        lines,
        partial(line_without_memory, wanted),
        options,
        sentences,
        wanted,
        inputs=[],
    )
    _write(run, outputs, what, description, job.resume, partial(_messages, items, source.path))


def _write(
    run: Callable[..., object],
    outputs: Outputs,
    what: Written,
    description: str,
    resume: bool,
    messages_of: Callable[[Iterable[MeasuredSentence]], Iterable[Message]],
) -> None:
    """Measure sentences and write the outputs: pipes and devices at once, files after the last sentence."""
    written, messages = what.line_outputs(outputs), []
    at_once = [output for output in written if not is_replaced(output.path)]
    if resume:
        # a stopped run may have kept the first sentences, which must be written before those of this run
        at_once = []
    with open_outputs(at_once) as write_at_once:

        def on_lines(lines: Lines) -> None:
            for line in lines if at_once else ():
                write_at_once(MeasuredSentence.from_json(line))

        def make(kept: Results) -> None:
            if outputs.page:
                words = list(map(what.words, count(1), measured_sentences(kept.lines())))
                names = what.rows.names
                page = surprisal_page(words, "Surprisal", description, what.transitions, names)
                write_output(outputs.page, page)
            with open_outputs([output for output in written if output not in at_once]) as write:
                for measured in measured_sentences(kept.lines()):
                    write(measured)
            messages.extend(messages_of(measured_sentences(kept.lines())))

        run(make=make, on_lines=on_lines)
    for tell, message in messages:
        tell(message)


def _check_outputs(outputs: Outputs, inputs: Sequence[str | None]) -> None:
    """Raise RnngError, before the work, for outputs that cannot be written after it."""
    named = [path for path in outputs if path]
    check_files(named, inputs)
    if sum(path in ("-", "/dev/stdout") for path in named) > 1:
        raise RnngError("two outputs go to standard output: name a file for one")


def _check_rows(source: Source, raw: str | None, by_region: bool, end: bool) -> None:
    """Raise UsageError for rows that the input cannot have."""
    has_regions = source.column is not None
    if has_regions and raw is not None:
        raise click.UsageError("--stimuli merges tokens itself: leave out --merge")
    if raw == ITSELF and source.text is None:
        raise click.UsageError("--merge needs the sentences as they were written: --merge RAW")
    if by_region and (end or not has_regions):
        raise click.UsageError(
            "--by-region is for regions of stimuli: "
            + ("leave out --end" if end else "add --stimuli")
        )


def _read(
    source: Source,
    stimuli: Stimuli | None,
    model,
    columns: Sequence[str],
    style: str,
    raw: str | None,
    by_region: bool,
) -> tuple[Sequence[SourceSentence], TokenRows]:
    """Return the sentences of INPUT, and the rows of the table. Raises InputError if words and tokens do not align."""
    if stimuli:
        sentences = stimuli.tokenised(model.segmenter, source.text)
        kind = RegionRows if by_region else StimulusRows
        return sentences, kind(columns, style, sentences, stimuli)
    sentences = list(source.read(lambda: model.segmenter, warn))
    if raw is None:
        return sentences, TokenRows(columns, style)
    if raw == ITSELF:
        return sentences, TextRows(columns, style, sentences)
    lines = read_raw(raw, [s.tokens for s in sentences], source.path)
    return sentences, RawLineRows(columns, style, lines, raw)


def _refuse_for_words(outputs: Outputs) -> None:
    """Raise UsageError for an option on the command line that needs a model with trees."""
    flags = [
        "--trees" if outputs.trees else None,
        "--beams" if outputs.beams else None,
        given_search_option(),
    ]
    flag = next(filter(None, flags), None)
    if flag is not None:
        raise click.UsageError(f"{flag} is for generative models with trees")


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
