"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

import click

from oracle.blocks import OracleSentence, read_oracle
from oracle.errors import InputError
from rnng_dy import registry
from rnng_dy.cli.messages import warn
from rnng_dy.cli.paths import FILE, GENERATIVE, check_files, require_read_once, write_output
from rnng_dy.cli.tree_formats import MBR, decode_option, weight_option
from rnng_dy.evaluation.perplexity import Likelihood, Rates, likelihood, rates
from rnng_dy.open_vocabulary import log_prob_as_read, required_spelling
from rnng_dy.search.importance import (
    Sampled,
    map_line,
    mbr_line,
    other_words,
    read_sampled,
    require_fit,
)

MOST_MISSING, NAMED = 1_000_000, 30
"""Limit on sentences without samples, beyond which the file must be wrong, and on those that are listed."""


@click.command()
@click.argument("props", type=FILE)
@click.argument("likelihoods", type=FILE)
@click.option("-o", "--output", type=FILE, help="File for the MAP trees; - is standard output.")
@click.option(
    "--oracle",
    "oracle_path",
    type=FILE,
    help="Take the words and POS tags of the MAP trees from this oracle. Without it the command does not notice if "
    "the last sentences have no samples.",
)
@decode_option("The MAP tree, the sample with the highest joint probability", "; needs --oracle")
@weight_option(1.0, "; 1 is p alone")
@click.option(
    "--ess",
    is_flag=True,
    help="Also print effective sample size and standard error per sentence.",
)
@click.option(
    "--spelling",
    "folder",
    type=GENERATIVE,
    metavar="MODEL",
    help="Count the words of --oracle as strings, by the spelling model in this model's folder (see `score --open`); "
    "also print bits per character and byte.",
)
@click.option(
    "--allow-missing", is_flag=True, help="Exit with code 0 even if sentences have no samples."
)
def rerank(
    props, likelihoods, output, oracle_path, decode, weight, ess, folder, allow_missing
) -> None:
    """Choose each sentence's sample with the highest joint probability (the MAP tree), and estimate perplexity.

    `sample` makes PROPS, `score` makes LIKELIHOODS. The output lists log p(x) in nats per sentence; its last lines
    are the log likelihood LLH= and the perplexity PPL=. A sentence without samples is reported, gets an empty line
    among the MAP trees, and makes the exit code 1.

    Example: rnng-dy rerank test.props test.likelihoods -o map.trees --oracle test.oracle
    """
    if decode == MBR and not (oracle_path and output):
        raise click.UsageError(
            "--decode mbr needs -o for the trees, and their words: give --oracle"
        )
    if folder and not oracle_path:
        raise click.UsageError("--spelling needs the words as they are written: give --oracle")
    require_read_once(props, likelihoods, oracle_path)
    check_files([output], [props, likelihoods, oracle_path])
    found = {of_sentence.index: of_sentence for of_sentence in read_sampled(props, likelihoods)}
    oracle = read_oracle(oracle_path) if oracle_path else None
    for of_sentence in found.values() if oracle else ():
        require_fit(of_sentence.best()[0], oracle, props, oracle_path)
    sentences = len(oracle) if oracle else max(found) + 1
    if sentences > MOST_MISSING + len(found):
        raise InputError(
            f"{sentences - len(found)} sentences have no samples: give their --oracle", props
        )
    indices = range(sentences)
    line_of = mbr_line if decode == MBR else map_line
    lines = (line_of(found[i], oracle, weight) if i in found else "" for i in indices)
    write_output(output, (f"{line}\n" for line in lines))
    spelled = _spelled(folder, oracle, found, oracle_path) if folder else dict.fromkeys(found, 0.0)
    for of_sentence in found.values():
        e = of_sentence.estimate
        more = f" ess={e.effective_sample_size:.2f} se={e.standard_error:.4f}" if ess else ""
        log_p = e.log_marginal + spelled[of_sentence.index]
        click.echo(f"prob: {log_p:.15g} (len={of_sentence.words}){more}")
    marginals = [found[i].estimate.log_marginal + spelled[i] for i in found]
    print_likelihood(marginals, [of_sentence.words for of_sentence in found.values()], sentences)
    if folder:
        print_rates(marginals, [oracle[i].tokens for i in found])
    missing = [index + 1 for index in range(sentences) if index not in found]
    if missing:
        numbers = ", ".join(map(str, missing[:NAMED])) + ", ..." * (len(missing) > NAMED)
        warn(f"{props}: no samples of {len(missing)} sentences: {numbers}")
        if not allow_missing:
            sys.exit(1)


def print_likelihood(
    log_probs: Sequence[float], lengths: Sequence[int], sentences: int
) -> Likelihood:
    """Print likelihood and perplexity of the sentences with p > 0, and how many of `sentences` are missing."""
    found = likelihood(log_probs, lengths)
    for problem in found.warnings(sentences, len(log_probs) - found.sentences):
        warn(problem)
    click.echo("\n".join(found.lines(sentences)))
    return found


def _spelled(
    folder: str, oracle: Sequence[OracleSentence], found: Mapping[int, Sampled], oracle_path: str
) -> dict[int, float]:
    """Return log p in nats of the words of sampled sentences as strings, by the spelling model of a folder.

    Warn of sentences whose classes of unknown words are not those of the model or of the samples: they have p = 0.
    """
    model = registry.kind_of(folder).build(folder)
    spelling, spelled = required_spelling(model, folder), {}
    for i, sampled in found.items():
        is_other = other_words(sampled.samples[0][0], oracle[i], model.vocabulary.unkify)
        spelled[i] = -math.inf if is_other else log_prob_as_read(spelling, oracle[i])
        if spelled[i] == -math.inf:
            others = "the samples have" if is_other else "the model has"
            place = f"{oracle_path}:{oracle[i].line}"
            warn(f"{place}: p = 0, {others} other classes for its unknown words")
    return spelled


def print_rates(log_probs: Sequence[float], sentences: Sequence[Sequence[str]]) -> Rates:
    """Print bits per character and byte of the sentences with p > 0."""
    found = rates(log_probs, sentences)
    click.echo("\n".join(found.lines()))
    return found
