"""`rnng-dy attention`: the attention weights of a model with gated attention, and their analysis."""

from __future__ import annotations

from pathlib import Path

import click

from oracle.brackets import read_trees
from oracle.errors import InputError, RnngError
from oracle.files import write_json
from oracle.treebank import has_preterminals
from rnng_dy import registry
from rnng_dy.cli.job import ModelFolder, open_model
from rnng_dy.cli.options import device_option, json_option, model_option, table_format_option
from rnng_dy.cli.paths import FILE, PAGE, check_files, write_output
from rnng_dy.cli.quiet import warn
from rnng_dy.drawing import attended
from rnng_dy.evaluation.attention import AttentionAnalysis
from rnng_dy.evaluation.head_rules import HeadRules, collins
from rnng_dy.search.attention import attended_trees


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
    help="Print per label how sharp attention is, and how often its maximum is on the head that head rules choose.",
)
@click.option(
    "--head-rules",
    "rules_path",
    type=FILE,
    help="With --analysis: file of head rules.  [default: Collins' rules for the Penn Treebank]",
)
@json_option
@click.option(
    "--html", "page", type=PAGE, help="Write a page with the trees and the weights on their edges."
)
@device_option
def attention(folder, trees, output, style, analysis, rules_path, numbers, page, device) -> None:
    """Print the attention weights of a model with --composition gated-attention on TREES.

    The output has a line per constituent, inner ones before outer ones: number of the tree from 0, label, and the
    weights of the children from left to right, separated by blanks. CSV begins with a line of column names. A tree
    that the model cannot derive is reported and left out. --analysis needs trees with POS tags.

    Example: rnng-dy attention --model generator test.trees --analysis --html attention.html
    """
    if (rules_path or numbers) and not analysis:
        raise click.UsageError("--head-rules and --json are for --analysis")
    if analysis and output == "-":
        raise click.UsageError("weights and --analysis go to standard output: name a file with -o")
    if output is None and not (analysis or page):
        output = "-"
    check_files([output, numbers, page], [trees, rules_path])
    rules = HeadRules.read(rules_path) if rules_path else collins()
    located = list(read_trees(trees, bare=True))
    is_tagged = all(has_preterminals(tree.tree) for tree in located)
    if analysis and not is_tagged:
        raise InputError("trees without POS tags: head rules need (TAG word)", trees)
    kind = registry.kind_of(folder)
    if not kind.has_trees:
        raise RnngError(f"{folder} is a {kind.name} model: it composes nothing")
    model = open_model(ModelFolder(kind.name, folder, device))
    found = attended_trees(model, located, is_tagged, warn)
    if not found:
        raise InputError("no tree in this file that the model can derive", trees)
    if len(found) < len(located):
        warn(f"{len(located) - len(found)} of {len(located)} trees left out")
    # named files first, since a reader of standard output may leave
    if page:
        write_output(page, attended.page(found, is_tagged, Path(folder).name))
    write_output(output, attended.table_lines(found, style))
    if analysis:
        analysed = AttentionAnalysis(rules)
        for tree in found:
            analysed.add(tree.located.tree, tree.weights)
        if numbers:
            write_json(numbers, analysed.to_json())
        click.echo("".join(analysed.tables()), nl=False)
