"""`rnng-dy perplexity`: measure the likelihood and perplexity of sentences."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import click

from clusters.files import read_clusters
from oracle.common.files import finite, is_replaced
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.cli import inputs
from rnng_dy.cli.job import job_options
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import FILE, Command, open_option, outputs_option, write_output
from rnng_dy.cli.rules import goes, option
from rnng_dy.cli.signature import signature
from rnng_dy.evaluation import perplexity as measures
from rnng_dy.evaluation.unknown_words import unknown_in, with_words_as_read
from rnng_dy.search.surprisal import SearchOptions, measure_batch, search_batches
from rnng_dy.text.sources import NumberedSentence
from rnng_dy.text.spelling import required_spelling, with_open_classes

WITHOUT_MEMORY = -math.inf, "does not fit into memory"
FORMS = {".txt": "figures", ".json": "figures", ".tsv": "lengths, -log p and unknown words"}


@click.command(cls=Command)
@inputs.system_option
@goes(f"with `scorers` {KneserNey.name}")
@option("--clusters", "Further classes of n-gram models.", FILE, "clusters_path")
@outputs_option(FORMS)
@goes("with `output` .txt/.json")
@option("--against", "Compare with another model's .tsv, or with what `rerank` printed.", FILE)
@open_option
@inputs.search_options(inputs.seed_option, without=["like_reference"])
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
        job.models.append(model)
    else:
        model = job.open(system)
    numbered = enumerate(with_words_as_read(model, list(source.read(model))))
    # an empty line has a number, as in `surprisal`: particles draw by it
    numbers, sentences = zip(*((i, s) for i, s in numbered if s.tokens), strict=True)
    if unknown := unknown_in(sentences):
        say(unknown)
    log_spellings = [0.0] * len(sentences)
    if is_open and not model.of_strings:
        sentences, log_probs = with_open_classes(required_spelling(model, system.title), sentences)
        log_spellings = list(map(math.fsum, log_probs))
    is_open = is_open or model.of_strings
    tokens = [s.tokens for s in sentences]
    lengths = [*map(len, tokens)]
    words = [measures.words_read(sentence, is_open) for sentence in sentences]
    others, reason = measures.read_other(against, tokens, words) if against else (None, None)
    if reason:
        warn(f"{against}: {reason}")

    items = [*map(NumberedSentence, numbers, sentences)]
    read = [(s.tokens, s.tags, s.unkified) for s in sentences]
    # without a search, all is done again after a stop
    path, measure, batches = None, _scored, [items]
    if system.has_trees:
        path = next(filter(is_replaced, outputs.values()), None)
        measure, batches = partial(_searched, options=options), search_batches(options, items)
    with job.results(path, options, numbers, read) as work:
        for batch in work.map(measure, batches):
            work.write([[json.dumps(estimate or WITHOUT_MEMORY)] for _, estimate in batch])
        estimates = [*map(json.loads, work.results.lines())]
        for sentence, (log_p, problem) in zip(sentences, estimates, strict=True):
            if log_p == -math.inf:
                warn(f"{source.path}:{sentence.line}: p = 0, {problem}")
        log_ps = [log_p + more for (log_p, _), more in zip(estimates, log_spellings, strict=True)]
        whole = measures.likelihood(log_ps, lengths)
        for problem in whole.warnings(len(tokens), len(tokens) - whole.sentences):
            warn(problem)
        texts = [*map(measures.written, sentences)] if is_open else ()
        lines, figures = measures.report(log_ps, tokens, texts, others, reason)
        name, unknown = re.sub(r"[^=]*/", "", system.title), [int(count) for count, *_ in words]
        figures |= {"model": name, "vocabulary": words[0][1], "unknown": unknown}
        figures["signature"] = signature()
        if system.has_trees:
            figures["search"] = asdict(options)
        contents = {
            ".txt": lines,
            ".json": [json.dumps(finite(figures), indent=1)],
            ".tsv": measures.likelihood_lines(log_ps, lengths, words, name),
        }
        for form, output in outputs.items():
            write_output(output, (f"{line}\n" for line in contents[form]))


def _scored(batch: Sequence[NumberedSentence], model: Any) -> list[tuple[float, str]]:
    """Return log p in nats of each sentence, and why it may be -inf."""
    problem = "a word or the end (`surprisal --end`) has no probability, or memory ran out"
    log_ps = model.sentence_log_probs([item.sentence for item in batch])
    return [(log_p if math.isfinite(log_p) else -math.inf, problem) for log_p in log_ps]


def _searched(
    batch: Sequence[NumberedSentence], model: Any, options: SearchOptions
) -> list[tuple[float, str | None]]:
    measured = measure_batch(batch, model, options, end=True)
    return [(float(sentence.log_mass), sentence.problem) for sentence in measured]
