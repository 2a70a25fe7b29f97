"""`rnng-dy perplexity`: sequential language models, the baselines of the paper's language model table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import click

from oracle.files import OracleSentence, format_likelihood, open_output, read_oracle
from rnng_dy.cli.options import device_option
from rnng_dy.importance import perplexity as perplexity_of

LogProbs = list[tuple[float, float] | None]
"""Of each sentence: log p in nats of its words, and of its end; None where p = 0."""


@click.command()
@click.argument("source", metavar="ORACLE")
@click.option("--model", "folder", help="Folder of an LSTM language model.")
@click.option(
    "--kneser-ney",
    "train_path",
    metavar="TRAIN.oracle",
    help="Instead: interpolated modified Kneser-Ney n-grams of this training oracle.",
)
@click.option(
    "--order", type=click.IntRange(min=1), default=5, show_default=True, help="The n of n-grams."
)
@click.option(
    "--clusters",
    "clusters_path",
    help="For n-grams: a clusters file with words that training has not.",
)
@click.option("--with-eos", is_flag=True, help="Count the end of each sentence as a word.")
@click.option("-o", "--output", help="Write words and -log p of each sentence, as `score` does.")
@device_option
def perplexity(source, folder, train_path, order, clusters_path, with_eos, output, device) -> None:
    """Likelihood and perplexity of the sentences of a generative oracle under a sequential language model.

    As in the paper, the end of a sentence is part of its likelihood and not one of its words.

    Example: rnng-dy perplexity test.gen.oracle --kneser-ney train.gen.oracle
    """
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    if folder and clusters_path:
        raise click.UsageError("--clusters is for n-grams: a model has its own")
    sentences = read_oracle(source)
    if folder is None:
        log_probs = _kneser_ney(sentences, train_path, order, clusters_path)
    else:
        log_probs = _lstm(sentences, folder, device)
    if output:
        with open_output(output) as stream:
            for sentence, found in zip(sentences, log_probs, strict=True):
                log_p = sum(found) if found else -math.inf
                stream.write(format_likelihood(len(sentence.tokens), -log_p) + "\n")
    scorable = [
        (sum(found), len(sentence.tokens) + with_eos)
        for sentence, found in zip(sentences, log_probs, strict=True)
        if found
    ]
    llh, ppl, words = (
        perplexity_of(*zip(*scorable, strict=True)) if scorable else (0.0, math.nan, 0)
    )
    for sentence, found in zip(sentences, log_probs, strict=True):
        if not found:
            click.echo(
                f"{source}:{sentence.line}: p = 0, it has words unseen in training, or does not fit into memory",
                err=True,
            )
    if len(scorable) < len(sentences):
        click.echo(
            f"{len(sentences) - len(scorable)} of {len(sentences)} sentences have p = 0 and are left out",
            err=True,
        )
    click.echo(f"sentences={len(scorable)} of {len(sentences)}")
    click.echo(f"len={words} words")
    click.echo(f"LLH={llh:.15g}")
    click.echo(f"PPL={ppl:.15g}")


def _kneser_ney(
    sentences: Sequence[OracleSentence], train_path: str, order: int, clusters_path: str | None
) -> LogProbs:
    from clusters.files import read_clusters
    from rnng_dy.baselines.kneser_ney import KneserNey

    train = read_oracle(train_path)
    vocabulary = [entry.word for entry in read_clusters(clusters_path)] if clusters_path else []
    model = KneserNey([s.unkified for s in train], vocabulary, order)
    return [_or_none(lambda s=sentence: model.log_prob(s.unkified)) for sentence in sentences]


def _lstm(sentences: Sequence[OracleSentence], folder: str, device: str) -> LogProbs:
    from rnng_dy.cli.work import Place

    model = Place("lstm-lm", folder, device, 1).open()
    examples = [_or_none(lambda s=sentence: model.encode(s.unkified)) for sentence in sentences]
    known = iter(model.log_probs([e for e in examples if e is not None]).tolist())
    found = [None if example is None else tuple(next(known)) for example in examples]
    return [None if pair is None or math.isnan(sum(pair)) else pair for pair in found]


def _or_none(compute: Callable):
    """None where a symbol is unseen, which makes p = 0."""
    from rnng_dy.vocabulary import UnseenSymbolError

    try:
        return compute()
    except UnseenSymbolError:
        return None
