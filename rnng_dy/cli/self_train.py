"""`rnng-dy self-train`: train a parser on gold trees and on trees of unlabelled text that a parser is sure of."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.parsed import ParsedSentence
from oracle.regular_files import open_regular
from oracle.training_data import TreesFile
from rnng_dy.cli.group import Sectioned
from rnng_dy.cli.job import Job, sentences_job
from rnng_dy.cli.options import (
    AT_LEAST_1,
    FiniteRange,
    models_option,
    seed_option,
    setting_options,
)
from rnng_dy.cli.paths import FILE, FOLDER, GENERATIVE
from rnng_dy.cli.quiet import say
from rnng_dy.cli.source import in_words, parser_source, reader_of
from rnng_dy.cli.train import run_training
from rnng_dy.execution.outputs import content_hash, write_json
from rnng_dy.search.trees import NumberedSentence
from rnng_dy.training.presets import NAMES, Settings
from rnng_dy.training.self_training import (
    TRAIN,
    SilverOptions,
    mix,
    settings_like,
    silver_lines,
)

PARSED, RECORD, PARSER = "silver.json", "self-train.json", "parser"
"""Files in the folder besides those of `mix`: all trees with posteriors, the inputs' hash, and the new parser."""
SAMPLED_WORDS = 10_000
"""Words in one batch; each word counts once per sample."""


@click.command("self-train", cls=Sectioned)
@models_option
@click.option(
    "--choose-by",
    "generator",
    type=GENERATIVE,
    help="Generative model that chooses the sample with the highest joint probability.  [default: the tree with the "
    "highest expected F1]",
)
@click.option("--trees", type=FILE, required=True, help="Gold trees.")
@click.option(
    "--dev-trees", type=FILE, required=True, help="Gold trees that choose the best model."
)
@click.option(
    "--into", "folder", type=FOLDER, required=True, help="Folder for trees and the new parser."
)
@click.option("--samples", type=AT_LEAST_1, default=100, help="Number of trees per sentence.")
@click.option(
    "--keep-above",
    type=FiniteRange(0, 1),
    default=0.9,
    help="Keep trees whose constituents have this mean posterior in the samples, or a higher one.",
)
@click.option(
    "--preset", type=click.Choice(NAMES), default="fast", help="Settings, as for `train`."
)
@setting_options(Settings, "Training", but=("gold", "jobs", "seed"))
@seed_option
@parser_source
@sentences_job
def self_train(
    folders, generator, trees, dev_trees, folder, samples, keep_above, seed, source, job, **settings
) -> None:
    """Train a parser on gold trees, and on trees of the sentences of INPUT that a parser is sure of.

    The parser, or an ensemble, draws trees of each sentence, of which one is chosen. The new parser has its
    dimensions, word vectors and tagger. The folder gets silver.json with all chosen trees, silver.trees with those
    that are kept, train.trees with the gold trees before them, and the new parser. --gold-weight 3 reads each gold
    tree three times per epoch. --jobs is also the number of processes that share each minibatch.

    Example: rnng-dy self-train --model parser --trees train.trees --dev-trees dev.trees --text news.txt --into silver
    """  # fmt: skip
    if "-" in (source.path, trees, dev_trees):
        raise click.UsageError("--resume reads INPUT and trees again: name files")
    # trees and models that cannot be used are errors before the work
    for path in (trees, dev_trees):
        open_regular(path).close()
        for _ in TreesFile(path):
            pass
    place, options = Path(folder), SilverOptions(samples, seed)
    job.beside(generator)
    parser = job.open("discriminative", *folders)
    key = content_hash(*job.content(), Path(source.path), source._replace(path=""), *options)
    _open_folder(place, job.resume, key)
    if not (place / PARSED).exists():
        _parse(job, parser, options, source, key, str(place / PARSED))
    found = mix(trees, place / PARSED, keep_above, place)
    say(f"silver: {found.silver} trees of {found.sentences} sentences; gold: {found.gold} trees")
    like, trained = settings_like(parser, place), place / PARSER
    run_training(
        "discriminative",
        mpi=False,
        trees=str(place / TRAIN),
        dev_trees=dev_trees,
        folder=str(trained),
        resume=trained.exists(),
        **like,
        **{**settings, "gold": found.gold, "jobs": job.jobs, "seed": seed, "device": job.device},
    )
    from rnng_dy.training.tagger import TAGGER, keep_tagger

    if parser.tagger is not None and like["pos"] and not (trained / TAGGER).exists():
        keep_tagger(parser.tagger, trained)


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


def _parse(job: Job, parser, options: SilverOptions, source, key: str, output: str) -> None:
    """Write a line of JSON per sentence, with the chosen tree."""
    reader = reader_of(parser, source)
    items = reader.sentences()
    batches = in_words(items, max(1, SAMPLED_WORDS // options.samples))
    lines = job.with_model(partial(silver_lines, options))
    left_out = job.write(output, batches, lines, _without_tree, key)
    reader.report(left_out)


def _without_tree(item: NumberedSentence) -> list[str]:
    return [ParsedSentence(item.index + 1, item.sentence, []).to_json()]
