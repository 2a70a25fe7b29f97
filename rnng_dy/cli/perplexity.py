"""`rnng-dy perplexity`: measure the likelihood and perplexity of sentences, and compare two models."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial

import click

from clusters.files import read_clusters
from oracle.common.files import finite, is_replaced
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.cli import inputs
from rnng_dy.cli.job import Lines, job_options
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import FILE, Command, open_option, outputs_option, write_output
from rnng_dy.cli.rules import goes
from rnng_dy.evaluation import perplexity as measures
from rnng_dy.evaluation.unknown_words import unknown_in, with_words_as_read
from rnng_dy.search.surprisal import SearchOptions, measure_batch, search_batches
from rnng_dy.text.sources import NumberedSentence
from rnng_dy.text.spelling import required_spelling, with_open_classes

FORMS = {".txt": "figures", ".json": "figures", ".tsv": "lengths, -log p and unknown words"}


@click.command(cls=Command)
@inputs.system_option
@goes(f"with `scorers` {KneserNey.name}")
@click.option("--clusters", "clusters_path", type=FILE, help="Further classes of n-gram models.")
@outputs_option(FORMS)
@goes("with `output` .txt/.json")
@click.option(
    "--against", type=FILE, help="Compare with another model's .tsv, or with what `rerank` printed."
)
@open_option
@inputs.search_options("like_reference")
@inputs.seed_option
@inputs.source_options()
@job_options
def perplexity(system, clusters_path, outputs, against, is_open, options, source, job) -> None:
    """Measure likelihood and perplexity of sentences, in nats.

    INPUT is a generative oracle, a file of trees, or tokenised text with one sentence per line. The
    likelihood includes the ends of sentences, the number of words does not. A generative model's
    probability of a sentence is the sum over the derivations that a search finds; with a beam it is
    a lower bound.

    Example: rnng-dy perplexity test.gen.oracle --model generator --jobs 2
    """
    inputs.require_trees((), system, also="jobs")
    if clusters_path:
        words = [entry.word for entry in read_clusters(clusters_path)]
        model = KneserNey.open(system.source, system.order, words)
    else:
        model = job.open(system)
    sentences = with_words_as_read(model, list(source.read(model)))
    sentences = [s for s in sentences if s.tokens]
    if unknown := unknown_in(sentences):
        say(unknown)
    spelled = [0.0] * len(sentences)
    if is_open:
        sentences, of_words = with_open_classes(required_spelling(model, system.title), sentences)
        spelled = list(map(math.fsum, of_words))
    tokens = [s.tokens for s in sentences]
    lengths = [*map(len, tokens)]
    words = [measures.words_read(sentence, is_open) for sentence in sentences]
    others, reason = measures.read_other(against, lengths, words) if against else (None, None)
    if reason:
        warn(f"{against}: {reason}")

    def write(found: Iterable[tuple[float, str | None]]) -> None:
        log_ps = []
        for sentence, of_words, (log_p, problem) in zip(sentences, spelled, found, strict=True):
            log_ps.append(log_p + of_words)
            if log_p == -math.inf:
                warn(f"{source.path}:{sentence.line}: p = 0, {problem}")
        whole = measures.likelihood(log_ps, lengths)
        for problem in whole.warnings(len(tokens), len(tokens) - whole.sentences):
            warn(problem)
        lines, figures = measures.report(log_ps, tokens, is_open, others, reason)
        name, vocabulary = re.sub(r"[^=]*/", "", system.title), measures.VOCABULARIES[is_open]
        unknown = [int(of[0]) for of in words]
        figures |= {"model": name, "vocabulary": vocabulary, "unknown": unknown}
        if system.has_trees:
            figures["search"] = asdict(options)
        texts = {
            ".txt": lines,
            ".json": [json.dumps(finite(figures), indent=1)],
            ".tsv": measures.likelihood_lines(log_ps, lengths, words, name),
        }
        for form, path in outputs.items():
            write_output(path, (f"{line}\n" for line in texts[form]))

    if not system.has_trees:
        problem = "a word or the end (`surprisal --end`) has no probability, or memory ran out"
        log_probs = model.log_probs_of(sentences)
        write((log_p if math.isfinite(log_p) else -math.inf, problem) for log_p in log_probs)
        return
    paths = [*outputs.values()]
    job.write(
        next(filter(is_replaced, paths), paths[0]),
        search_batches(options, [NumberedSentence(i, s) for i, s in enumerate(sentences)]),
        partial(_lines, options),
        _line_without_memory,
        options,
        [(s.tokens, s.tags, s.unkified) for s in sentences],
        inputs=[],
        make=lambda kept: write(map(json.loads, kept.lines())),
    )


def _lines(options: SearchOptions, model, batch: Sequence[NumberedSentence]) -> list[Lines]:
    """Return log p and a problem, or None, of each sentence as a line of JSON."""
    found = measure_batch(options, True, model, batch)
    return [[json.dumps([float(of.log_mass), of.problem])] for of in found]


def _line_without_memory(item: NumberedSentence) -> Lines:
    return [json.dumps([-math.inf, "does not fit into memory"])]
