"""The Natural Stories corpus as the inputs of `surprisal` and `reading-times`."""

import os
import re
from collections import defaultdict
from pathlib import Path

import click

from oracle.common.files import open_text, replacing
from oracle.common.tables import read_columns

_LEAF = re.compile(r" [^\s()]+/([0-9]+)\.([0-9]+)[^\s()]*\)")
WordNumber = tuple[int, int]
"""A story and a word of it, which the corpus calls item and zone."""


@click.command()
@click.argument("text")
@click.argument("times")
@click.option(
    "--corpus",
    metavar="FOLDER",
    default=Path(os.environ.get("RNNG_DY_SHARED", "."), "reading_times"),
    type=Path,
    help="The files of the release of 2025-05-12, packed by xz.",
)
def main(text: str, times: str, corpus: Path) -> None:
    """Write the stories to TEXT, one sentence per line, and their reading times to TIMES.

    Sentences are those of the gold trees. TIMES has columns item, position, word, time (the mean
    over readers in ms) and count (of the word without punctuation, in Google Books).
    """
    rows = read_columns(corpus / "all_stories.tok.xz", ["word", "zone", "item"])
    words = {(int(item), int(zone)): word for _, (word, zone, item) in rows}
    sentence_of, counts = _sentences(corpus), _counts(corpus)
    sentences = defaultdict(list)
    for number in sorted(words):
        sentences[sentence_of[number]].append(words[number])
    with replacing(text) as stream:
        stream.writelines(f"{' '.join(sentence)}\n" for sentence in sentences.values())
    names = ["word", "zone", "item", "meanItemRT"]
    rows = read_columns(corpus / "processed_wordinfo.tsv.xz", names)
    with replacing(times) as stream:
        stream.write("item\tposition\tword\ttime\tcount\n")
        for _, (word, zone, item, time) in rows:
            count = counts.get((int(item), int(zone)), "NA")
            stream.write(f"{item}\t{zone}\t{word}\t{time}\t{count}\n")


def _sentences(corpus: Path) -> dict[WordNumber, int]:
    """Return the number of the first tree that has a token of each word."""
    sentences: dict[WordNumber, int] = {}
    number = 0
    with open_text(corpus / "all-parses-aligned.txt.penn.xz") as lines:
        for line in lines:
            number += line.startswith("(ROOT")
            for item, zone in _LEAF.findall(line):
                sentences.setdefault((int(item), int(zone)), number)
    return sentences


def _counts(corpus: Path) -> dict[WordNumber, str]:
    """Return the count of each word without its punctuation.

    A line has a code, 1, the word, and the count.
    """
    with open_text(corpus / "freqs-1.tsv.xz") as lines:
        cells = (line.split("\t") for line in lines)
        rows = [(*code.split("."), count) for code, _, _, count, *_ in cells]
    return {(int(item), int(zone)): count for item, zone, kind, count in rows if kind == "word"}


if __name__ == "__main__":
    main()
