"""`rnng-dy clusters`: make Brown clusters of a corpus."""

from functools import partial

import click

from clusters.corpus import cluster_corpus
from clusters.files import write_clusters
from oracle.common.files import replacing
from oracle.unknown import RULES
from rnng_dy.cli.messages import progress, say
from rnng_dy.cli.options import FILE, Command, output_option
from rnng_dy.cli.rules import flag, option
from rnng_dy.settings import AT_LEAST_1


@click.command(cls=Command)
@click.argument("corpus", type=FILE)
@option("-c --classes", "Clusters.  [default: square root of the word types]", AT_LEAST_1)
@output_option("Clusters file.")
@option("--min-count", "Rarer words make no clusters, but join them.", AT_LEAST_1, default=1)
@flag("--within-sentences", "Count no pairs across ends of sentences.")
@option(
    "--unk",
    "Classes of unknown words, which all get a cluster.  [default: those that the corpus has]",
    click.Choice([*RULES, "none"]),
)
@flag("--refine", "Then move words to the clusters of highest mutual information.")
def clusters(corpus: str, output: str, **options) -> None:
    """Make Brown clusters of the words of CORPUS.

    CORPUS is a generative oracle, a file of trees, or text with one sentence per line. The output
    has a line per word: the path of its cluster in the merge tree, the word, and its count. A class
    of unknown words that does not occur in CORPUS joins the cluster of the class with the most
    similar name, with count 0, so that the generative model knows it.

    Example: rnng-dy clusters train.gen.oracle -c 140 -o clusters.paths
    """
    show = partial(progress, "clustering", unit="steps")
    entries, about = cluster_corpus(corpus, **options, show=show)
    with replacing(output) as stream:
        write_clusters(entries, stream)
    say(about)
