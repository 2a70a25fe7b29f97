"""`rnng-dy perplexity`: measure likelihood and perplexity with the paper's baselines and the generative model."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from operator import neg
from pathlib import Path
from typing import Any

import click

from oracle.blocks import OracleSentence, read_oracle
from oracle.samples import format_likelihood
from rnng_dy import registry
from rnng_dy.cli.job import Job, open_model, sentences_job
from rnng_dy.cli.options import (
    json_option,
    kneser_ney_option,
    open_option,
    order_option,
    seed_option,
)
from rnng_dy.cli.paths import FILE, GENERATIVE, check_files, write_output
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.rerank import print_likelihood, print_rates
from rnng_dy.cli.searching import grouped_for, search_options
from rnng_dy.evaluation.perplexity import gap
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder
from rnng_dy.open_vocabulary import log_prob_as_read, required_spelling, with_open_classes
from rnng_dy.search import marginals
from rnng_dy.search.marginals import Marginal
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.search.unknown_words import unknown_in
from rnng_dy.text.sources import NumberedSentence


@click.command()
@click.argument("source", type=FILE, metavar="ORACLE")
@click.option(
    "--model",
    "folder",
    type=GENERATIVE,
    help="Generative or LSTM language model: folder, archive or name.",
)
@kneser_ney_option
@order_option
@click.option(
    "--clusters",
    "clusters_path",
    type=FILE,
    help="With --kneser-ney: add the words of this clusters file to the vocabulary.",
)
@open_option
@click.option("--with-eos", is_flag=True, help="Count the end of each sentence as a word.")
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="Write the number of words and -log p of each sentence, in the format of `score`.",
)
@json_option
@search_options
@seed_option
@click.option(
    "--samples",
    type=FILE,
    metavar="PROPS",
    help="Samples of the same sentences, to print importance sampling beside the search; needs --likelihoods.",
)
@click.option("--likelihoods", type=FILE, help="Likelihoods of the samples, from `score`.")
@click.option("--trees", type=FILE, help="Write the best tree that the search finds per sentence.")
@sentences_job
def perplexity(
    source,
    folder,
    train_path,
    order,
    clusters_path,
    is_open,
    with_eos,
    output,
    numbers,
    options,
    seed,
    samples,
    likelihoods,
    trees,
    job,
) -> None:
    """Measure likelihood and perplexity of the sentences of a generative oracle.

    As in the paper, the likelihood includes the end of each sentence, but the number of words does not. A
    generative model's probability of a sentence is the sum over the derivations that a search finds; with a beam it
    is a lower bound. The options of searches and samples, --trees, --jobs, --scheduler and --resume are for
    generative models only.

    Example: rnng-dy perplexity test.gen.oracle --model generator --samples test.props --likelihoods test.likelihoods
    """  # fmt: skip
    inputs = [train_path, clusters_path, samples, likelihoods]
    check_files([output, numbers, trees], [source, *inputs])
    is_searched = _is_searched(folder, *inputs, trees)
    sentences = read_oracle(source)
    if unknown := unknown_in(sentences):
        say(unknown)
    sampled = samples and marginals.sampled_marginals(samples, likelihoods, sentences, source)
    options = SearchOptions(**options, seed=seed)
    if is_searched:
        model = job.open("generative", folder)
    else:
        model = _sequential(folder, train_path, order, clusters_path, job.device)
    spelled = [0.0] * len(sentences)
    if is_open:
        spelling = required_spelling(model, folder)
        if sampled:
            sampled = [
                p + log_prob_as_read(spelling, s) for p, s in zip(sampled, sentences, strict=True)
            ]
        sentences, of_words = with_open_classes(spelling, sentences)
        spelled = list(map(math.fsum, of_words))
    if is_searched:
        found = _searched(sentences, options, job, output or trees or os.devnull)
        search = {"search": asdict(options), "seconds": math.fsum(of.seconds for of in found)}
    else:
        found, search = marginals.sequential_marginals(model, sentences), {}
    log_ps = [of.log_p + of_words for of, of_words in zip(found, spelled, strict=True)]
    words = [sentence.tokens for sentence in sentences]
    rows = map(format_likelihood, map(len, words), map(neg, log_ps))
    write_output(output, (f"{row}\n" for row in rows))
    write_output(trees, (f"{of_sentence.tree}\n" for of_sentence in found))
    for sentence, of_sentence in zip(sentences, found, strict=True):
        if of_sentence.log_p == -math.inf:
            warn(f"{source}:{sentence.line}: p = 0, {of_sentence.problem}")
    content = _printed(log_ps, words, with_eos, is_open, search, sampled)
    if numbers:
        write_json(numbers, content)


def _is_searched(
    folder: str | None,
    train_path: str | None,
    clusters_path: str | None,
    samples: str | None,
    likelihoods: str | None,
    trees: str | None,
) -> bool:
    """Return whether the model needs a search. Raises UsageError for options that do not fit it, or each other."""
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    if folder and clusters_path:
        raise click.UsageError("--clusters is for n-grams: a model has its own")
    if (samples is None) != (likelihoods is None):
        raise click.UsageError("--samples and --likelihoods go together")
    kind = folder and registry.kind_of(folder)
    is_searched = bool(kind and kind.generates_words and kind.has_trees)
    if not is_searched and (samples or trees):
        raise click.UsageError("--samples and --trees are for the generative model")
    return is_searched


def _sequential(folder: str | None, train_path: str, order: int, clusters_path: str, device: str):
    """Load or make a model that needs no search: an LSTM language model or n-grams."""
    if folder:
        return open_model(ModelFolder("lstm-lm", folder, device))
    from clusters.files import read_clusters
    from rnng_dy.baselines.kneser_ney import KneserNey

    clustered = read_clusters(clusters_path) if clusters_path else []
    return KneserNey.of_oracle(train_path, order, [entry.word for entry in clustered])


def _searched(
    sentences: Sequence[OracleSentence], options: SearchOptions, job: Job, output: str
) -> list[Marginal]:
    """Return the marginals by a search with the generative model; a stopped run keeps its results beside `output`."""
    items = [NumberedSentence(i, sentence) for i, sentence in enumerate(sentences)]
    words = [(s.tokens, s.tags, s.unkified) for s in sentences]
    found: list[Marginal] = []

    def make(kept: Path) -> None:
        found.extend(marginals.read_marginals(kept))

    lines = job.with_model(partial(marginals.marginal_lines, options))
    batches = grouped_for(options, items)
    job.write(output, batches, lines, marginals.no_memory_line, options, words, make=make)
    return found


def _printed(
    log_ps: Sequence[float],
    words: Sequence[Sequence[str]],
    with_eos: bool,
    is_open: bool,
    search: Mapping[str, Any],
    sampled: Sequence[float] | None,
) -> dict[str, object]:
    """Print the figures of sentences and return them for JSON; `search` has those of the search, if there was one."""
    lengths = [len(tokens) + with_eos for tokens in words]
    content = print_likelihood(log_ps, lengths, len(words))._asdict() | {"of": len(words)}
    if is_open:
        content |= print_rates(log_ps, words)._asdict()
    if search:
        click.echo(f"seconds={search['seconds']:.1f}")
    content |= search
    if sampled is not None:
        beside = gap(log_ps, sampled, lengths)
        click.echo("\n".join(beside.lines()))
        content["beside_samples"] = beside.to_json()
    return content
