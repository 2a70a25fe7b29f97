"""`rnng-dy reproduce`: run everything from a treebank to the paper's tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.unknown import RULES
from rnng_dy.cli.group import Group
from rnng_dy.cli.paths import FILE, FOLDER
from rnng_dy.cli.progress import clock
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.reproduce_options import ALL_GROUPS, SINGLE_TAGS, common_options
from rnng_dy.drawing import pages
from rnng_dy.execution.local import local_executor
from rnng_dy.reproduce.plan import PARTS, Experiment, Stage, stages
from rnng_dy.reproduce.runner import Runner


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
        source = str(Path(treebank).absolute())
        if not Path(source).exists():
            raise RnngError(f"{treebank}: no such folder")
        _reproduce(corpus, dict.fromkeys(PARTS, source), unk, **options)

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
    sources = {
        part: str(Path(path).absolute())
        for part, path in zip(PARTS, (train, dev, test), strict=True)
    }
    for path in sources.values():
        if not Path(path).is_file():
            raise RnngError(f"{path}: no such file")
    _reproduce("trees", sources, unk, **options)


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
    planned = stages(experiment)
    runner = Runner(folder, planned, options["job"].executor, say)
    chosen = [stage for stage in planned if stage.group in groups]
    if options["dry_run"]:
        _dry_run(runner, chosen, experiment, options["job"].executor.jobs)
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
        from rnng_dy.reproduce.made import make_report

        for path in make_report(folder, experiment, runner, planned):
            click.echo(str(path))


def _tags(given: str) -> tuple[str, dict[str, str]]:
    if given in SINGLE_TAGS:
        return given, {}
    paths = [Path(part).absolute() for part in given.split(",")]
    if len(paths) != len(PARTS):
        raise click.UsageError(
            f"--tags: {given!r} is neither {', '.join(SINGLE_TAGS)} nor three files"
        )
    for path in paths:
        if not path.is_file():
            raise RnngError(f"{path}: no such file of tags")
    return "files", {part: str(path) for part, path in zip(PARTS, paths, strict=True)}


def _dry_run(runner: Runner, chosen: Sequence[Stage], experiment: Experiment, jobs: int) -> None:
    """Print each stage with its state and estimated time."""
    from rnng_dy.reproduce.estimate import estimate, part_sizes

    missing = [stage for stage in chosen if not runner.is_done(stage)]
    # counted by this machine, since it may be in a folder that no other machine sees
    sizes = part_sizes(runner, stages(experiment), local_executor())
    estimated = estimate(missing, experiment, sizes["train"], sizes["test"])
    for stage in chosen:
        seconds = estimated.get(stage.name)
        state = f"about {clock(seconds)}" if seconds else "to do"
        state = state if stage in missing else "up to date"
        click.echo(f"{state:>16}  {stage.name}: rnng-dy {' '.join(stage.command)}")
    total = clock(sum(estimated.values()) / jobs)
    click.echo(f"{len(missing)} of {len(chosen)} stages to do; about {total} with {jobs} at a time")
