"""`rnng-dy clusters`: make Brown clusters of a corpus."""

from __future__ import annotations

from functools import partial

import click

from clusters.corpus import cluster_corpus
from clusters.files import write_clusters
from oracle.common.files import replacing
from oracle.unknown import RULES
from rnng_dy.cli.messages import progress, say
from rnng_dy.cli.options import FILE, Command, output_option
from rnng_dy.settings import AT_LEAST_1


@click.command(cls=Command)
@click.argument("corpus", type=FILE)
@click.option(
    "-c", "--classes", type=AT_LEAST_1, help="Clusters.  [default: square root of the word types]"
)
@output_option("Clusters file.")
@click.option(
    "--min-count", type=AT_LEAST_1, default=1, help="Rarer words make no clusters, but join them."
)
@click.option("--within-sentences", is_flag=True, help="Count no pairs across ends of sentences.")
@click.option(
    "--unk",
    type=click.Choice([*RULES, "none"]),
    help="Classes of unknown words, which all get a cluster.  [default: those that the corpus has]",
)
@click.option(
    "--refine", is_flag=True, help="Then move words to the clusters of highest mutual information."
)
def clusters(corpus: str, output: str, **options) -> None:
    """Make Brown clusters of the words of CORPUS.

    CORPUS is a generative oracle, a file of trees, or text with one sentence per line. The output
    has a line per word: the path of its cluster in the merge tree, the word, and its count. A class
    of unknown words that does not occur in CORPUS joins the cluster of the class with the most
    similar name, with count 0, so that the generative model knows it.

    Example: rnng-dy clusters train.gen.oracle -c 140 -o clusters.paths
    """
    entries, report = cluster_corpus(
        corpus, **options, show=partial(progress, "clustering", unit="steps")
    )
    with replacing(output) as stream:
        write_clusters(entries, stream)
    say(
        "{classes} clusters of {types} word types, {tokens} tokens in {sentences} sentences; "
        "average mutual information "
        "{mutual_information_within_sentences:.5f} nats within sentences".format(**report)
    )
