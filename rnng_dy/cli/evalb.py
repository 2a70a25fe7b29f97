"""`rnng-dy evalb`: compute labelled bracketing scores."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from oracle.errors import RnngError
from rnng_dy.cli.paths import FILE, PathName, require_read_once
from rnng_dy.cli.quiet import warn
from rnng_dy.evaluation.evalb_files import score_files
from rnng_dy.evaluation.evalb_params import BUILT_IN, Params
from rnng_dy.evaluation.evalb_report import (
    error_lines,
    format_csv,
    format_evalb,
    format_json,
    format_table,
    stopping_sentence,
)

OWN, GOLD = "own", "gold"

tags_option = click.option(
    "--tags",
    type=click.Choice([OWN, GOLD]),
    default=OWN,
    help="POS tags by which EVALB recognises punctuation: each tree's own tags, or the gold tree's tags for both "
    "trees. With own tags, a sentence is not scored if its two trees keep different words.",
)
FORMATS = {"table": format_table, "evalb": format_evalb, "json": format_json, "csv": format_csv}


@click.command()
@click.argument("gold", type=FILE, metavar="GOLD.trees")
@click.argument("system", type=FILE, metavar="SYS.trees")
@click.option(
    "--params",
    type=PathName("file", "file", list(BUILT_IN)),
    default="collins",
    metavar="NAME|FILE",
    help=f"Built-in parameters, {' or '.join(BUILT_IN)}, or a parameter file of EVALB.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="table",
    help="A table, the format of EVALB, JSON, or CSV as in RFC 4180.",
)
@click.option(
    "--unlabelled",
    is_flag=True,
    help="Ignore labels: compare only the first and last words of brackets (LABELED 0).",
)
@tags_option
def evalb(gold: str, system: str, params: str, style: str, unlabelled: bool, tags: str) -> None:
    """Score the trees of SYS against GOLD by EVALB's rules.

    Both files have one tree per line; - is standard input. SYS may be JSON of `parse`: its first trees are scored,
    and if it has posteriors, the expected calibration error of the brackets is a further figure. Sentences that
    cannot be scored are reported and counted. --format evalb prints the same lines as EVALB, and stops when EVALB
    stops because of MAX_ERROR. If the parser read other POS tags than gold, give --tags gold; the tagging accuracy is
    then meaningless.

    Example: rnng-dy evalb dev.trees parsed.trees --tags gold
    """
    require_read_once(gold, system, params)
    if not (params == "-" or params in BUILT_IN or os.path.exists(params)):
        raise RnngError(f"{params} is no file and none of the parameters {', '.join(BUILT_IN)}")
    rules = BUILT_IN[params] if params in BUILT_IN else Params.read(params)
    if unlabelled:
        rules = replace(rules, labelled=False)
    if rules.debug:
        warn(f"{params}: DEBUG {rules.debug} prints nothing here")
    scores = score_files(gold, system, rules, tags == GOLD)
    click.echo(FORMATS[style](scores), nl=False)
    if style == "evalb":
        for line in error_lines(scores):
            warn(line)
        stop = stopping_sentence(scores)
        if stop is not None:
            raise RnngError(
                f"stopped at sentence {stop}: more errors than MAX_ERROR {rules.max_error} allows; "
                "see that both files hold the same words, or set a higher MAX_ERROR with --params"
            )
    else:
        hint_at_tags(scores.errors, tags)


def hint_at_tags(errors: int, tags: str) -> None:
    """Print a hint at --tags gold if sentences differ from gold in their words after EVALB's deletions."""
    if errors and tags == OWN:
        warn(f"{errors} with other words than gold: if only tags differ, --tags gold scores them")
