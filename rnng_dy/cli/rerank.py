"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

from __future__ import annotations

import sys

import click

from oracle.errors import InputError
from oracle.files import (
    OracleSentence,
    Sample,
    format_sample,
    open_output,
    read_oracle,
    read_scored_samples,
)
from oracle.treebank import NO_TAG, format_tree, with_words, words
from rnng_dy.cli.output import print_likelihood
from rnng_dy.search.importance import estimate_of


@click.command()
@click.argument("props")
@click.argument("likelihoods")
@click.option("-o", "--output", help="File for the MAP trees; - is standard output.")
@click.option("--oracle", "oracle_path", help="Oracle whose words and tags the MAP trees get.")
@click.option(
    "--ess",
    is_flag=True,
    help="Also give effective sample size and standard error of each sentence.",
)
@click.option("--allow-missing", is_flag=True, help="End with 0 though sentences have no samples.")
def rerank(props, likelihoods, output, oracle_path, ess, allow_missing) -> None:
    """The sampled tree with the highest joint probability, log marginals in nats, and perplexity.

    PROPS comes from `sample`, LIKELIHOODS from `score`. The last lines are LLH= and PPL=. A sentence without samples
    is named, has an empty line among the MAP trees, and makes the exit code 1.

    Example: rnng-dy rerank test.props test.likelihoods -o map.trees --oracle test.oracle
    """
    groups = {group[0][0].index: group for group in read_scored_samples(props, likelihoods)}
    oracle = read_oracle(oracle_path) if oracle_path else None
    estimates = {index: estimate_of(group) for index, group in groups.items()}
    sentences = len(oracle) if oracle else max(groups) + 1
    missing = [index for index in range(sentences) if index not in groups]
    best = {index: group[estimates[index].best] for index, group in groups.items()}
    if oracle:
        for sample, _ in best.values():
            _require_fit(sample, oracle, props, oracle_path)
    if output:
        with open_output(output) as stream:
            for index in range(sentences):
                line = _map_line(*best[index], oracle) if index in best else ""
                stream.write(f"{line}\n")
    lengths = [len(words(group[0][0].tree)) for group in groups.values()]
    for length, e in zip(lengths, estimates.values(), strict=True):
        more = f" ess={e.effective_sample_size:.2f} se={e.standard_error:.4f}" if ess else ""
        click.echo(f"prob: {e.log_marginal:.15g} (len={length}){more}")
    print_likelihood([e.log_marginal for e in estimates.values()], lengths, sentences)
    if missing:
        numbers = ", ".join(map(str, missing))
        click.echo(f"{props}: no samples of {len(missing)} sentences: {numbers}", err=True)
        if not allow_missing:
            sys.exit(1)


def _map_line(sample: Sample, log_p: float, oracle: list[OracleSentence] | None) -> str:
    """A MAP tree as the original writes it, or with an oracle's words and tags."""
    if oracle is None:
        return format_sample(sample.index, log_p, format_tree(sample.tree))
    sentence = oracle[sample.index]
    tags = sentence.tags or [NO_TAG] * len(sentence.tokens)
    return format_tree(with_words(sample.tree, sentence.tokens, tags))


def _require_fit(
    sample: Sample, oracle: list[OracleSentence], props: str, oracle_path: str
) -> None:
    """Raise InputError for a sample that is not of its sentence in the oracle."""
    if sample.index >= len(oracle):
        problem = f"sentence {sample.index}, but {oracle_path} has {len(oracle)} sentences"
    elif len(oracle[sample.index].tokens) != len(words(sample.tree)):
        place = f"{oracle_path}:{oracle[sample.index].line}"
        problem = f"the tree does not cover the sentence at {place}"
    else:
        return
    raise InputError(problem, props, sample.line)
