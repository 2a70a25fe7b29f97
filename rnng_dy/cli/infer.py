"""`rnng-dy parse`, `sample` and `generate`: what trained models are used for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.errors import RnngError
from oracle.files import SourceSentence, format_sample, open_output
from oracle.streams import refuse_input_as_output
from oracle.treebank import format_tree, words
from rnng_dy import registry
from rnng_dy.cli.line_by_line import parse_line_by_line
from rnng_dy.cli.options import (
    ALPHA,
    AT_LEAST_1,
    device_option,
    jobs_option,
    model_option,
    output_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import open_model, run_batches
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
from rnng_dy.execution.batches import batches
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work
from rnng_dy.search.surprisal import SearchOptions

PARSED_WORDS, SAMPLED_WORDS, SEARCHED_WORDS = 600, 100, 100
"""Words in one batch."""


@click.command()
@model_option
@click.argument("source", metavar="INPUT")
@output_option
@tagged_option
@click.option(
    "--line-buffered",
    is_flag=True,
    help="Answer each line of standard input, of words or word_TAG, with its tree before the next one is read; "
    "one that cannot be parsed with an empty line.",
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
    folder, source, output, tagged, line_buffered, nbest, options, jobs, resume, device
) -> None:
    """Parse greedily with a parser, or with the generative model alone by word-synchronous search.

    INPUT is an oracle, trees, or tokenised sentences, one a line, of words or word_TAG. An empty line among sentences
    stays one among the trees. The options of the search are for the generative model.

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
        parse_line_by_line(model, how.open_lines(), tagged)
        return
    items = read_items(model, source, tagged)
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


@click.command()
@model_option
@click.argument("source", metavar="INPUT")
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
@tagged_option
@jobs_option
@resume_option
@device_option
def sample(folder, source, output, n, alpha, seed, tagged, jobs, resume, device) -> None:
    """Draw trees of every sentence of INPUT from the parser, flattened by alpha, with the log q they were drawn with.

    Example: rnng-dy sample --model parser --samples 100 --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    refuse_input_as_output(output, source)
    place, executor = ModelFolder("discriminative", folder, device), local_executor(jobs, device)
    model = open_model(place, executor)
    items = read_items(model, source, tagged)
    sentences = [item.sentence for item in items]
    key = content_hash("sample", n, alpha, seed, sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(items, lambda item: len(item.sentence.tokens), SAMPLED_WORDS))
    samples = partial(_sample_lines, place, n=n, alpha=alpha, seed=seed)
    opened = partial(in_places, samples, [])
    work = Work(executor, opened, lambda item: [])
    run_batches("sample", grouped, work.lines_of, output, key, resume)
    report_unseen(unseen_tags(model, items))
    report_left_out(work.left_out, source)


def _sample_lines(place: ModelFolder, n: int, alpha: float, seed: int) -> LinesOf:
    from rnng_dy.search.sampling import sample_batch

    parser = place.open()
    transitions, unkify = parser.transitions, parser.vocabulary.unknown.unkify

    def lines(batch: Sequence[Item]) -> list[Lines]:
        seeds = [[seed, item.index] for item in batch]
        results = sample_batch(parser, [item.ids for item in batch], n, alpha, seeds)
        return [formatted(item, drawn) for item, drawn in zip(batch, results, strict=True)]

    def formatted(item: Item, drawn: list) -> Lines:
        unkified = item.sentence.unkified or unkify(item.sentence.tokens)
        # most samples of a sentence are equal to another
        trees = {
            key: format_tree(transitions.tree_of(transitions.decode(key), unkified))
            for key in {tuple(actions) for actions, _ in drawn}
        }
        return [format_sample(item.index, log_q, trees[tuple(key)]) for key, log_q in drawn]

    return lines


@click.command()
@model_option
@click.option(
    "-n", "n", type=click.IntRange(min=1), default=10, show_default=True, help="Sentences."
)
@seed_option
@click.option(
    "--max-length",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="A sentence that grows longer is drawn anew.",
)
@click.option("--words", "only_words", is_flag=True, help="Print the words, not the trees.")
@click.option(
    "--or-none",
    is_flag=True,
    help="Print nothing where the model makes only sentences that are too long.",
)
@output_option
@device_option
def generate(folder, n, seed, max_length, only_words, or_none, output, device) -> None:
    """Draw sentences with their trees from the generative model, or words from an LSTM language model.

    XX stands for the tags that trees do not have.

    Example: rnng-dy generate --model generator -n 10 --seed 1
    """  # fmt: skip
    kind = registry.kind_of(folder)
    if kind == "discriminative":
        raise RnngError(f"{folder} is a parser: only models of words can generate them")
    model = open_model(ModelFolder(kind, folder, device), local_executor(1, device))
    try:
        drawn = model.generate(n, seed, max_length)
    except RnngError as error:
        if not or_none:
            raise
        click.echo(f"{folder}: {error}", err=True)
        drawn = []
    with open_output(output) as stream:
        for sentence in drawn:
            if kind == "lstm-lm":
                line = " ".join(sentence)
            else:
                tree, _ = sentence
                line = " ".join(words(tree)) if only_words else format_tree(tree)
            stream.write(f"{line}\n")
