"""`rnng-dy parse`, `sample`, `score` and `generate`: what trained models are used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import click

from oracle.errors import InputError, RnngError
from oracle.files import (
    SourceSentence,
    format_likelihood,
    format_sample,
    is_samples_file,
    open_output,
    read_samples,
    read_sentences,
)
from oracle.transitions import actions_of, tree_of
from oracle.treebank import format_tree, read_trees, words
from rnng_dy import engine
from rnng_dy.batches import batches
from rnng_dy.cli.options import device_option, model_option, output_option, seed_option
from rnng_dy.cli.output import fingerprint, run_batches

resume_option = click.option(
    "--resume", is_flag=True, help="Go on with the part that a stopped run left."
)


@click.command()
@model_option
@click.argument("source", metavar="INPUT")
@output_option
@click.option(
    "--tagged/--untagged",
    default=None,
    help="Whether tokens are word_TAG.  [default: see for itself]",
)
@resume_option
@device_option
def parse(folder, source, output, tagged, resume, device) -> None:
    """Parse greedily. INPUT is an oracle, trees, or tokenised sentences, one a line, of words or word_TAG.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """
    sentences = read_sentences(source, tagged=tagged)
    engine.start(device)
    from rnng_dy.discriminative import DiscriminativeParser
    from rnng_dy.vocabulary import NO_TAG

    parser = DiscriminativeParser.load(folder)
    decode = parser.vocabulary.actions.decode

    encoded = _encode(parser, sentences, source)

    def trees(batch: Sequence[int]) -> list[str]:
        lines = []
        results = parser.parse_batch([encoded[i] for i in batch])
        for s, (actions, _) in zip((sentences[i] for i in batch), results, strict=True):
            tags = s.tags or [NO_TAG] * len(s.tokens)
            lines.append(format_tree(tree_of(decode(actions), s.tokens, tags)))
        return lines

    key = fingerprint("parse", sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(range(len(sentences)), lambda i: len(sentences[i].tokens), 600))
    run_batches("parse", grouped, trees, len, output, key, resume)
    _report_unseen(parser, sentences)


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
    type=click.FloatRange(min=0),
    default=0.8,
    show_default=True,
    help="Exponent that flattens the distribution drawn from; 1 leaves it as it is.",
)
@seed_option
@click.option(
    "--tagged/--untagged",
    default=None,
    help="Whether tokens are word_TAG.  [default: see for itself]",
)
@resume_option
@device_option
def sample(folder, source, output, n, alpha, seed, tagged, resume, device) -> None:
    """Draw trees of every sentence of INPUT from the parser, flattened by alpha, with the log q they were drawn with.

    Example: rnng-dy sample --model parser --samples 100 --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    sentences = read_sentences(source, tagged=tagged)
    engine.start(device)
    from rnng_dy.discriminative import DiscriminativeParser
    from rnng_dy.sampler import sample_batch

    parser = DiscriminativeParser.load(folder)
    decode, unkify = parser.vocabulary.actions.decode, parser.vocabulary.unknown.unkify

    encoded = _encode(parser, sentences, source)

    def samples(batch: Sequence[int]) -> list[str]:
        seeds = [[seed, i] for i in batch]
        lines = []
        results = sample_batch(parser, [encoded[i] for i in batch], n, alpha, seeds)
        for i, drawn in zip(batch, results, strict=True):
            unkified = sentences[i].unkified or unkify(sentences[i].tokens)
            # most samples of a sentence are equal to another
            texts = {}
            for actions, log_q in drawn:
                text = texts.get(tuple(actions))
                if text is None:
                    text = texts[tuple(actions)] = format_tree(tree_of(decode(actions), unkified))
                lines.append(format_sample(i, log_q, text))
        return lines

    key = fingerprint("sample", n, alpha, seed, sentences, Path(folder, "parameters.npz"))
    grouped = list(batches(range(len(sentences)), lambda i: len(sentences[i].tokens), 25))
    run_batches("sample", grouped, samples, lambda batch: n * len(batch), output, key, resume)
    _report_unseen(parser, sentences)


class _ScoredTree(NamedTuple):
    """A tree to score: its sentence, its unkified words and its actions."""

    sentence: int
    words: tuple[str, ...]
    actions: tuple[str, ...]


@click.command()
@model_option
@click.argument("source", metavar="SAMPLES")
@output_option
@resume_option
@device_option
def score(folder, source, output, resume, device) -> None:
    """Joint likelihoods of the trees of a samples file, or of a file of trees: words, tab, -log p(x, y) in nats.

    Example: rnng-dy score --model generator test.props -o test.likelihoods
    """
    engine.start(device)
    from rnng_dy.generative import GenerativeModel
    from rnng_dy.vocabulary import UnseenSymbolError

    model = GenerativeModel.load(folder)
    trees = _trees_to_score(source, model)
    groups = [list(group) for _, group in groupby(trees, lambda tree: tree.sentence)]
    unseen: dict[int, tuple[str, ...]] = {}

    def likelihoods(group: Sequence[_ScoredTree]) -> list[str]:
        examples = {}
        for tree in group:
            try:
                examples[tree] = model.encode(tree.words, tree.actions)
            except UnseenSymbolError as error:
                unseen[tree.sentence] = error.symbols
        log_probs = dict.fromkeys(group, float("-inf"))
        if examples:
            sequences = [example.actions for example in examples.values()]
            first = next(iter(examples.values()))
            values = model.joint_log_probs(first.words, sequences)
            log_probs.update(zip(examples, values.tolist(), strict=True))
        return [format_likelihood(len(tree.words), -log_probs[tree]) for tree in group]

    key = fingerprint("score", trees, Path(folder, "parameters.npz"))
    run_batches("score", groups, likelihoods, len, output, key, resume, unit="trees")
    for sentence, symbols in sorted(unseen.items()):
        click.echo(
            f"sentence {sentence}: p = 0, unseen in training: {', '.join(symbols)}", err=True
        )
    if unseen:
        click.echo(f"{len(unseen)} of {len(groups)} sentences have trees with p = 0", err=True)


def _trees_to_score(source: str, model) -> list[_ScoredTree]:
    """The trees of a samples file (words as they are) or of a tree file (words made UNK classes)."""
    if is_samples_file(source):
        return [
            _ScoredTree(
                s.index, tuple(s.tree.leaves()), tuple(actions_of(s.tree, preterminals=False))
            )
            for s in read_samples(source)
        ]
    return [
        _ScoredTree(
            i, tuple(model.vocabulary.unkify(words(located.tree))), tuple(actions_of(located.tree))
        )
        for i, located in enumerate(read_trees(source))
    ]


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
@output_option
@device_option
def generate(folder, n, seed, max_length, output, device) -> None:
    """Draw sentences with their trees from the generative model; XX stands for the tags it does not have.

    Example: rnng-dy generate --model generator -n 10 --seed 1
    """  # fmt: skip
    engine.start(device)
    from rnng_dy.generative import GenerativeModel

    model = GenerativeModel.load(folder)
    with open_output(output) as stream:
        for tree, _ in model.generate(n, seed, max_length):
            stream.write(format_tree(tree) + "\n")


def _encode(parser, sentences: Sequence[SourceSentence], source: str) -> list:
    """The sentences as the parser's ids; an error names the sentence's line."""
    encoded = []
    for sentence in sentences:
        try:
            encoded.append(parser.encode(sentence.tokens, sentence.tags, sentence.unkified))
        except RnngError as error:
            raise InputError(str(error), source, sentence.line) from None
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
