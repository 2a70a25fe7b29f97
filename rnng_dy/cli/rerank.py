"""`rnng-dy rerank`: MAP trees and perplexity from samples and their joint likelihoods."""

from __future__ import annotations

import click

from oracle.errors import InputError
from oracle.files import format_sample, open_output, read_oracle, read_scored_samples
from oracle.transitions import actions_of, tree_of
from oracle.treebank import format_tree
from rnng_dy.cli.output import print_likelihood
from rnng_dy.importance import Estimate, estimate_of
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
    groups = read_scored_samples(props, likelihoods)
    estimates = [estimate_of(group) for group in groups]
    if output:
        _write_trees(output, props, groups, estimates, oracle_path)
    lengths = [len(group[0][0].tree.leaves()) for group in groups]
    for length, e in zip(lengths, estimates, strict=True):
        more = f" ess={e.effective_sample_size:.2f} se={e.standard_error:.4f}" if ess else ""
        click.echo(f"prob: {e.log_marginal:.15g} (len={length}){more}")
    print_likelihood([e.log_marginal for e in estimates], lengths)


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
