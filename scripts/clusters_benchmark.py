"""Time and memory of Brown clustering on corpora of any size, each measured in a process of its own."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from clusters.bigrams import BigramCounter
from clusters.brown import BrownClustering, default_classes
from clusters.corpus import open_corpus
from clusters.information import average_mutual_information

SENTENCE = 24
CHUNK = SENTENCE << 16

# types, tokens, classes: one of them changes at a time, then the sizes of the Penn Treebank
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


def zipf_sentences(types: int, tokens: int) -> Iterator[list[bytes]]:
    """Independent words, the r-th with a frequency of 1/r; in the end each type once more."""
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


def measure(sentences: Iterator[list[bytes]], classes: int | None) -> dict:
    """CPU seconds and peak memory of counting and clustering, in this process."""
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


def main() -> None:
    """Print a table; with --one, the measurements of one corpus as JSON."""
    parser = argparse.ArgumentParser(
        prog="bench_clusters",
        description="CPU seconds and peak memory of Brown clustering: how they grow with the number "
        "of types, classes and tokens of a synthetic corpus by Zipf's law (independent words, which "
        "makes for more distinct pairs than text has), or on a corpus of your own.",
    )
    parser.add_argument("corpus", nargs="?", help="measure this corpus instead")
    parser.add_argument("-c", "--classes", type=int, help="[default: square root of the types]")
    parser.add_argument(
        "--large", action="store_true", help="only 50 million tokens of 200,000 types (minutes)"
    )
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        types, tokens, classes = options.one
        print(json.dumps(measure(zipf_sentences(types, tokens), classes)))
        return
    print(f"{'types':>8} {'tokens':>11} {'pairs':>10} {'classes':>8} {'counting':>9} ", end="")
    print(f"{'clustering':>11} {'peak memory':>12} {'information':>12}")
    if options.corpus:
        with open_corpus(options.corpus) as sentences:
            _print_row(measure(sentences, options.classes))
        return
    for sizes in [LARGE] if options.large else GROWTH:
        command = [sys.executable, sys.argv[0], "--one", *map(str, sizes)]
        _print_row(json.loads(subprocess.check_output(command)))


def _print_row(row: dict) -> None:
    print(
        "{types:8} {tokens:11} {pairs:10} {classes:8} {counting_s:7.1f} s {clustering_s:9.1f} s "
        "{peak_mib:8.0f} MiB {information:7.4f} nats".format(**row),
        flush=True,
    )
