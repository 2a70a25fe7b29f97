"""`rnng-dy reproduce`: run everything from a treebank to the paper's tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.unknown import RULES
from rnng_dy import engine
from rnng_dy.cli.group import Group
from rnng_dy.cli.option_groups import all_of
from rnng_dy.cli.options import ALPHA, AT_LEAST_1, SAMPLES, Names, device_option
from rnng_dy.cli.paths import FILE, FOLDER, PathName
from rnng_dy.cli.progress import clock
from rnng_dy.cli.quiet import say, warn
from rnng_dy.drawing import pages
from rnng_dy.engine import CPU
from rnng_dy.execution.local import LocalCommands, check_jobs
from rnng_dy.known_models import CONFIG
from rnng_dy.reproduce.plan import GROUPS, PARTS, Experiment, Stage, stages
from rnng_dy.reproduce.runner import Runner
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
        if len(set(seeds)) < len(seeds) or not 0 <= min(seeds) <= max(seeds) < 2**32:
            self.fail(f"{value!r}: seeds differ, and are from 0 to 2^32 - 1", param, ctx)
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
    click.option(
        "--jobs", type=AT_LEAST_1, default=1, help="Number of stages that run at the same time."
    ),
    device_option,
    click.option(
        "--tags",
        type=PathName("tags", "file", SINGLE_TAGS),
        default="jackknife",
        metavar="jackknife|gold|none|TRAIN,DEV,TEST",
        help="POS tags for the parser: those of a perceptron tagger, which is trained here; gold tags; none; or "
        "three files of word_TAG tokens.",
    ),
    click.option(
        "--preset", type=click.Choice(NAMES), default="paper", help="Set of training settings."
    ),
    click.option(
        "--samples", type=SAMPLES, default=100, help="Number of trees drawn per sentence."
    ),
    click.option(
        "--alpha",
        type=ALPHA,
        default=Experiment.alpha,
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


@click.group(cls=Group)
def reproduce() -> None:
    """Make the paper's tables from a treebank: data, models, samples, baselines, evaluation and a report.

    A second run does only the stages that are missing or have changed. The report is report.md, report.json and
    report.html.
    """


def _treebank_command(corpus: str, what: str, unk: str) -> None:
    @reproduce.command(corpus, short_help=what)
    @click.option("--treebank", type=FOLDER, required=True, help="The folder of the treebank.")
    @common_options
    def command(treebank: str, **options) -> None:
        if not Path(treebank).exists():
            raise RnngError(f"{treebank}: no such folder")
        _reproduce(corpus, dict.fromkeys(PARTS, str(Path(treebank).absolute())), unk, **options)

    command.help = f"{what}\n\nExample: rnng-dy reproduce {corpus} --treebank FOLDER -o results"


_treebank_command(
    "ptb", "The Penn Treebank: sections 02-21 to train, 24 as dev part, 23 to test.", "berkeley"
)
_treebank_command(
    "ctb",
    "The Chinese Treebank: files 001-270 and 440-1151 to train, 301-325 as dev part, 271-300 to test.",
    "single",
)


@reproduce.command("nltk")
@common_options
def reproduce_nltk(**options) -> None:
    """NLTK's sample of the Penn Treebank: files 1-159 to train, 160-179 as dev part, 180-199 to test.

    Example: rnng-dy reproduce nltk --preset fast --jobs 2 -o results
    """
    _reproduce("nltk", {}, "berkeley", **options)


@reproduce.command("trees")
@click.option("--train", type=FILE, required=True, help="Training trees.")
@click.option("--dev", type=FILE, required=True, help="Development trees.")
@click.option("--test", type=FILE, required=True, help="Test trees.")
@click.option(
    "--unk", type=click.Choice(RULES), default="berkeley", help="Classes of unknown words."
)
@common_options
def reproduce_trees(train, dev, test, unk, **options) -> None:
    """Any treebank, as three files of trees.

    Example: rnng-dy reproduce trees --train a.trees --dev b.trees --test c.trees -o results
    """
    _reproduce("trees", _of_parts((train, dev, test), "no such file"), unk, **options)


def _of_parts(paths: Sequence[str], problem: str) -> dict[str, str]:
    """Return the absolute path of the file of each part. Raises RnngError, with the problem, if one is missing."""
    found = {part: Path(path).absolute() for part, path in zip(PARTS, paths, strict=True)}
    for path in found.values():
        if not path.is_file():
            raise RnngError(f"{path}: {problem}")
    return {part: str(path) for part, path in found.items()}


def _reproduce(corpus: str, sources: Mapping[str, str], unk: str, **options) -> None:
    tags, files = _tags(options["tags"])
    training = {name: options[name] for name in ("epochs", "hidden", "lstm_input")}
    same = ("seeds", "preset", "samples", "alpha", "systems", "compare", "beam", "particles")
    experiment = Experiment(
        corpus,
        sources,
        tags=tags,
        tag_files=files,
        unk=unk,
        training={name: value for name, value in training.items() if value is not None},
        **{name: options[name] for name in same},
    )
    groups = options["groups"] or ALL_GROUPS
    folder = Path(options["output"])
    if folder.exists() and not folder.is_dir():
        raise RnngError(f"{folder} is no folder: name another --output")
    if (folder / CONFIG).exists():
        raise RnngError(f"{folder} is a model folder: name another --output")
    planned, jobs, device = stages(experiment), options["jobs"], options["device"]
    engine.gpu_number(device)
    check_jobs(jobs, device)
    runner = Runner(folder, planned, LocalCommands(jobs), say, device)
    chosen = [stage for stage in planned if stage.group in groups]
    if options["dry_run"]:
        _dry_run(runner, chosen, experiment, jobs, device)
        return
    if "report" in groups:
        pages.require()
    folder.mkdir(parents=True, exist_ok=True)
    runner.stages = chosen
    try:
        runner.run()
    except KeyboardInterrupt:
        warn("\nstopped; the same command continues")
        sys.exit(130)
    if "report" in groups:
        from rnng_dy.reproduce.report import make_report

        for path in make_report(folder, experiment, runner, planned):
            click.echo(str(path))


def _tags(given: str) -> tuple[str, dict[str, str]]:
    if given in SINGLE_TAGS:
        return given, {}
    paths = given.split(",")
    if len(paths) != len(PARTS):
        raise click.UsageError(
            f"--tags: {given!r} is neither {', '.join(SINGLE_TAGS)} nor three files"
        )
    return "files", _of_parts(paths, "no such file of tags")


def _dry_run(
    runner: Runner, chosen: Sequence[Stage], experiment: Experiment, jobs: int, device: str
) -> None:
    """Print each stage with its state and estimated time on the CPU."""
    from rnng_dy.reproduce.estimate import estimate, part_sizes

    missing = [stage for stage in chosen if not runner.is_done(stage)]
    # counted by this machine, since it may be in a folder that no other machine sees
    sizes = part_sizes(runner, stages(experiment), LocalCommands())
    estimated = estimate(missing, experiment, sizes["train"], sizes["test"])
    for stage in chosen:
        seconds = estimated.get(stage.name)
        state = f"about {clock(seconds)}" if seconds else "to do"
        state = state if stage in missing else "up to date"
        click.echo(f"{state:>16}  {stage.name}: rnng-dy {' '.join(stage.command)}")
    total = clock(sum(estimated.values()) / jobs)
    on = "" if device == CPU else " on the CPU"
    click.echo(
        f"{len(missing)} of {len(chosen)} stages to do; about {total} with {jobs} at a time{on}"
    )
