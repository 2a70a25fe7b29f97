"""`rnng-dy perplexity`: sequential language models, the baselines of the paper's language model table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import click

from oracle.errors import ImpossibleError
from oracle.files import OracleSentence, open_output, read_oracle, write_likelihoods
from oracle.streams import refuse_input_as_output
from rnng_dy.cli.options import device_option, json_option
from rnng_dy.cli.output import open_model, print_likelihood
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder

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
@json_option
@device_option
def perplexity(
    source, folder, train_path, order, clusters_path, with_eos, output, numbers, device
) -> None:
    """Likelihood and perplexity of the sentences of a generative oracle under a sequential language model.

    As in the paper, the end of a sentence is part of its likelihood and not one of its words.

    Example: rnng-dy perplexity test.gen.oracle --kneser-ney train.gen.oracle
    """
    refuse_input_as_output(output, source, train_path, clusters_path)
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    if folder and clusters_path:
        raise click.UsageError("--clusters is for n-grams: a model has its own")
    sentences = read_oracle(source)
    if folder is None:
        log_probs = _kneser_ney(sentences, train_path, order, clusters_path)
    else:
        log_probs = _lstm(sentences, folder, device)
    log_ps = [sum(found) if found else -math.inf for found in log_probs]
    lengths = [len(sentence.tokens) for sentence in sentences]
    if output:
        with open_output(output) as stream:
            write_likelihoods([(n, -p) for n, p in zip(lengths, log_ps, strict=True)], stream)
    for sentence, log_p in zip(sentences, log_ps, strict=True):
        if log_p == -math.inf:
            click.echo(
                f"{source}:{sentence.line}: p = 0, it has words unseen in training, or does not fit into memory",
                err=True,
            )
    found = print_likelihood(log_ps, [n + with_eos for n in lengths], len(sentences))
    if numbers:
        write_json(numbers, {**found._asdict(), "of": len(sentences)})


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
    model = open_model(ModelFolder("lstm-lm", folder, device), local_executor(1, device))
    examples = [_or_none(lambda s=sentence: model.encode(s.unkified)) for sentence in sentences]
    known = iter(model.log_probs([e for e in examples if e is not None]).tolist())
    found = [None if example is None else tuple(next(known)) for example in examples]
    return [None if pair is None or math.isnan(sum(pair)) else pair for pair in found]


def _or_none(compute: Callable):
    """None where a symbol is unseen, which makes p = 0."""
    try:
        return compute()
    except ImpossibleError:
        return None
