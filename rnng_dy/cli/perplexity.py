"""`rnng-dy perplexity`: measure likelihood and perplexity with the paper's baselines and the generative model."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from operator import neg
from pathlib import Path
from typing import NamedTuple

import click

from oracle.files import OracleSentence, format_likelihood, read_oracle
from rnng_dy import registry
from rnng_dy.cli.job import Job, open_model, sentences_job
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import json_option, kneser_ney_option, order_option, seed_option
from rnng_dy.cli.paths import FILE, MODEL, check_files, write_output
from rnng_dy.cli.quiet import warn
from rnng_dy.cli.rerank import print_likelihood
from rnng_dy.cli.searching import grouped_for, search_options
from rnng_dy.evaluation.perplexity import gap
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder
from rnng_dy.search import marginals
from rnng_dy.search.marginals import Marginal
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.text.sources import NumberedSentence


class _WordModel(NamedTuple):
    """A model of words: that of a folder or, if `folder` is None, n-grams."""

    folder: str | None
    train_path: str | None
    order: int
    clusters_path: str | None

    @property
    def is_searched(self) -> bool:
        """Return whether its probabilities come from a search."""
        if self.folder is None:
            return False
        kind = registry.kind_of(self.folder)
        return kind.generates_words and kind.has_trees

    def open(self, device: str):
        """Load or make a model that needs no search: an LSTM language model or n-grams."""
        if self.folder is not None:
            return open_model(ModelFolder("lstm-lm", self.folder, device))
        from clusters.files import read_clusters
        from rnng_dy.baselines.kneser_ney import KneserNey

        clustered = read_clusters(self.clusters_path) if self.clusters_path else []
        return KneserNey.of_oracle(self.train_path, self.order, [entry.word for entry in clustered])


def _word_model(
    folder: str | None, train_path: str | None, order: int, clusters_path: str | None
) -> _WordModel:
    if (folder is None) == (train_path is None):
        raise click.UsageError("give either --model or --kneser-ney")
    if folder and clusters_path:
        raise click.UsageError("--clusters is for n-grams: a model has its own")
    return _WordModel(folder, train_path, order, clusters_path)


@click.command()
@click.argument("source", type=FILE, metavar="ORACLE")
@click.option(
    "--model",
    "folder",
    type=MODEL,
    help="Generative or LSTM language model: folder, archive or name.",
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
@together("model", _word_model)
@sentences_job
def perplexity(
    source, model, with_eos, output, numbers, options, seed, samples, likelihoods, trees, job
) -> None:
    """Likelihood and perplexity of the sentences of a generative oracle under a model of words.

    As in the paper, the end of a sentence is part of its likelihood and not one of its words. The generative model's
    probabilities are sums over the derivations that a search finds: with a beam, lower bounds. The options of searches
    and samples, --trees, --jobs, --scheduler and --resume are for it.

    Example: rnng-dy perplexity test.gen.oracle --model generator --samples test.props --likelihoods test.likelihoods
    """  # fmt: skip
    inputs = [source, model.train_path, model.clusters_path, samples, likelihoods]
    check_files([output, numbers, trees], inputs)
    if (samples is None) != (likelihoods is None):
        raise click.UsageError("--samples and --likelihoods go together")
    is_searched = model.is_searched
    if not is_searched and (samples or trees):
        raise click.UsageError("--samples and --trees are for the generative model")
    sentences = read_oracle(source)
    sampled = samples and marginals.sampled_marginals(samples, likelihoods, sentences, source)
    options = SearchOptions(**options, seed=seed)
    if is_searched:
        found = _searched(model.folder, sentences, options, job, output or trees or os.devnull)
    else:
        found = marginals.sequential_marginals(model.open(job.device), sentences)
    lengths = [len(sentence.tokens) for sentence in sentences]
    log_ps = [of_sentence.log_p for of_sentence in found]
    rows = (format_likelihood(*row) for row in zip(lengths, map(neg, log_ps), strict=True))
    write_output(output, (f"{row}\n" for row in rows))
    write_output(trees, (f"{of_sentence.tree}\n" for of_sentence in found))
    for sentence, of_sentence in zip(sentences, found, strict=True):
        if of_sentence.log_p == -math.inf:
            warn(f"{source}:{sentence.line}: p = 0, {of_sentence.problem}")
    counted = [length + with_eos for length in lengths]
    content = print_likelihood(log_ps, counted, len(sentences))._asdict() | {"of": len(sentences)}
    if is_searched:
        seconds = math.fsum(of_sentence.seconds for of_sentence in found)
        click.echo(f"seconds={seconds:.1f}")
        content |= {"search": asdict(options), "seconds": seconds}
    if sampled is not None:
        beside = gap(log_ps, sampled, counted)
        click.echo("\n".join(beside.lines()))
        content["beside_samples"] = beside.to_json()
    if numbers:
        write_json(numbers, content)


def _searched(
    folder: str, sentences: Sequence[OracleSentence], options: SearchOptions, job: Job, output: str
) -> list[Marginal]:
    """Return the marginals by a search with the generative model; a stopped run keeps its results beside `output`."""
    job.open("generative", folder)
    items = [NumberedSentence(i, sentence) for i, sentence in enumerate(sentences)]
    words = [(s.tokens, s.tags, s.unkified) for s in sentences]
    found: list[Marginal] = []

    def make(kept: Path) -> None:
        found.extend(marginals.read_marginals(kept))

    lines = job.with_model(partial(marginals.marginal_lines, options))
    batches = grouped_for(options, items)
    job.write(output, batches, lines, marginals.no_memory_line, options, words, make=make)
    return found
