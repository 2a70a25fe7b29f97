"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

from __future__ import annotations

from itertools import groupby

import click

from oracle.errors import InputError
from oracle.files import (
    Sample,
    format_sample,
    open_output,
    read_likelihoods,
    read_oracle,
    read_samples,
)
from oracle.transitions import actions_of, tree_of
from oracle.treebank import format_tree
from rnng_dy.importance import Estimate, estimate, perplexity
from rnng_dy.vocabulary import NO_TAG


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
def rerank(props, likelihoods, output, oracle_path, ess) -> None:
    """The sampled tree with the highest joint probability, log marginals in nats, and perplexity.

    PROPS comes from `sample`, LIKELIHOODS from `score`. The last lines are LLH= and PPL=.

    Example: rnng-dy rerank test.props test.likelihoods -o map.trees --oracle test.oracle
    """
    groups = _read_groups(props, likelihoods)
    estimates = [
        estimate([sample.log_q for sample, _ in group], [log_p for _, log_p in group])
        for group in groups
    ]
    if output:
        _write_trees(output, props, groups, estimates, oracle_path)
    lengths = [len(group[0][0].tree.leaves()) for group in groups]
    for length, e in zip(lengths, estimates, strict=True):
        more = f" ess={e.effective_sample_size:.2f} se={e.standard_error:.4f}" if ess else ""
        click.echo(f"prob: {e.log_marginal:.15g} (len={length}){more}")
    scorable = [
        (e.log_marginal, n)
        for e, n in zip(estimates, lengths, strict=True)
        if e.log_marginal > -float("inf")
    ]
    llh, ppl, words = (
        perplexity(*zip(*scorable, strict=True)) if scorable else (0.0, float("nan"), 0)
    )
    if len(scorable) < len(groups):
        click.echo(
            f"{len(groups) - len(scorable)} of {len(groups)} sentences have p = 0 and are left out",
            err=True,
        )
    click.echo(f"sentences={len(scorable)} of {len(groups)}")
    click.echo(f"len={words} words")
    click.echo(f"LLH={llh:.15g}")
    click.echo(f"PPL={ppl:.15g}")


def _read_groups(props: str, likelihoods: str) -> list[list[tuple[Sample, float]]]:
    """The samples of each sentence with their log p. Raises InputError where the two files do not fit."""
    samples, scores = list(read_samples(props)), list(read_likelihoods(likelihoods))
    if not samples:
        raise InputError("no samples: make the file with `rnng-dy sample`", props)
    if len(samples) != len(scores):
        raise InputError(
            f"{len(scores)} likelihoods for the {len(samples)} samples of {props}: score these samples again",
            likelihoods,
        )
    for number, (sample, (words, _)) in enumerate(zip(samples, scores, strict=True), 1):
        if words != len(sample.tree.leaves()):
            raise InputError(
                f"{words} words, but the tree at {props}:{sample.line} has {len(sample.tree.leaves())}: "
                "score these samples again",
                likelihoods,
                number,
            )
    pairs = [(sample, -negative) for sample, (_, negative) in zip(samples, scores, strict=True)]
    return [list(group) for _, group in groupby(pairs, lambda pair: pair[0].index)]


def _write_trees(
    output: str, props: str, groups: list, estimates: list[Estimate], oracle_path: str | None
) -> None:
    """MAP trees as the original writes them, or with an oracle's words and tags."""
    best = [group[e.best] for group, e in zip(groups, estimates, strict=True)]
    if oracle_path is None:
        lines = [format_sample(s.index, log_p, format_tree(s.tree)) for s, log_p in best]
    else:
        sentences = read_oracle(oracle_path)
        lines = []
        for sample, _ in best:
            if sample.index >= len(sentences):
                raise InputError(
                    f"sentence {sample.index}, but {oracle_path} has {len(sentences)} sentences",
                    props,
                    sample.line,
                )
            sentence = sentences[sample.index]
            if len(sentence.tokens) != len(sample.tree.leaves()):
                raise InputError(
                    f"the tree does not cover the sentence at {oracle_path}:{sentence.line}",
                    props,
                    sample.line,
                )
            tags = sentence.tags or [NO_TAG] * len(sentence.tokens)
            lines.append(
                format_tree(
                    tree_of(actions_of(sample.tree, preterminals=False), sentence.tokens, tags)
                )
            )
    with open_output(output) as stream:
        stream.writelines(f"{line}\n" for line in lines)
