"""`rnng-dy perplexity`: measure likelihood and perplexity with the paper's baselines and the generative model."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from operator import neg
from typing import Any, NamedTuple

import click

from clusters.files import read_clusters
from oracle.files import write_json
from oracle.samples import format_likelihood
from oracle.sentences import SourceSentence
from rnng_dy import registry
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.cli.job import Job, ModelFolder, open_model, sentences_job
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import (
    json_option,
    kneser_ney_option,
    open_option,
    order_option,
    seed_option,
)
from rnng_dy.cli.paths import FILE, GENERATIVE, check_files, write_output
from rnng_dy.cli.rerank import print_likelihood, print_rates
from rnng_dy.cli.searching import given_search_option, grouped_for, search_options
from rnng_dy.cli.source import source_options
from rnng_dy.cli.word_scorers import check_order
from rnng_dy.evaluation.perplexity import gap
from rnng_dy.evaluation.unknown_words import as_read, unknown_in
from rnng_dy.open_vocabulary import log_prob_as_read, required_spelling, with_open_classes
from rnng_dy.results import Results
from rnng_dy.search import marginals
from rnng_dy.search.marginals import Marginal
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.text.sources import NumberedSentence


@click.command()
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
@source_options()
@sentences_job
def perplexity(
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
    source,
    job,
) -> None:
    """Measure likelihood and perplexity of sentences.

    INPUT is a generative oracle, a file of trees, or tokenised text with one sentence per line. With --text it is
    running text. Words that the model does not know are read as their classes of unknown words.

    As in the paper, the likelihood includes the end of each sentence, but the number of words does not. A generative
    model's probability of a sentence is the sum over the derivations that a search finds; with a beam it is a lower
    bound. The options of searches and samples, --trees, --jobs, --scheduler and --resume are for generative models
    only.

    Example: rnng-dy perplexity test.gen.oracle --model generator --samples test.props --likelihoods test.likelihoods
    """  # fmt: skip
    inputs = [train_path, clusters_path, samples, likelihoods]
    check_files([output, numbers, trees], [source.path, *inputs])
    is_searched = _is_searched(folder, *inputs, trees)
    options = SearchOptions(**options, seed=seed)
    if is_searched:
        model = job.open("generative", folder)
    else:
        model = _sequential(folder, train_path, order, clusters_path, job.device)
    read = _as_the_model_reads(model, list(source.read(lambda: model.segmenter, warn)))
    sentences = [s for s in read if s.tokens]
    if unknown := unknown_in(sentences):
        say(unknown)
    sampled = None
    if samples:
        # samples number the sentences with the empty lines among them
        found = marginals.sampled_marginals(
            samples, likelihoods, read, source.path, model.vocabulary.unkify
        )
        sampled = [log_p for log_p, s in zip(found.log_ps, read, strict=True) if s.tokens]
        if found.other_words:
            other, of_model = found.other_words[0]
            warn(
                f"{samples}: {len(found.other_words)} sentences are left out, whose samples have other words than the "
                f"generative model reads, such as {other} for {of_model}"
            )
    spelled = [0.0] * len(sentences)
    if is_open:
        spelling = required_spelling(model, folder)
        if sampled:
            sampled = [
                p + log_prob_as_read(spelling, s) for p, s in zip(sampled, sentences, strict=True)
            ]
        sentences, of_words = with_open_classes(spelling, sentences)
        spelled = list(map(math.fsum, of_words))
    outputs = _Outputs(
        source.path, output, trees, numbers, sentences, spelled, sampled, is_open, with_eos
    )
    if is_searched:
        _search(options, job, outputs)
    else:
        outputs.write(marginals.sequential_marginals(model, sentences))


def _as_the_model_reads(model, sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    """Return sentences with their words as the model reads them."""
    words = as_read(model, sentences)
    return [replace(s, unkified=tuple(w)) for s, w in zip(sentences, words, strict=True)]


class _Outputs(NamedTuple):
    """The sentences of the command, and where and how to write their likelihoods."""

    path: str
    """That of the sentences."""
    output: str | None
    trees: str | None
    numbers: str | None
    sentences: Sequence[SourceSentence]
    spelled: Sequence[float]
    """log p in nats of the words of each sentence as strings, given what the model reads."""
    sampled: Sequence[float] | None
    """log p(x) in nats of each sentence by importance sampling."""
    is_open: bool
    with_eos: bool

    def write(self, found: Sequence[Marginal], **search: Any) -> None:
        """Write all outputs; `search` has figures of the search, if there was one."""
        log_ps = [of.log_p + of_words for of, of_words in zip(found, self.spelled, strict=True)]
        rows = map(format_likelihood, map(len, self._words), map(neg, log_ps))
        write_output(self.output, (f"{row}\n" for row in rows))
        write_output(self.trees, (f"{of_sentence.tree}\n" for of_sentence in found))
        for sentence, of_sentence in zip(self.sentences, found, strict=True):
            if of_sentence.log_p == -math.inf:
                warn(f"{self.path}:{sentence.line}: p = 0, {of_sentence.problem}")
        content = self._printed(log_ps, search)
        if self.numbers:
            write_json(self.numbers, content)

    @property
    def _words(self) -> list[Sequence[str]]:
        return [sentence.tokens for sentence in self.sentences]

    def _printed(self, log_ps: Sequence[float], search: Mapping[str, Any]) -> dict[str, object]:
        """Print the figures of sentences and return them for JSON."""
        words = self._words
        lengths = [len(tokens) + self.with_eos for tokens in words]
        content = print_likelihood(log_ps, lengths, len(words))._asdict() | {"of": len(words)}
        if self.is_open:
            content |= print_rates(log_ps, words)._asdict()
        if search:
            click.echo(f"seconds={search['seconds']:.1f}")
        content |= search
        if self.sampled is not None:
            beside = gap(log_ps, self.sampled, lengths)
            click.echo("\n".join(beside.lines()))
            content["beside_samples"] = beside.to_json()
        return content


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
    check_order(train_path is not None)
    if (samples is None) != (likelihoods is None):
        raise click.UsageError("--samples and --likelihoods go together")
    kind = folder and registry.kind_of(folder)
    is_searched = bool(kind and kind.generates_words and kind.has_trees)
    if not is_searched and (samples or trees):
        raise click.UsageError("--samples and --trees are for the generative model")
    if not is_searched and (flag := given_search_option()):
        raise click.UsageError(f"{flag} is for generative models with trees")
    return is_searched


def _sequential(folder: str | None, train_path: str, order: int, clusters_path: str, device: str):
    """Load or make a model that needs no search: an LSTM language model or n-grams."""
    if folder:
        return open_model(ModelFolder("lstm-lm", folder, device))
    clustered = read_clusters(clusters_path) if clusters_path else []
    return KneserNey.of_oracle(train_path, order, [entry.word for entry in clustered])


def _search(options: SearchOptions, job: Job, outputs: _Outputs) -> None:
    """Search with the generative model and write all outputs; a stopped run keeps its results beside one of them."""
    sentences = outputs.sentences
    items = [NumberedSentence(i, sentence) for i, sentence in enumerate(sentences)]
    words = [(s.tokens, s.tags, s.unkified) for s in sentences]

    def make(kept: Results) -> None:
        found = list(marginals.read_marginals(kept.lines()))
        seconds = math.fsum(of.seconds for of in found)
        outputs.write(found, search=asdict(options), seconds=seconds)

    lines, batches = partial(marginals.marginal_lines, options), grouped_for(options, items)
    place, decides = outputs.output or outputs.trees or os.devnull, (options, words)
    job.write(place, batches, lines, marginals.no_memory_line, *decides, inputs=[], make=make)
