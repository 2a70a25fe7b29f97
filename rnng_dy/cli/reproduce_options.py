"""Options of `rnng-dy reproduce` for every corpus, with their types."""

from __future__ import annotations

import click

from oracle.errors import RnngError
from rnng_dy.cli.job import job_options
from rnng_dy.cli.option_groups import all_of
from rnng_dy.cli.options import ALPHA, AT_LEAST_1, Names
from rnng_dy.cli.paths import FOLDER, PathName
from rnng_dy.reproduce.plan import GROUPS, Experiment
from rnng_dy.reproduce.systems import System, every, parse
from rnng_dy.training.presets import NAMES

SINGLE_TAGS = ("jackknife", "gold", "none")
ALL_GROUPS = (*GROUPS, "report")


class Seeds(click.ParamType):
    """Seeds separated by commas."""

    name = "seeds"

    def convert(self, value, param, ctx) -> tuple[int, ...]:
        try:
            seeds = tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list such as 1,2,3", param, ctx)
        if len(set(seeds)) < len(seeds) or min(seeds) < 0:
            self.fail(f"{value!r}: seeds differ and are not negative", param, ctx)
        return seeds


class Systems(Names):
    """Names of systems separated by commas."""

    name = "systems"

    def __init__(self):
        super().__init__([system.name for system in every()])

    def convert(self, value, param, ctx) -> tuple[System, ...]:
        if not isinstance(value, str):
            return value
        try:
            systems = tuple(parse(name.strip()) for name in value.split(","))
        except RnngError as error:
            self.fail(str(error), param, ctx)
        if len(set(systems)) < len(systems):
            self.fail(f"{value!r}: each system once.", param, ctx)
        return systems

    def get_metavar(self, *_, **__) -> str:
        return "SYSTEM,SYSTEM,..."


common_options = all_of(
    click.option("-o", "--output", type=FOLDER, required=True, help="Folder for everything."),
    click.option("--seeds", type=Seeds(), default="1", help="Seeds of the models."),
    click.option(
        "--systems",
        "--compositions",
        type=Systems(),
        default=",".join(system.name for system in Experiment.systems),
        help="To train and compare: each a composition[/state][/transitions], such as gated-attention or "
        "corrected/stack.",
    ),
    click.option(
        "--compare",
        type=click.Choice(["first", "pairs"]),
        default=Experiment.compare,
        help="The first system with each other one, or each with each.",
    ),
    job_options(jobs="Stages at a time."),
    click.option(
        "--tags",
        type=PathName("tags", "file", SINGLE_TAGS),
        default="jackknife",
        metavar="jackknife|gold|none|TRAIN,DEV,TEST",
        help="POS tags for the parser: of NLTK's perceptron trained here, gold, none, or files of word_TAG tokens.",
    ),
    click.option(
        "--preset", type=click.Choice(NAMES), default="paper", help="Settings of training."
    ),
    click.option("--samples", type=AT_LEAST_1, default=100, help="Trees drawn for each sentence."),
    click.option(
        "--alpha",
        type=ALPHA,
        default=0.8,
        help="Exponent that flattens what they are drawn from.",
    ),
    click.option(
        "--beam",
        type=AT_LEAST_1,
        default=Experiment.beam,
        help="Of the generative model's search; a 20th is its fast track, a 10th its word beam.",
    ),
    click.option(
        "--particles",
        type=AT_LEAST_1,
        default=Experiment.particles,
        help="Of its particle filter, in each of two runs.",
    ),
    click.option("--epochs", type=AT_LEAST_1, help="For all models, instead of the preset's."),
    click.option("--hidden", type=AT_LEAST_1, help="For all models, instead of the paper's sizes."),
    click.option("--lstm-input", type=AT_LEAST_1, help="The same for what LSTMs read."),
    click.option(
        "--stages",
        "groups",
        type=Names(ALL_GROUPS),
        help="Only these, where what they need is there; a report does without search and baselines.",
    ),
    click.option(
        "--dry-run", is_flag=True, help="Say what will run, and about how long it will take."
    ),
)
"""The decorator that adds the options for every corpus."""
