"""`rnng-dy reproduce`: run everything from a treebank to the paper's tables."""

from __future__ import annotations

from pathlib import Path

import click

from oracle.unknown import RULES
from rnng_dy import engine
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import SEED, Command, ListOf, device_option
from rnng_dy.parallel import check_jobs, tidy
from rnng_dy.reproduce.runner import run
from rnng_dy.reproduce.stages import GROUPS, PARTS, SECTIONS, UNKNOWN, Experiment, stages
from rnng_dy.reproduce.systems import parse
from rnng_dy.settings import AT_LEAST_1, COUNT
from rnng_dy.training.presets import NAMES

SOURCES = {"nltk": "no SOURCE", "trees": "three files: TRAIN DEV TEST"}
"""What a corpus needs, if not a folder."""
TAGS = ("jackknife", "gold", "none")
ALL_GROUPS = (*GROUPS, "report")
FOLDER = click.Path(file_okay=False, resolve_path=True)


@click.command(cls=Command)
@click.argument("corpus", type=click.Choice([*SECTIONS, "trees"]))
@click.argument(
    "sources", type=click.Path(exists=True, resolve_path=True), nargs=-1, metavar="[SOURCE]..."
)
@click.option(
    "-o", "--output", type=FOLDER, metavar="FOLDER", required=True, help="Folder to write."
)
@click.option(
    "--seeds", type=ListOf(SEED), default="1", metavar="N,N,...", help="Seeds of the models."
)
@click.option(
    "--systems",
    type=ListOf(click.types.FuncParamType(parse)),
    default=",".join(system.name for system in Experiment.systems),
    metavar="SYSTEM,SYSTEM,...",
    help="Systems as composition[/state][/transitions]; each is compared with the first.",
)
@click.option("--jobs", type=AT_LEAST_1, default=1, help="Number of stages that run side by side.")
@device_option
@click.option("--tags", type=click.Choice(TAGS), default="jackknife", help="The parser's POS tags.")
@click.option("--unk", type=click.Choice(RULES), help="Classes of unknown words.")
@click.option("--preset", type=click.Choice(NAMES), default="paper", help="Training settings.")
@click.option("--epochs", type=AT_LEAST_1, help="Epochs of trainings, not the preset's.")
@click.option("--hidden", type=AT_LEAST_1, help="Size of all layers, not the paper's.")
@click.option("--samples", type=COUNT, default=100, help="Number of trees drawn per sentence.")
@click.option(
    "--stages",
    "groups",
    type=ListOf(click.Choice(ALL_GROUPS)),
    default=",".join(ALL_GROUPS),
    help="Run only these stages.",
)
def reproduce(corpus, sources, output, groups, jobs, device, unk, epochs, hidden, **same) -> None:
    """Make the paper's tables from a treebank: data, models, samples, evaluation and a report.

    CORPUS is ptb or ctb with the treebank's folder as SOURCE, nltk (NLTK's sample of the Penn
    Treebank), or trees with three files: TRAIN DEV TEST. A second run does only the stages that are
    missing or have other settings. The report is report.md and report.json.

    Example: rnng-dy reproduce nltk --preset fast --jobs 2 -o results
    """
    if len(sources) != {"nltk": 0, "trees": len(PARTS)}.get(corpus, 1):
        raise click.UsageError(f"{corpus} needs {SOURCES.get(corpus, 'a SOURCE, its folder')}")
    folder = Path(output)
    experiment = Experiment(
        corpus,
        dict(zip(PARTS, sources * len(PARTS), strict=False)),
        unk=unk or UNKNOWN.get(corpus, "berkeley"),
        training=(f" --epochs {epochs}" if epochs else "")
        + (f" --hidden {hidden} --set lstm_input={hidden}" if hidden else ""),
        **same,
    )
    engine.gpu_number(device)
    check_jobs(jobs, device)
    try:
        with tidy():
            run(folder, stages(experiment), jobs, device, say, groups)
    except KeyboardInterrupt as stop:
        raise type(stop)("stopped; the same command continues") from None
    if "report" in groups:
        from rnng_dy.reproduce.report import write_report

        for path in write_report(folder, experiment):
            click.echo(str(path))
