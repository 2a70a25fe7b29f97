"""`rnng-dy tag`: replace the POS tags of trees, so that parsers do not read gold tags."""

import click

from oracle.brackets import format_tree, read_trees
from oracle.common.errors import InputError
from oracle.treebank import with_tags
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import FILE, MODEL, Command, output_option, write_output
from rnng_dy.cli.rules import goes, option
from rnng_dy.parallel import Workers
from rnng_dy.settings import AT_LEAST_1

SEED = 1


@click.command(cls=Command)
@click.argument("trees_path", type=FILE, metavar="[TREES]", required=False)
@option("--train", "Train a perceptron tagger on these trees.", FILE, "train_path")
@option(
    "--jackknife",
    "Tag each of N parts of TREES by a tagger trained on the others; 10 is usual.",
    click.IntRange(min=2),
    "folds",
    metavar="N",
)
@goes("without `folder`")
@output_option("Trees to write.", "OUT.trees")
@goes("with `train_path`, without `trees_path`")
@option("--into", "Parser that gets --train's tagger.", MODEL, "folder", metavar="MODEL")
@goes("with `folds`")
@option("--jobs", "Number of processes.", AT_LEAST_1, default=1, metavar="N")
def tag(trees_path, train_path, folds, folder, output, jobs) -> None:
    """Replace the POS tags of TREES by those of a tagger, or give a parser a tagger.

    It also says how many tags did not change.

    Example: rnng-dy tag train.trees --jackknife 10 -o train.tagged.trees

    Example: rnng-dy tag --train train.trees --into parser
    """
    if (train_path is None) == (folds is None):
        raise click.UsageError("give either --train or --jackknife")
    from oracle import tagging

    if folder is not None:
        from rnng_dy.training.initial_models import train_into

        tagger = train_into(folder, train_path, SEED)
        click.echo(f"{folder}: a tagger with {len(tagger.classes)} POS tags")
        return
    if trees_path is None:
        raise click.UsageError("name the TREES to tag")
    trees = list(read_trees(trees_path))
    if not trees:
        raise InputError("no trees", trees_path)
    gold = tagging.tagged_trees(trees)
    if train_path:
        training = tagging.training_pairs(train_path)
        known = {*map(tuple, training)}
        if 2 * sum(tuple(sentence) in known for sentence in gold) > len(gold):
            raise InputError(f"most trees are in {train_path}: tag them by --jackknife", trees_path)
        tagger = tagging.train_tagger(training, SEED)
        tags = [tagging.tags_by(tagger, [word for word, _ in sentence]) for sentence in gold]
    else:
        if folds > len(gold):
            raise InputError(f"{len(gold)} trees cannot make {folds} folds", trees_path)
        with Workers(jobs=jobs) as workers:
            tags = tagging.jackknife(gold, folds, SEED, workers.map)
    pairs = zip(trees, tags, strict=True)
    write_output(output, (f"{format_tree(with_tags(t.tree, row))}\n" for t, row in pairs))
    say(f"tags: {tagging.same_tags(gold, tags)} as they were")
