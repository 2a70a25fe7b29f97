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
        """See click."""
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
        """See click."""
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
        """See click."""
        return "SYSTEM,SYSTEM,..."


common_options = all_of(
    click.option(
        "-o", "--output", type=FOLDER, required=True, help="Folder for data, models and report."
    ),
    click.option(
        "--seeds", type=Seeds(), default="1", help="Seeds of the models, separated by commas."
    ),
    click.option(
        "--systems",
        "--compositions",
        type=Systems(),
        default=",".join(system.name for system in Experiment.systems),
        help="Systems to train and compare. Each is composition[/state][/transitions], such as gated-attention or "
        "corrected/stack.",
    ),
    click.option(
        "--compare",
        type=click.Choice(["first", "pairs"]),
        default=Experiment.compare,
        help="Compare the first system with each other one, or all pairs.",
    ),
    job_options(jobs="Number of stages that run at the same time."),
    click.option(
        "--tags",
        type=PathName("tags", "file", SINGLE_TAGS),
        default="jackknife",
        metavar="jackknife|gold|none|TRAIN,DEV,TEST",
        help="POS tags for the parser: those of NLTK's perceptron tagger, which is trained here; gold tags; none; or "
        "three files of word_TAG tokens.",
    ),
    click.option(
        "--preset", type=click.Choice(NAMES), default="paper", help="Set of training settings."
    ),
    click.option(
        "--samples", type=AT_LEAST_1, default=100, help="Number of trees drawn per sentence."
    ),
    click.option(
        "--alpha",
        type=ALPHA,
        default=0.8,
        help="Exponent that flattens the distribution from which trees are drawn.",
    ),
    click.option(
        "--beam",
        type=AT_LEAST_1,
        default=Experiment.beam,
        help="Beam of the search with the generative model; the fast track is a 20th of it, the word beam a 10th.",
    ),
    click.option(
        "--particles",
        type=AT_LEAST_1,
        default=Experiment.particles,
        help="Particles in each of two runs of the particle filter.",
    ),
    click.option(
        "--epochs", type=AT_LEAST_1, help="Epochs of all trainings, instead of the preset's."
    ),
    click.option(
        "--hidden",
        type=AT_LEAST_1,
        help="Size of hidden layers in all models, instead of the paper's.",
    ),
    click.option(
        "--lstm-input",
        type=AT_LEAST_1,
        help="Size of the inputs of LSTMs in all models, instead of the paper's.",
    ),
    click.option(
        "--stages",
        "groups",
        type=Names(ALL_GROUPS),
        help="Run only these stages. Their inputs must exist; a report needs neither search nor baselines.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print the stages to run and an estimate of their time, without running them.",
    ),
)
"""The decorator that adds the options for every corpus."""
