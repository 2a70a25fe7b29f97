"""`rnng-dy self-train`: train a parser on gold trees and on trees of unlabelled text that a parser is sure of."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.json_lines import write_json
from oracle.regular_files import open_regular
from oracle.streams import from_json
from oracle.training_data import TreesFile
from rnng_dy.cli.group import Sectioned
from rnng_dy.cli.job import Job, job_options
from rnng_dy.cli.option_groups import together
from rnng_dy.cli.options import (
    SAMPLES,
    FiniteRange,
    device_option,
    models_option,
    resume_option,
    seed_option,
    setting_options,
)
from rnng_dy.cli.parse import Way, lines_of, way_to_parse, without_trees
from rnng_dy.cli.paths import FILE, FOLDER
from rnng_dy.cli.quiet import say
from rnng_dy.cli.source import parser_source, reader_of
from rnng_dy.cli.train import run_training
from rnng_dy.cli.tree_formats import (
    BESIDE,
    DRAWN,
    MBR,
    Wanted,
    generator_option,
    paper_of,
    require_generator,
    weight_option,
)
from rnng_dy.drawing.parsed_trees import TreeWriter
from rnng_dy.results import content_hash
from rnng_dy.search.surprisal import DEFAULT_OPTIONS
from rnng_dy.training.presets import NAMES, Settings
from rnng_dy.training.self_training import TRAIN, mix

PARSED, RECORD, PARSER = "silver.json", "self-train.json", "parser"
"""Files in the folder besides those of `mix`: all trees with posteriors, the inputs' hash, and the new parser."""


def _wanted(generator: str | None, weight: float, samples: int, seed: int) -> Wanted:
    require_generator(generator)
    return Wanted("json", None, samples, MBR, seed, generator, weight)


silver_trees = together(
    "wanted",
    _wanted,
    generator_option("the drawn trees"),
    weight_option(BESIDE, ", with --generator"),
    click.option("--samples", type=SAMPLES, default=DRAWN, help="Number of trees per sentence."),
    seed_option,
)


@click.command("self-train", cls=Sectioned)
@models_option
@silver_trees
@click.option("--trees", type=FILE, required=True, help="Gold trees.")
@click.option(
    "--dev-trees", type=FILE, required=True, help="Gold trees that choose the best model."
)
@click.option(
    "--into", "folder", type=FOLDER, required=True, help="Folder for trees and the new parser."
)
@click.option(
    "--keep-above",
    type=FiniteRange(0, 1),
    default=0.9,
    help="Keep trees whose constituents have this mean posterior, or a higher one.",
)
@click.option(
    "--preset", type=click.Choice(NAMES), default="fast", help="Settings, as for `train`."
)
@setting_options(Settings, "Training", but=("jobs", "seed"))
@parser_source
@job_options(
    resume_option,
    device_option,
    jobs="Number of processes that parse, and among which each minibatch is divided; the new parser differs slightly "
    "with it.",
)
def self_train(
    folders, wanted, trees, dev_trees, folder, keep_above, source, job, **settings
) -> None:
    """Train a parser on gold trees, and on trees of the sentences of INPUT that a parser is sure of.

    The parser, or an ensemble, draws trees of each sentence, from which the tree with the highest expected F1 is made.
    The training begins with the parameters of the parser, or of the first one of the ensemble, and adds words that
    occur at least twice. The folder gets silver.json with all trees that were made, silver.trees with those that are
    kept, train.trees with the gold trees before them, and the new parser. --gold-weight 3 reads each gold tree three
    times per epoch.

    Example: rnng-dy self-train --model parser --trees train.trees --dev-trees dev.trees --text news.txt --into silver
    """  # fmt: skip
    if "-" in (source.path, trees, dev_trees):
        raise click.UsageError("--resume reads INPUT and trees again: name files")
    # trees and models that cannot be used are errors before the work
    for path in (trees, dev_trees):
        open_regular(path).close()
        for _ in TreesFile(path):
            pass
    place = Path(folder)
    parser = job.open("discriminative", *folders)
    if wanted.generator:
        job.open("generative", wanted.generator)
    decides = wanted._replace(generator=None), source._replace(path="")
    key = content_hash(*job.content(), Path(source.path), *decides)
    _open_folder(place, job.resume, key)
    if not (place / PARSED).exists():
        way = way_to_parse(folders[0], wanted, DEFAULT_OPTIONS)
        _parse(job, parser, way, source, key, str(place / PARSED))
    trained = place / PARSER
    _keep_mixture(place, key, content_hash(Path(trees), keep_above), trained.exists())
    found = mix(trees, place / PARSED, keep_above, place)
    settings["gold"] = settings["gold"] or found.gold
    say(f"silver: {found.silver} trees of {found.sentences} sentences; gold: {found.gold} trees")
    run_training(
        "discriminative",
        mpi=False,
        trees=str(place / TRAIN),
        dev_trees=dev_trees,
        folder=str(trained),
        resume=trained.exists(),
        init=folders[0],
        extend=True,
        **{**settings, "jobs": job.jobs, "seed": wanted.seed, "device": job.device},
    )


def _open_folder(place: Path, resume: bool, key: str) -> None:
    """Make the folder, or see that it can be resumed. Raises RnngError if not."""
    record = place / RECORD
    if place.exists() and not resume:
        raise RnngError(f"{place} exists: continue with --resume, or name another --into folder")
    place.mkdir(parents=True, exist_ok=True)
    if not any(place.iterdir()):
        write_json(record, {"key": key})
    elif not record.exists() or key not in record.read_text(errors="replace"):
        raise RnngError(f"{place} was made from another parser, input or options: name another")


def _keep_mixture(place: Path, key: str, mixture: str, is_trained: bool) -> None:
    """Record the hash of what decides the training trees. Raises RnngError if a training with others has begun."""
    record = place / RECORD
    if not is_trained:
        write_json(record, {"key": key, "mixture": mixture})
    # version 0.3.0 kept no mixture
    elif from_json(record.read_text()).get("mixture", mixture) != mixture:
        raise RnngError(
            f"{place / PARSER} learns from other trees: give the same --trees and --keep-above, or remove it"
        )


def _parse(job: Job, parser, way: Way, source, key: str, output: str) -> None:
    """Write a line of JSON per sentence, with its tree."""
    reader, writer = reader_of(parser, source), TreeWriter("json", False, paper_of(output))
    batches, lines = way.batches(reader.sentences()), partial(lines_of, writer, way.trees)
    left_out_line, inputs = partial(without_trees, writer), [source.path]
    left_out = job.write(output, batches, lines, left_out_line, key, inputs=inputs)
    reader.report(left_out)
