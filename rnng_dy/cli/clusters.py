"""`rnng-dy clusters`: Brown clusters of a corpus, and a look at them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import islice

import click

from clusters.bigrams import BigramCounter, Bigrams
from clusters.brown import BrownClustering, default_classes
from clusters.corpus import FORMATS, open_corpus
from clusters.files import ClusteredWord, read_clusters, write_clusters
from clusters.information import average_mutual_information
from clusters.page import by_cluster, html_page
from clusters.state import SavedState, fingerprint
from clusters.unseen import place_unseen, rules_of, unknown_classes
from oracle.streams import open_output
from oracle.unknown import RULES
from rnng_dy.cli.paths import FILE, PathName, check_files
from rnng_dy.cli.progress import ByteProgress, Progress
from rnng_dy.cli.quiet import quiet_option, say
from rnng_dy.cli.stopping import stopping

SAVE_EVERY = 45.0


class _MakeOrShow(click.Command):
    """`clusters CORPUS`, and under the name `clusters show` the other command."""

    def make_context(self, info_name, args, parent=None, **extra):
        if args[:1] == ["show"]:
            return show.make_context(f"{info_name} show", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(
    cls=_MakeOrShow,
    epilog="`rnng-dy clusters show --help` tells how to look at clusters; a corpus called show is ./show.",
)
@click.argument("corpus", type=PathName("file", "file", ["show"]))
@click.option(
    "-c",
    "--classes",
    type=click.IntRange(min=1),
    help="Number of clusters.  [default: the square root of the number of word types]",
)
@click.option(
    "-o", "--output", type=FILE, default="-", help="Clusters file; a report goes to FILE.json."
)
@click.option(
    "--format",
    "corpus_format",
    type=click.Choice(FORMATS),
    help="What CORPUS is.  [default: as its first line looks]",
)
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    default=1,
    help="Rarer words only join the cluster that suits them best.",
)
@click.option(
    "--within-sentences",
    is_flag=True,
    help="Count no pair of a sentence's last word and the next one's first.",
)
@click.option(
    "--unk",
    type=click.Choice([*RULES, "none"]),
    help="Rules whose classes of unknown words all get a cluster.  [default: as the corpus has them]",
)
@click.option(
    "--refine",
    is_flag=True,
    help="Then move words between clusters where that makes them more informative.",
)
@click.option("--resume", is_flag=True, help="Go on where an interrupted run was.")
def clusters(
    corpus: str,
    classes: int | None,
    output: str,
    corpus_format: str | None,
    min_count: int,
    within_sentences: bool,
    unk: str | None,
    refine: bool,
    resume: bool,
) -> None:
    """Make Brown clusters of the words of CORPUS: a generative oracle, trees or one sentence a line.

    The output has a line for each word: the path of its cluster in the merge tree, the word, its
    count. Classes of unknown words that the corpus has not got come in with the class whose name is
    nearest, counted 0, so that the generative model knows them all.

    Example: rnng-dy clusters train.gen.oracle -c 140 -o clusters.paths
    """
    check_files([output], [corpus])
    options = (corpus_format, classes, min_count, within_sentences, unk, refine)
    try:
        run = _Run(corpus, output, options, resume)
        counter = run.count(corpus_format, RULES[0] if unk in (None, "none") else unk)
        bigrams = counter.finish()
        clustering = BrownClustering(
            bigrams,
            classes or default_classes(bigrams),
            min_count=min_count,
            within_sentences=within_sentences,
            refine=refine,
        )
        run.cluster(clustering, counter)
    except KeyboardInterrupt:
        click.echo("\nstopped; --resume goes on from what was saved, if anything was", err=True)
        sys.exit(130)
    entries = place_unseen(clustering.entries(), _classes_to_place(unk, bigrams))
    report = {
        "corpus": corpus,
        "sentences": bigrams.sentences,
        "tokens": bigrams.tokens,
        "types": len(bigrams.words),
        "classes": clustering.classes,
        "min_count": min_count,
        "within_sentences": within_sentences,
        "refine": refine,
        "average_mutual_information": average_mutual_information(bigrams, clustering.class_of),
        "unseen": [entry.word for entry in entries if not entry.count],
    }
    _write(output, entries, report)
    run.finish()
    _say(report)


def _classes_to_place(unk: str | None, bigrams: Bigrams) -> list[str]:
    if unk == "none":
        return []
    return unknown_classes(unk or rules_of(bigrams.words))


def _write(output: str, entries: list[ClusteredWord], report: dict) -> None:
    with open_output(output) as stream:
        write_clusters(entries, stream)
    if output != "-":
        with open_output(f"{output}.json") as stream:
            json.dump(report, stream, indent=2)
            stream.write("\n")


def _say(report: dict) -> None:
    say(
        "{classes} clusters of {types} word types, {tokens} tokens in {sentences} sentences; average "
        "mutual information {average_mutual_information:.5f} nats within sentences".format(**report)
    )
    if unseen := report["unseen"]:
        click.echo(
            f"{len(unseen)} classes of unknown words do not occur; each is in the cluster of the "
            f"class with the nearest name, counted 0: {', '.join(unseen[:3])}, ...",
            err=True,
        )


class _Run:
    """A run whose state is kept beside its output, at most a minute old."""

    def __init__(self, corpus: str, output: str, options: tuple, resume: bool):
        self._corpus, self._resume, self._state = corpus, resume, None
        if "-" not in (corpus, output):
            self._state = SavedState(f"{output}.resume", fingerprint(corpus, *options))
            if not resume:
                self._state.remove()
        elif resume:
            raise click.UsageError("--resume needs a CORPUS file and an output file (-o)")
        self._saved = time.monotonic()

    def count(self, corpus_format: str | None, rules: str) -> BigramCounter:
        """Count the corpus, from where a saved run was."""
        counter, complete = BigramCounter(), False
        if self._resume:
            counter, complete = self._state.load_counts()
        if complete:
            return counter
        progress = ByteProgress("reading", self._corpus)
        with (
            open_corpus(self._corpus, corpus_format, rules, progress.advance) as sentences,
            stopping() as stopped,
        ):
            for sentence in islice(sentences, counter.sentences, None):
                counter.add(sentence)
                self._keep(stopped, lambda: self._state.save_counts(counter, complete=False))
        return counter

    def cluster(self, clustering: BrownClustering, counter: BigramCounter) -> None:
        """Take all steps of a clustering, from where a saved run was."""
        if self._resume:
            self._state.load_merges(clustering)
        progress = Progress("clustering", clustering.total, "steps")
        progress.skip(clustering.done)
        with stopping() as stopped:
            while clustering.done < clustering.total:
                clustering.step()
                progress.advance()
                self._keep(stopped, lambda: self._state.save_merges(clustering, counter))
        progress.finish()

    def finish(self) -> None:
        """The output is written: nothing is left to go on with."""
        if self._state:
            self._state.remove()

    def _keep(self, stopped: list[int], save: Callable[[], None]) -> None:
        """Save if it is time to, or time to stop."""
        if not stopped and time.monotonic() - self._saved < SAVE_EVERY:
            return
        if self._state:
            save()
        if stopped:
            how = "the same command with --resume goes on" if self._state else "nothing is kept"
            click.echo(f"\nstopped; {how}", err=True)
            sys.exit(128 + stopped[0])
        self._saved = time.monotonic()


# it is in no group that would add the option
@click.command(params=[quiet_option])
@click.argument("clusters_file", type=FILE, metavar="CLUSTERS")
@click.option(
    "-n", "--words", type=click.IntRange(min=1), default=10, help="Words of each cluster."
)
@click.option("--html", type=FILE, help="Write a page with the merge tree instead; - is stdout.")
def show(clusters_file: str, words: int, html: str | None) -> None:
    """Print each cluster of a clusters file: its path, how much it holds, its most frequent words.

    Example: rnng-dy clusters show clusters.paths --html clusters.html
    """
    entries = read_clusters(clusters_file)
    if html:
        with open_output(html) as stream:
            stream.write(html_page(entries, f"Clusters of {os.path.basename(clusters_file)}"))
        return
    found = by_cluster(entries)
    width = max(len(path) for path, _ in found)
    with open_output("-") as stream:
        for path, members in found:
            tokens = sum(entry.count for entry in members)
            top = " ".join(entry.word for entry in members[:words])
            stream.write(f"{path:{width}} {len(members):7} types {tokens:9} tokens  {top}\n")
