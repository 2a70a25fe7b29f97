"""`rnng-dy clusters`: make Brown clusters of a corpus."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import click

from clusters.corpus import FORMATS
from clusters.files import write_clusters
from clusters.run import Keep, Options, Run
from clusters.state import SavedState
from oracle.files import is_replaced, replacing
from oracle.unknown import RULES
from rnng_dy.cli.options import AT_LEAST_1
from rnng_dy.cli.paths import FILE, check_files, write_output
from rnng_dy.cli.progress import ByteProgress, Progress
from rnng_dy.cli.quiet import say, warn
from rnng_dy.interrupts import stopping

SAVE_EVERY = 45.0


@click.command()
@click.argument("corpus", type=FILE)
@click.option(
    "-c",
    "--classes",
    type=AT_LEAST_1,
    help="Number of clusters.  [default: the square root of the number of word types]",
)
@click.option(
    "-o", "--output", type=FILE, default="-", help="Clusters file; a report goes to FILE.json."
)
@click.option(
    "--format",
    "corpus_format",
    type=click.Choice(FORMATS),
    help="Format of CORPUS.  [default: guessed from its first line]",
)
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
    help="Afterwards move words between clusters as long as this raises their mutual information.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
def clusters(corpus: str, output: str, resume: bool, **options) -> None:
    """Make Brown clusters of the words of CORPUS.

    CORPUS is a generative oracle, a file of trees, or text with one sentence per line. The output has a line per
    word: the path of its cluster in the merge tree, the word, and its count. A class of unknown words that does not
    occur in CORPUS joins the cluster of the class with the most similar name, with count 0, so that the generative
    model knows it.

    Example: rnng-dy clusters train.gen.oracle -c 140 -o clusters.paths
    """
    report_path = f"{output}.json" if is_replaced(output) else None
    check_files([output, report_path], [corpus])
    is_kept = report_path is not None and os.path.isfile(corpus)
    if resume and not is_kept:
        raise click.UsageError("--resume needs a CORPUS file and an output file (-o)")
    try:
        run = Run(corpus, Options(**options), f"{output}.resume" if is_kept else None, resume)
        with _keeping(run.state) as keep:
            counter = run.count(keep, ByteProgress("reading", corpus).advance)
        bigrams = counter.finish()
        clustering = run.clustering(bigrams)
        progress = Progress("clustering", clustering.total, "steps")
        progress.skip(clustering.done)
        with _keeping(run.state) as keep:
            run.cluster(clustering, counter, keep, progress.advance)
        progress.finish()
    except KeyboardInterrupt:
        warn("\nstopped; --resume continues from what was saved, if anything was")
        sys.exit(130)
    entries = run.entries(clustering, bigrams)
    report = run.report(clustering, bigrams, entries)
    with replacing(output) as stream:
        write_clusters(entries, stream)
    write_output(report_path, [json.dumps(report, indent=2), "\n"])
    if run.state:
        # nothing is left to resume
        run.state.remove()
    _say(report)


@contextmanager
def _keeping(state: SavedState | None) -> Iterator[Keep]:
    """Yield a function that saves the state of a run when it is time, or when a signal stops the run."""
    saved = time.monotonic()
    with stopping() as stopped:

        def keep(save: Callable[[], None]) -> None:
            nonlocal saved
            if not stopped and time.monotonic() - saved < SAVE_EVERY:
                return
            if state:
                save()
            if stopped:
                how = "the same command with --resume continues" if state else "nothing is kept"
                warn(f"\nstopped; {how}")
                sys.exit(128 + stopped[0])
            saved = time.monotonic()

        yield keep


def _say(report: Mapping[str, object]) -> None:
    say(
        "{classes} clusters of {types} word types, {tokens} tokens in {sentences} sentences; average "
        "mutual information {average_mutual_information:.5f} nats within sentences".format(**report)
    )
    if unseen := report["unseen"]:
        warn(
            f"{len(unseen)} classes of unknown words do not occur; each is in the cluster of the "
            f"class with the nearest name, counted 0: {', '.join(unseen[:3])}, ..."
        )
