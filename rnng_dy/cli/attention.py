"""`rnng-dy attention`: what the compositions of a model with gated attention attend to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from oracle.errors import ImpossibleError, InputError, RnngError
from oracle.files import open_output
from oracle.treebank import NO_TAG, LocatedTree, has_preterminals, read_trees, with_words, words
from rnng_dy import registry
from rnng_dy.cli.job import open_model
from rnng_dy.cli.options import device_option, json_option, model_option, table_format_option
from rnng_dy.cli.paths import FILE, check_files
from rnng_dy.drawing.page import tree_page
from rnng_dy.drawing.sections import attended
from rnng_dy.evaluation.attention import AttentionAnalysis
from rnng_dy.evaluation.head_rules import HeadRules, collins
from rnng_dy.evaluation.tables import CSV, joined
from rnng_dy.execution.outputs import write_json
from rnng_dy.execution.work import ModelFolder


class AttendedTree(NamedTuple):
    """A tree, its number in the file from 0, and its constituents' labels and weights, in the order of completion."""

    number: int
    located: LocatedTree
    labels: Sequence[str]
    weights: Sequence[Sequence[float]]


@click.command()
@model_option
@click.argument("trees", type=FILE, metavar="TREES")
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="File for the weights; - is standard output.  [default: -, without --analysis and --html]",
)
@table_format_option
@click.option(
    "--analysis",
    is_flag=True,
    help="Print how sharp attention is for each label, and how often it is on the heads of head rules.",
)
@click.option(
    "--head-rules",
    "rules_path",
    type=FILE,
    help="With --analysis: the rules.  [default: Collins' for the Penn Treebank]",
)
@json_option
@click.option(
    "--html", "page", type=FILE, help="Write a page of the trees with the weights on their edges."
)
@device_option
def attention(folder, trees, output, style, analysis, rules_path, numbers, page, device) -> None:
    """Attention weights of a model with --composition gated-attention on given trees.

    A line for each constituent, inner ones before outer ones: number of the tree from 0, label, and the weights of the
    children from left to right with blanks between them; CSV begins with a line of names. A tree that the model cannot
    derive is named and left out. --analysis needs trees with POS tags.

    Example: rnng-dy attention --model generator test.trees --analysis --html attention.html
    """
    if (rules_path or numbers) and not analysis:
        raise click.UsageError("--head-rules and --json are for --analysis")
    if analysis and output == "-":
        raise click.UsageError("weights and --analysis go to standard output: name a file with -o")
    if output is None and not (analysis or page):
        output = "-"
    check_files([output, numbers, page], [trees, rules_path])
    rules = _rules(rules_path) if analysis else None
    located = list(read_trees(trees, bare=True))
    is_tagged = all(has_preterminals(tree.tree) for tree in located)
    if analysis and not is_tagged:
        raise InputError("trees without POS tags: head rules need (TAG word)", trees)
    found = _attended(folder, device, located, is_tagged, trees)
    if output:
        with open_output(output) as stream:
            stream.writelines(_lines(found, style))
    if page:
        with open_output(page) as stream:
            stream.writelines(_page(found, is_tagged, Path(folder).name))
    if analysis:
        _analyse(found, rules, numbers)


def _rules(path: str | None) -> HeadRules:
    return HeadRules.read(path) if path else collins()


def _attended(
    folder: str, device: str, located: Sequence[LocatedTree], is_tagged: bool, path: str
) -> list[AttendedTree]:
    """The trees that the model can derive; says which it cannot."""
    kind = registry.kind_of(folder)
    if kind not in ("discriminative", "generative"):
        raise RnngError(f"{folder} is a {kind} model: it composes nothing")
    model = open_model(ModelFolder(kind, folder, device))
    from rnng_dy.search.attention import attention_weights

    examples = {}
    for i, tree in enumerate(located):
        try:
            examples[i] = model.example_of(tree.tree, is_tagged)
        except ImpossibleError as error:
            click.echo(f"{tree.path}:{tree.line}: left out: {error}", err=True)
        except RnngError as error:
            raise InputError(str(error), tree.path, tree.line) from None
    found = []
    weights = attention_weights(model, list(examples.values()))
    for i, constituents in zip(examples, weights, strict=True):
        if constituents is None:
            place = f"{located[i].path}:{located[i].line}"
            click.echo(f"{place}: left out: it does not fit into memory", err=True)
        else:
            found.append(AttendedTree(i, located[i], *zip(*constituents, strict=True)))
    if not found:
        raise InputError("no tree in this file that the model can derive", path)
    if len(found) < len(located):
        click.echo(f"{len(located) - len(found)} of {len(located)} trees left out", err=True)
    return found


def _lines(trees: Sequence[AttendedTree], style: str) -> Iterator[str]:
    if style == CSV:
        yield joined(("tree", "label", "weights"), style) + "\n"
    for tree in trees:
        for label, weights in zip(tree.labels, tree.weights, strict=True):
            numbers = " ".join(f"{weight:.6f}" for weight in weights)
            yield joined((str(tree.number), label, numbers), style) + "\n"


def _page(trees: Sequence[AttendedTree], is_tagged: bool, name: str) -> Iterator[str]:
    sections = []
    for number, located, _, weights in trees:
        tree, tokens = located.tree, words(located.tree)
        tagged = tree if is_tagged else with_words(tree, tokens, [NO_TAG] * len(tokens))
        sections.append(attended(number + 1, tagged, weights))
    description = (
        f"{len(trees):,} trees. On an edge: how much of a child goes into its constituent."
    )
    return tree_page(sections, f"Attention of {name}", description)


def _analyse(trees: Sequence[AttendedTree], rules: HeadRules, numbers: str | None) -> None:
    found = AttentionAnalysis(rules)
    for tree in trees:
        found.add(tree.located.tree, tree.weights)
    click.echo("".join(found.tables()), nl=False)
    if numbers:
        write_json(numbers, found.to_json())
