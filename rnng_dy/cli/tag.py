"""`rnng-dy tag`: replace the POS tags of trees by a tagger's, so that parsers do not read gold tags."""

from __future__ import annotations

import os

import click

from oracle.brackets import format_tree, read_trees
from oracle.errors import InputError, RnngError
from oracle.files import locked, write_json
from oracle.treebank import with_tags
from rnng_dy.cli.job import job_options
from rnng_dy.cli.options import json_option, seed_option, trees_output_option
from rnng_dy.cli.paths import FILE, MODEL, check_files, write_output
from rnng_dy.model_paths import located


@click.command()
@click.argument("trees_path", type=FILE, metavar="[TREES]", required=False)
@click.option("--train", "train_path", type=FILE, help="Train a perceptron tagger on these trees.")
@click.option(
    "--jackknife",
    "folds",
    type=click.IntRange(min=2),
    help="Divide TREES into this number of folds, and tag each fold by a tagger trained on the others; 10 is usual.",
)
@click.option(
    "--tags",
    "tags_path",
    type=FILE,
    help="Take the tags from this file: word_TAG tokens, one sentence per line.",
)
@trees_output_option
@click.option(
    "--into",
    "folder",
    type=MODEL,
    metavar="MODEL",
    help="Write the tagger that --train makes into the folder of a parser, as its own tagger. Takes no TREES.",
)
@json_option
@job_options(jobs="Number of folds that are tagged at the same time.")
@seed_option
def tag(trees_path, train_path, folds, tags_path, folder, output, numbers, job, seed) -> None:
    """Replace the POS tags of TREES by those of a tagger, or give a parser a tagger.

    Prints the number of tags that did not change.

    Example: rnng-dy tag train.trees --jackknife 10 -o train.tagged.trees

    Example: rnng-dy tag --train train.trees --into parser
    """
    check_files([output, numbers], [trees_path, train_path, tags_path])
    if sum(x is not None for x in (train_path, folds, tags_path)) != 1:
        raise click.UsageError("give one of --train, --jackknife and --tags")
    if folder is not None:
        if trees_path or not train_path or numbers or output != "-":
            raise click.UsageError("--into goes with --train, without TREES or outputs")
        _keep_tagger(train_path, folder, seed)
        return
    if trees_path is None:
        raise click.UsageError("name the TREES to tag")
    from oracle import tagging

    trees = list(read_trees(trees_path))
    if not trees:
        raise InputError("no trees", trees_path)
    gold = tagging.tagged_trees(trees)
    if tags_path:
        found = list(tagging.tags_of_file(tags_path, trees))
    elif train_path:
        tagger = tagging.train_tagger(tagging.training_pairs(train_path), seed)
        found = [tagging.tags_by(tagger, [word for word, _ in sentence]) for sentence in gold]
    else:
        if folds > len(gold):
            raise InputError(f"{len(gold)} trees cannot make {folds} folds", trees_path)
        found = tagging.jackknife(gold, folds, seed, job.map)
    agreement = tagging.same_tags(gold, found)
    if numbers:
        write_json(numbers, {**agreement._asdict(), "percent": agreement.percent})
    # last, since the reader of standard output may leave
    pairs = zip(trees, found, strict=True)
    write_output(output, (f"{format_tree(with_tags(tree.tree, new))}\n" for tree, new in pairs))
    message = f"tags: {agreement.same} of {agreement.words} as they were, {agreement.percent:.2f} %"
    click.echo(message, err=output == "-")


def _keep_tagger(train_path: str, folder: str, seed: int) -> None:
    """Train a tagger and write it into the folder of a parser that has none."""
    from oracle.tagging import tagger_of_training, training_pairs
    from rnng_dy.training.tagger import give_tagger, keep_tagger, parser_without_tagger

    folder = str(located(folder))
    if os.path.isfile(folder.rstrip("/")):
        raise RnngError(f"{folder} is no model folder: archives are only read")
    parser, training = parser_without_tagger(folder), training_pairs(train_path)
    click.get_current_context().with_resource(locked(folder))
    give_tagger(parser, tagger_of_training(training, seed))
    keep_tagger(parser.tagger, folder)
    click.echo(f"{folder}: a tagger with {len(parser.tagger.classes)} POS tags")
