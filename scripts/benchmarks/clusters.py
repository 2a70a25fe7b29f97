"""Time and memory of Brown clustering on corpora of any size, each measured in a process of its own."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Iterator

import click
import numpy as np

from clusters.bigrams import BigramCounter
from clusters.brown import BrownClustering, default_classes
from clusters.corpus import open_corpus
from clusters.information import average_mutual_information
from scripts.benchmarks.measuring import apart, print_row

SENTENCE = 24
CHUNK = SENTENCE << 16

# types, tokens, classes: one varies at a time; the last row has the sizes of the Penn Treebank
GROWTH = [
    (4_000, 200_000, 64),
    (8_000, 200_000, 64),
    (16_000, 200_000, 64),
    (8_000, 200_000, 32),
    (8_000, 200_000, 128),
    (8_000, 200_000, 256),
    (8_000, 800_000, 64),
    (8_000, 3_200_000, 64),
    (24_000, 1_000_000, 154),
]
LARGE = (200_000, 50_000_000, 447)
HEAD = (
    f"{'types':>8} {'tokens':>11} {'pairs':>10} {'classes':>8} {'counting':>9} {'clustering':>11} "
    f"{'peak memory':>12} {'information':>12}"
)
ROW = (
    "{types:8} {tokens:11} {pairs:10} {classes:8} {counting_s:7.1f} s {clustering_s:9.1f} s "
    "{peak_mib:8.0f} MiB {information:7.4f} nats"
)


@click.command("clusters")
@click.argument("corpus", required=False)
@click.option("-c", "--classes", type=int, help="[default: square root of the types]")
@click.option("--large", is_flag=True, help="Only 50 million tokens of 200,000 types (minutes).")
def main(corpus: str | None, classes: int | None, large: bool) -> None:
    """CPU seconds and peak memory of Brown clustering.

    Says how they grow with the number of types, classes and tokens of a synthetic corpus by Zipf's law (independent
    words, which makes for more distinct pairs than text has), or what a CORPUS of your own takes.
    """
    print(HEAD)
    if corpus:
        with open_corpus(corpus) as sentences:
            print_row(ROW, **measure(sentences, classes))
        return
    for sizes in [LARGE] if large else GROWTH:
        print_row(ROW, **apart(measure_zipf, *sizes))


def measure_zipf(types: int, tokens: int, classes: int) -> dict:
    """Return `measure` of a synthetic corpus."""
    return measure(zipf_sentences(types, tokens), classes)


def zipf_sentences(types: int, tokens: int) -> Iterator[list[bytes]]:
    """Yield independent words, the r-th with a frequency of 1/r; at the end each type once more."""
    vocabulary = [b"w%d" % rank for rank in range(types)]
    cumulative = np.cumsum(1 / np.arange(1, types + 1))
    random = np.random.default_rng(1)

    def chunks() -> Iterator[np.ndarray]:
        for start in range(0, tokens - types, CHUNK):
            points = random.random(min(CHUNK, tokens - types - start)) * cumulative[-1]
            yield np.searchsorted(cumulative, points)
        yield random.permutation(types)

    for chunk in chunks():
        words = [vocabulary[i] for i in chunk.tolist()]
        for start in range(0, len(words), SENTENCE):
            yield words[start : start + SENTENCE]


def measure(sentences: Iterable[list[bytes]], classes: int | None) -> dict:
    """Return CPU seconds and peak memory of counting and clustering, in this process."""
    begin = time.process_time()
    counter = BigramCounter()
    for sentence in sentences:
        counter.add(sentence)
    bigrams = counter.finish()
    counted = time.process_time()
    clustering = BrownClustering(bigrams, classes or default_classes(bigrams))
    clustering.run()
    return {
        "types": len(bigrams.words),
        "tokens": bigrams.tokens,
        "pairs": len(bigrams.left),
        "classes": clustering.classes,
        "counting_s": counted - begin,
        "clustering_s": time.process_time() - counted,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "information": average_mutual_information(bigrams, clustering.class_of),
    }
