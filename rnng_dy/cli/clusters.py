"""`rnng-dy clusters`: make Brown clusters of a corpus."""

from __future__ import annotations

import json
from functools import partial

import click

from clusters.corpus import cluster_corpus
from clusters.files import write_clusters
from oracle.common.files import is_replaced, replacing
from oracle.unknown import RULES
from rnng_dy.cli.messages import progress, say
from rnng_dy.cli.options import FILE, Command, check_files, output_option, write_output
from rnng_dy.settings import AT_LEAST_1


@click.command(cls=Command)
@click.argument("corpus", type=FILE)
@click.option(
    "-c",
    "--classes",
    type=AT_LEAST_1,
    help="Number of clusters.  [default: the square root of the number of word types]",
)
@output_option("Clusters file; a report goes to FILE.json.")
@click.option(
    "--min-count",
    type=AT_LEAST_1,
    default=1,
    help="Rarer words make no clusters; they join the cluster that suits them best.",
)
@click.option(
    "--within-sentences",
    is_flag=True,
    help="Do not count the pair of a sentence's last word and the next sentence's first word.",
)
@click.option(
    "--unk",
    type=click.Choice([*RULES, "none"]),
    help="Rules for classes of unknown words; all classes of these rules get a cluster.  [default: the rules that the "
    "corpus uses]",
)
@click.option(
    "--refine",
    is_flag=True,
    help="Afterwards move words, in five sweeps, to the clusters where their mutual information is highest.",
)
def clusters(corpus: str, output: str, **options) -> None:
    """Make Brown clusters of the words of CORPUS.

    CORPUS is a generative oracle, a file of trees, or text with one sentence per line. The output
    has a line per
    word: the path of its cluster in the merge tree, the word, and its count. A class of unknown
    words that does not occur in CORPUS joins the cluster of the class with the most similar name,
    with count 0, so that the generative model knows it.

    Example: rnng-dy clusters train.gen.oracle -c 140 -o clusters.paths
    """
    report_path = f"{output}.json" if is_replaced(output) else None
    check_files(filter(None, [report_path]))
    entries, report = cluster_corpus(
        corpus, **options, show=partial(progress, "clustering", unit="steps")
    )
    with replacing(output) as stream:
        write_clusters(entries, stream)
    write_output(report_path, [json.dumps(report, indent=2), "\n"])
    say(
        "{classes} clusters of {types} word types, {tokens} tokens in {sentences} sentences; average "
        "mutual information {mutual_information_within_sentences:.5f} nats within sentences".format(
            **report
        )
    )
