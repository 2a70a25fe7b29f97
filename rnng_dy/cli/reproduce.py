"""`rnng-dy reproduce`: run everything from a treebank to the paper's tables."""

from pathlib import Path

import click

from oracle.unknown import RULES
from rnng_dy import engine
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import SEED, Command, ListOf, device_option
from rnng_dy.cli.rules import option
from rnng_dy.cli.signature import version
from rnng_dy.drawing.measured_words import require_matplotlib
from rnng_dy.parallel import check_jobs, tidy
from rnng_dy.reproduce.runner import run
from rnng_dy.reproduce.stages import GROUPS, PARTS, SEARCH, SECTIONS, UNKNOWN, Experiment, stages
from rnng_dy.reproduce.systems import TAGS, parse
from rnng_dy.settings import AT_LEAST_1, COUNT
from rnng_dy.training.presets import NAMES

SOURCES = {"nltk": "no SOURCE", "trees": "files: TRAIN DEV TEST..."}
"""What a corpus needs, if not a folder."""
ALL_GROUPS = (*GROUPS, "report")
USUAL_GROUPS = ",".join(group for group in ALL_GROUPS if group != SEARCH)
STAGES = ListOf(click.Choice(ALL_GROUPS))
WHICH = (
    f"Run only these stages. {SEARCH} adds perplexities by beam and particles, and samples at "
    "other alphas."
)
FOLDER = click.Path(file_okay=False, resolve_path=True)


@click.command(cls=Command)
@click.argument("corpus", type=click.Choice([*SECTIONS, "trees"]))
@click.argument(
    "sources", type=click.Path(exists=True, resolve_path=True), nargs=-1, metavar="[SOURCE]..."
)
@option("-o --output", "Folder to write.", FOLDER, metavar="FOLDER", required=True)
@option("--seeds", "Seeds of the models.", ListOf(SEED), default="1", metavar="N,N,...")
@option(
    "--systems",
    "Systems as composition[/state][/transitions]; each is compared with the first.",
    ListOf(click.types.FuncParamType(parse)),
    default=",".join(map(str, Experiment.systems)),
    metavar="SYSTEM,SYSTEM,...",
)
@option("--jobs", "Number of stages that run side by side.", AT_LEAST_1, default=1)
@device_option
@option("--tags", "The parser's POS tags.", click.Choice([*TAGS]), default="jackknife")
@option("--unk", "Classes of unknown words.", click.Choice(RULES))
@option("--preset", "Training settings.", click.Choice(NAMES), default="paper")
@option("--epochs", "Epochs of trainings, not the preset's.", AT_LEAST_1)
@option("--hidden", "Size of all layers, not the paper's.", AT_LEAST_1)
@option("--samples", "Number of trees drawn per sentence.", COUNT, default=100)
@option("--stages", WHICH, STAGES, "groups", default=USUAL_GROUPS)
def reproduce(corpus, sources, output, groups, jobs, device, unk, epochs, hidden, **same) -> None:
    """Make the paper's tables from a treebank: data, models, samples, evaluation and a report.

    CORPUS is ptb or ctb with the treebank's folder as SOURCE, nltk (NLTK's sample of the Penn
    Treebank), or trees with files: TRAIN DEV TEST, and further test files, of which each has an F1.
    A second run does only the stages that are missing or have other settings. The report is
    report.md and report.json.

    Example: rnng-dy reproduce nltk --preset fast --jobs 2 -o results
    """
    if len(sources) != {"nltk": 0, "trees": max(len(sources), len(PARTS))}.get(corpus, 1):
        raise click.UsageError(f"{corpus} needs {SOURCES.get(corpus, 'a SOURCE, its folder')}")
    files = sources[:1], sources[1:2], sources[2:]
    if len({Path(path).stem for path in sources[2:]}) < len(sources[2:]):
        raise click.UsageError("two test files have one name in the report: rename one")
    if {*files[0]}.intersection(sources[1:]):
        part = "DEV" if files[0] == files[1] else "TEST"
        raise click.UsageError(f"TRAIN and {part} are the same file, {sources[0]}")
    of_parts = files if corpus == "trees" else [sources] * len(PARTS)
    folder = Path(output)
    experiment = Experiment(
        corpus,
        dict(zip(PARTS, of_parts, strict=True)),
        unk=unk or UNKNOWN.get(corpus, "berkeley"),
        training=(f" --epochs {epochs}" if epochs else "")
        + (f" --hidden {hidden} --set lstm_input={hidden}" if hidden else ""),
        **same,
    )
    engine.gpu_number(device)
    check_jobs(jobs, device)
    if SEARCH in groups:
        require_matplotlib()
    try:
        with tidy():
            run(folder, stages(experiment), jobs, device, say, groups, version())
    except KeyboardInterrupt as stop:
        raise type(stop)("stopped; the same command continues") from None
    if "report" in groups:
        from rnng_dy.reproduce.report import write_report

        for path in write_report(folder, experiment):
            click.echo(str(path))
