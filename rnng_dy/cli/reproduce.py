"""`rnng-dy reproduce`: run everything from a treebank to the paper's tables."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.unknown import RULES
from rnng_dy import engine
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import ALPHA, AT_LEAST_1, SAMPLES, Names, device_option
from rnng_dy.engine import CPU
from rnng_dy.reproduce.runner import is_done, keys, run
from rnng_dy.reproduce.stages import GROUPS, PARTS, SECTIONS, UNKNOWN, Experiment, stages
from rnng_dy.reproduce.systems import System, parse
from rnng_dy.training.presets import NAMES

SINGLE_TAGS = ("jackknife", "gold", "none")
ALL_GROUPS = (*GROUPS, "report")
FILE = click.Path(exists=True, dir_okay=False, resolve_path=True)
FOLDER = click.Path(file_okay=False, resolve_path=True)


def _seeds(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        seeds = tuple(map(int, value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list such as 1,2,3") from None
    if len(set(seeds)) < len(seeds) or not 0 <= min(seeds) <= max(seeds) < 2**32:
        raise click.BadParameter(f"{value!r}: seeds differ, and are from 0 to 2^32 - 1")
    return seeds


def _systems(ctx: click.Context, param: click.Parameter, value: str) -> tuple[System, ...]:
    try:
        systems = tuple(parse(name.strip()) for name in value.split(","))
    except RnngError as error:
        raise click.BadParameter(str(error)) from None
    if len(set(systems)) < len(systems):
        raise click.BadParameter(f"{value!r}: each system once")
    return systems


@click.command()
@click.argument("corpus", type=click.Choice([*SECTIONS, "trees"]))
@click.option(
    "--treebank", type=FOLDER, metavar="FOLDER", help="The folder of the treebank, for ptb and ctb."
)
@click.option("--train", type=FILE, metavar="FILE", help="Training trees, for trees.")
@click.option("--dev", type=FILE, metavar="FILE", help="Development trees, for trees.")
@click.option("--test", type=FILE, metavar="FILE", help="Test trees, for trees.")
@click.option("--unk", type=click.Choice(RULES), help="Classes of unknown words.")
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    metavar="FOLDER",
    required=True,
    help="Folder for data, models and report.",
)
@click.option("--seeds", callback=_seeds, default="1", help="Seeds of the models, such as 1,2,3.")
@click.option(
    "--systems",
    callback=_systems,
    default=",".join(system.name for system in Experiment.systems),
    metavar="SYSTEM,SYSTEM,...",
    help="Systems to train, each of which is compared with the first. Each is composition[/state][/transitions], such "
    "as gated-attention or corrected/stack.",
)
@click.option("--jobs", type=AT_LEAST_1, default=1, help="Number of stages that run side by side.")
@device_option
@click.option(
    "--tags",
    default="jackknife",
    metavar="jackknife|gold|none|TRAIN,DEV,TEST",
    help="POS tags for the parser: those of a perceptron tagger, which is trained here; gold tags; none; or three "
    "files of word_TAG tokens.",
)
@click.option("--preset", type=click.Choice(NAMES), default="paper", help="Training settings.")
@click.option("--samples", type=SAMPLES, default=100, help="Number of trees drawn per sentence.")
@click.option(
    "--alpha", type=ALPHA, default=Experiment.alpha, help="Exponent that flattens the samples."
)
@click.option(
    "--beam",
    type=AT_LEAST_1,
    default=Experiment.beam,
    help="Beam of the search with the generative model; the fast track is a 20th of it, the word beam a 10th.",
)
@click.option(
    "--particles",
    type=AT_LEAST_1,
    default=Experiment.particles,
    help="Particles in each of two runs of the particle filter.",
)
@click.option("--epochs", type=AT_LEAST_1, help="Epochs of trainings, not the preset's.")
@click.option("--hidden", type=AT_LEAST_1, help="Size of hidden layers, not the paper's.")
@click.option("--lstm-input", type=AT_LEAST_1, help="Size of LSTMs' inputs, not the paper's.")
@click.option(
    "--stages",
    "groups",
    type=Names(ALL_GROUPS),
    help="Run only these stages. Their inputs must exist; a report needs neither search nor baselines.",
)
@click.option("--dry-run", is_flag=True, help="Print the stages to run, and run none.")
def reproduce(corpus, output, groups, jobs, device, dry_run, **options) -> None:
    """Make the paper's tables from a treebank: data, models, samples, baselines, evaluation and a report.

    CORPUS is ptb or ctb with --treebank, nltk (NLTK's sample of the Penn Treebank), or trees with --train, --dev and
    --test. A second run does only the stages that are missing or have other settings. The report is report.md and
    report.json.

    Example: rnng-dy reproduce nltk --preset fast --jobs 2 -o results
    """
    experiment = _experiment(corpus, **options)
    folder, planned, groups = Path(output), stages(experiment), groups or ALL_GROUPS
    if (folder / "config.json").exists():
        raise RnngError(f"{folder} is a model folder: name another --output")
    engine.gpu_number(device)
    if device != CPU and jobs > 1:
        raise click.UsageError("--jobs is for the CPU: one process keeps a GPU busy")
    if dry_run:
        key_of = keys(folder, planned)
        for stage in (stage for stage in planned if stage.group in groups):
            state = "up to date" if is_done(folder, stage, key_of[stage.name]) else "to do"
            click.echo(f"{state:>10}  {stage.name}: rnng-dy {' '.join(stage.command)}")
        return
    with ThreadPoolExecutor(jobs) as executor:
        try:
            run(folder, planned, executor, jobs, device, say, groups)
        except KeyboardInterrupt:
            warn("\nstopped; the same command continues")
            sys.exit(130)
    if "report" in groups:
        from rnng_dy.reproduce.report import write_report

        for path in write_report(folder, experiment):
            click.echo(str(path))


def _experiment(corpus, treebank, train, dev, test, unk, tags, epochs, hidden, lstm_input, **same):
    """Return the settings. Raises UsageError for a treebank or parts that are missing or given in vain."""
    given = {"--treebank": treebank, "--train": train, "--dev": dev, "--test": test}
    needed = {"nltk": (), "trees": ("--train", "--dev", "--test")}.get(corpus, ("--treebank",))
    for flag, value in given.items():
        if (value is not None) != (flag in needed):
            raise click.UsageError(f"{corpus} {'needs' if flag in needed else 'has no'} {flag}")
    if treebank and not Path(treebank).exists():
        raise RnngError(f"{treebank}: no such folder")
    sources = {} if corpus == "nltk" else dict(zip(PARTS, (train, dev, test), strict=True))
    sizes = {"epochs": epochs, "hidden": hidden, "lstm_input": lstm_input}
    for path in filter(None, (train, dev, test)):
        if not Path(path).is_file():
            raise RnngError(f"{path}: no regular file")
    paths = [] if tags in SINGLE_TAGS else [Path(path).absolute() for path in tags.split(",")]
    if paths and len(paths) != len(PARTS):
        raise click.UsageError(
            f"--tags: {tags!r} is neither {', '.join(SINGLE_TAGS)} nor three files"
        )
    return Experiment(
        corpus,
        dict.fromkeys(PARTS, treebank) if treebank else sources,
        tags="files" if paths else tags,
        tag_files=dict(zip(PARTS, map(str, paths), strict=False)),
        unk=unk or UNKNOWN.get(corpus, "berkeley"),
        training={name: value for name, value in sizes.items() if value is not None},
        **same,
    )
