"""`rnng-dy perplexity`: the baselines of the paper's language model table, and the generative model by its searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import click

from oracle.errors import ImpossibleError
from oracle.files import OracleSentence, open_output, read_oracle, write_likelihoods
from rnng_dy import registry
from rnng_dy.cli.marginals import Marginal, print_search, sampled_marginals, search_marginals
from rnng_dy.cli.options import (
    device_option,
    json_option,
    kneser_ney_option,
    order_option,
    resume_option,
    seed_option,
)
from rnng_dy.cli.output import open_model, print_likelihood
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE, FOLDER
from rnng_dy.cli.searching import search_options
from rnng_dy.cli.workers import workers_options
from rnng_dy.execution.local import local_executor
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder
from rnng_dy.search.surprisal import SearchOptions

LogProbs = list[tuple[float, float] | None]
"""Of each sentence: log p in nats of its words, and of its end; None where p = 0."""


@click.command()
@click.argument("source", type=FILE, metavar="ORACLE")
@click.option(
    "--model", "folder", type=FOLDER, help="Folder of a generative or LSTM language model."
)
@kneser_ney_option
@order_option
@click.option(
    "--clusters",
    "clusters_path",
    type=FILE,
    help="For n-grams: a clusters file with words that training has not.",
)
@click.option("--with-eos", is_flag=True, help="Count the end of each sentence as a word.")
@click.option(
    "-o", "--output", type=FILE, help="Write words and -log p of each sentence, as `score` does."
)
@json_option
@search_options
@seed_option
@click.option(
    "--samples",
    type=FILE,
    metavar="PROPS",
    help="Of the same sentences, to set importance sampling beside the search; with --likelihoods.",
)
@click.option("--likelihoods", type=FILE, help="Of the samples, from `score`.")
@click.option("--trees", type=FILE, help="Write the best tree that the search finds of each.")
@workers_options()
@resume_option
@device_option
def perplexity(
    source,
    folder,
    train_path,
    order,
    clusters_path,
    with_eos,
    output,
    numbers,
    options,
    seed,
    samples,
    likelihoods,
    trees,
    workers,
    resume,
    device,
) -> None:
    """Likelihood and perplexity of the sentences of a generative oracle under a model of words.

    As in the paper, the end of a sentence is part of its likelihood and not one of its words. The generative model's
    probabilities are sums over the derivations that a search finds: with a beam, lower bounds. The options of searches
    and samples, --trees, --jobs, --scheduler and --resume are for it.

    Example: rnng-dy perplexity test.gen.oracle --model generator --samples test.props --likelihoods test.likelihoods
    """  # fmt: skip
    inputs = [source, train_path, clusters_path, samples, likelihoods]
    check_files([output, numbers, trees], inputs)
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    if folder and clusters_path:
        raise click.UsageError("--clusters is for n-grams: a model has its own")
    if (samples is None) != (likelihoods is None):
        raise click.UsageError("--samples and --likelihoods go together")
    kind = registry.kind_of(folder) if folder else None
    is_searched = kind is not None and kind.generates_words and kind.has_trees
    if not is_searched and (samples or trees):
        raise click.UsageError("--samples and --trees are for the generative model")
    sentences = read_oracle(source)
    sampled = sampled_marginals(samples, likelihoods, sentences, source) if samples else None
    if is_searched:
        options = SearchOptions(**options, seed=seed)
        place = ModelFolder("generative", folder, device)
        found = search_marginals(place, sentences, options, workers, output or trees, resume)
    elif folder is None:
        found = _sequential(_kneser_ney(sentences, train_path, order, clusters_path))
    else:
        found = _sequential(_lstm(sentences, folder, device))
    _write(found, sentences, output, trees)
    _report(found, sentences, source)
    lengths = [len(sentence.tokens) + with_eos for sentence in sentences]
    log_ps = [of_sentence.log_p for of_sentence in found]
    content = print_likelihood(log_ps, lengths, len(sentences))._asdict() | {"of": len(sentences)}
    if is_searched:
        content |= print_search(found, options, sampled, lengths)
    if numbers:
        write_json(numbers, content)


def _write(
    found: Sequence[Marginal],
    sentences: Sequence[OracleSentence],
    output: str | None,
    trees: str | None,
) -> None:
    if output:
        rows = [(len(s.tokens), -of.log_p) for s, of in zip(sentences, found, strict=True)]
        with open_output(output) as stream:
            write_likelihoods(rows, stream)
    if trees:
        with open_output(trees) as stream:
            stream.writelines(f"{of_sentence.tree}\n" for of_sentence in found)


def _report(found: Sequence[Marginal], sentences: Sequence[OracleSentence], source: str) -> None:
    for sentence, of_sentence in zip(sentences, found, strict=True):
        if of_sentence.log_p == -math.inf:
            click.echo(f"{source}:{sentence.line}: p = 0, {of_sentence.problem}", err=True)


def _sequential(log_probs: LogProbs) -> list[Marginal]:
    """Of a model that goes from word to word without a search."""
    problem = "it has words unseen in training, or does not fit into memory"
    return [Marginal(sum(found)) if found else Marginal(-math.inf, problem) for found in log_probs]


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
