"""`rnng-dy evalb`: compute labelled bracketing scores, and compare systems by them."""

import sys

import click

from rnng_dy.cli.messages import warn
from rnng_dy.cli.options import FILE, Command, outputs_option, titles, write_output
from rnng_dy.cli.rules import flag, option
from rnng_dy.cli.signature import signature
from rnng_dy.evaluation import evalb_report as report
from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.evaluation.evalb_params import BUILT_IN, Params
from rnng_dy.evaluation.evalb_sentence import Status


@click.command(cls=Command)
@click.argument("gold", type=FILE, metavar="GOLD.trees")
@click.argument("systems", type=FILE, nargs=-1, required=True, metavar="SYSTEM.trees...")
@option("--params", f"Parameters: {', '.join(BUILT_IN)}, or a file.", FILE, default="collins")
@outputs_option({".txt": "a table", ".evalb": "the listing of EVALB", ".json": "all figures"})
@flag("--gold-tags", "Recognise punctuation by gold tags, not by each tree's own.")
@option("--oracle", "Oracle whose words and POS tags the systems' trees get.", FILE)
def evalb(gold, systems, params, outputs, gold_tags, oracle) -> None:
    """Score the trees of systems against GOLD by EVALB's rules.

    Each file has one tree per line; - is standard input. Sentences that cannot be scored are
    reported and counted. --format evalb prints the same lines as EVALB. If the parser read other
    POS tags than gold, give --gold-tags; the tagging accuracy is then meaningless. --oracle scores
    trees of the original program, whose words may be classes of unknown words.

    Several systems are compared on the sentences that can be scored for all of them: figures, and
    differences in F1 of all pairs. The interval is by a paired bootstrap, p by a permutation test
    that swaps the systems' trees, and also corrected for the number of pairs by Holm's method.
    There is no p if fewer than six sentences differ. If a single system has no sentence that can be
    scored, the exit code is 1.

    Example: rnng-dy evalb dev.trees greedy.trees mbr.trees --gold-tags
    """
    if ".evalb" in outputs and len(systems) > 1:
        raise click.UsageError("the listing of EVALB is of one system")
    names = titles(systems)
    rules = BUILT_IN.get(params) or Params.read(params)
    scores = dict(zip(names, score_systems(gold, systems, rules, gold_tags, oracle), strict=True))
    for form, path in outputs.items():
        write_output(path, [report.format_scores(scores, form, signature())])
    problems = [pair for system in scores.values() for pair in system.unscorable]
    errors = [(number, s.problem) for number, s in problems if s.status == Status.ERROR]
    if ".evalb" in outputs:
        for number, problem in errors:
            warn(f"{number} : {problem}")
    elif errors and not gold_tags:
        remedy = "--gold-tags scores them if only tags differ"
        warn(f"{len(errors)} with other words than gold: {remedy}")
    if not any(system.valid for system in scores.values()):
        sys.exit(1)
