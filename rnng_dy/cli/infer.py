"""`rnng-dy parse`, `sample`, `score` and `generate`: what trained models are used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from oracle.errors import InputError, RnngError
from oracle.files import SourceSentence, format_sample, open_output, read_sentences
from oracle.treebank import format_tree, words
from rnng_dy import registry
from rnng_dy.cli.options import (
    ALPHA,
    device_option,
    jobs_option,
    model_option,
    output_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import run_batches
from rnng_dy.execution.batches import batches
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import content_hash
from rnng_dy.execution.work import Lines, ModelFolder, Work

PARSED_WORDS, SAMPLED_WORDS = 600, 100
"""Words in one graph; more are slower to schedule."""


class Item(NamedTuple):
    """A sentence to parse or sample."""

    index: int
    sentence: SourceSentence
    ids: object
    """The parser's `Tokens`; None for an empty line."""


tagged_option = click.option(
    "--tagged/--untagged",
    default=None,
    help="Whether tokens are word_TAG.  [default: they are where each has an underscore with a tag in capitals or "
    "marks after it; where that may be part of a word, as in snake_case, the text is refused]",
)


@click.command()
@model_option
@click.argument("source", metavar="INPUT")
@output_option
@tagged_option
@jobs_option
@resume_option
@device_option
def parse(folder, source, output, tagged, jobs, resume, device) -> None:
    """Parse greedily. INPUT is an oracle, trees, or tokenised sentences, one a line, of words or word_TAG.

    An empty line among sentences stays one among the trees.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """
    place, executor = ModelFolder("discriminative", folder, device), local_executor(jobs, device)
    executor.prepare()
    model = place.open()
    sentences = _read(source, tagged, model)
    items = _encode(model, sentences, source)
    key = content_hash("parse", sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(items, lambda item: len(item.sentence.tokens), PARSED_WORDS))
    # an empty line keeps the others in their places
    opened = partial(_lines_in_place, partial(_parse_lines, place), [""])
    work = Work(executor, opened, lambda item: [""])
    run_batches("parse", grouped, work.lines_of, output, key, resume)
    _report_unseen(model, sentences)
    _report_left_out(work.left_out, source)


def _parse_lines(place: ModelFolder) -> Callable[[Sequence[Item]], list[Lines]]:
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
    place, executor = ModelFolder("discriminative", folder, device), local_executor(jobs, device)
    executor.prepare()
    model = place.open()
    sentences = _read(source, tagged, model)
    items = _encode(model, sentences, source)
    key = content_hash("sample", n, alpha, seed, sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(items, lambda item: len(item.sentence.tokens), SAMPLED_WORDS))
    samples = partial(_sample_lines, place, n=n, alpha=alpha, seed=seed)
    opened = partial(_lines_in_place, samples, [])
    work = Work(executor, opened, lambda item: [])
    run_batches("sample", grouped, work.lines_of, output, key, resume)
    _report_unseen(model, sentences)
    _report_left_out(work.left_out, source)


def _sample_lines(
    place: ModelFolder, n: int, alpha: float, seed: int
) -> Callable[[Sequence[Item]], list[Lines]]:
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
    local_executor(1, device).prepare()
    model = ModelFolder(kind, folder, device).open()
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


def _read(source: str, tagged: bool | None, parser) -> list[SourceSentence]:
    """The sentences of INPUT; those that are empty lines are named."""
    sentences = read_sentences(source, tagged, parser.vocabulary.tags)
    empty = [str(sentence.line) for sentence in sentences if not sentence.tokens]
    if empty:
        more = ", ..." if len(empty) > 5 else ""
        click.echo(
            f"{source}: empty lines, whose places stay empty: {', '.join(empty[:5])}{more} ({len(empty)} in all)",
            err=True,
        )
    return sentences


def _lines_in_place(
    open_lines: Callable[[], Callable[[Sequence[Item]], list[Lines]]], of_empty: Lines
) -> Callable[[Sequence[Item]], list[Lines]]:
    """The lines of sentences, and `of_empty` in the places of empty lines."""
    lines_of = open_lines()

    def lines(batch: Sequence[Item]) -> list[Lines]:
        sentences = [item for item in batch if item.sentence.tokens]
        found = iter(lines_of(sentences) if sentences else ())
        return [next(found) if item.sentence.tokens else of_empty for item in batch]

    return lines


def _encode(parser, sentences: Sequence[SourceSentence], source: str) -> list[Item]:
    """The sentences with the parser's ids; an error names the sentence's line."""
    encoded = []
    for index, sentence in enumerate(sentences):
        ids = None
        try:
            if sentence.tokens:
                ids = parser.encode(sentence.tokens, sentence.tags, sentence.unkified)
        except RnngError as error:
            raise InputError(str(error), source, sentence.line) from None
        encoded.append(Item(index, sentence, ids))
    return encoded


def _report_unseen(parser, sentences: Sequence[SourceSentence]) -> None:
    """Name the tags that the parser had to take for an unknown one."""
    tags = parser.vocabulary.tags
    if tags is None:
        return
    unseen = Counter(tag for s in sentences for tag in s.tags if tag not in tags)
    if unseen:
        names = ", ".join(f"{tag} ({count})" for tag, count in unseen.most_common())
        click.echo(f"POS tags unseen in training, taken for an average tag: {names}", err=True)


def _report_left_out(items: Sequence[Item], source: str) -> None:
    """Name the sentences that do not fit into memory."""
    for item in items:
        click.echo(
            f"{source}:{item.sentence.line}: left out: {len(item.sentence.tokens)} words do not fit into memory",
            err=True,
        )
    if items:
        click.echo(f"{len(items)} sentences left out", err=True)
