"""How time and memory grow with sentences, minibatches, samples, beam, vocabulary and corpus."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from clusters.files import ClusteredWord
from oracle.blocks import OracleSentence, read_oracle
from oracle.encoding import read_encoded
from oracle.streams import open_output
from rnng_dy import engine, registry
from rnng_dy.drawing import pages
from rnng_dy.drawing.charts import Chart, Point, line_chart
from rnng_dy.memory import peak_memory
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, measure
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.benchmarks.data import LENGTHS, SUFFIXES, examples_of, model_for, write_data
from scripts.benchmarks.measuring import KINDS, apart, fastest, print_row
from scripts.benchmarks.models import TRAINED, train

SENTENCES, SEARCHED = 64, 4
"""Sentences of each measurement of training, and of a search."""
ALPHA = 0.8
ROW = "{:52} {:>9} {:>11} {:>9}"


class Growth(NamedTuple):
    """What grows, the unit of time, the values, and the function that measures each curve, with its first arguments."""

    variable: str
    unit: str
    values: Sequence[int]
    works: Mapping[str, tuple]


class Panel(NamedTuple):
    """A chart, and the exponent of each of its curves."""

    title: str
    chart: Chart
    exponents: Mapping[str, float]


@click.command("growth")
@click.option("-o", "--output", default="growth.svg", show_default=True)
@click.option("--device", default="cpu", help="cpu, cuda or cuda:N.", show_default=True)
@click.option("--tiny", is_flag=True, hidden=True)
def main(output: str, device: str, tiny: bool) -> None:
    """How time grows with sentences, minibatches, samples, beam, vocabulary and corpus.

    At the paper's sizes, on NLTK's treebank sample or, without it, the package's own trees, in one process. The
    exponent of a curve is the slope of the line that fits the logarithms best: 1 means that time grows in proportion.
    """
    panels = []
    with tempfile.TemporaryDirectory() as folder:
        print(f"{apart(write_data, folder)}, {device}")
        for kind in KINDS:
            apart(train, folder, device, kind, 16, 1, TRAINED[kind] // (50 if tiny else 1))
        print_row(ROW, "", "", "ms", "peak MB")
        for growth in _growths():
            values = growth.values[:2] if tiny else growth.values
            series = {name: _curve(name, growth, values, folder, device) for name in growth.works}
            chart = line_chart(series, growth.variable, growth.unit, True, True)
            exponents = {name: exponent(points) for name, points in series.items()}
            for name, slope in exponents.items():
                print_row("{:52} exponent {:.2f}", f"{name}, by {growth.variable}", slope)
            panels.append(Panel(growth.variable, chart, exponents))
    with open_output(output) as stream:
        stream.writelines(pages.parts("growth.svg", Path(__file__).parent, panels=panels))


def _growths() -> list[Growth]:
    of_lengths = {f"train {kind}": (train_length, kind) for kind in KINDS}
    of_lengths["10 samples"] = (draw_length,)
    of_batches = {f"train {kind}": (train_batches, kind) for kind in KINDS}
    of_words = {"train generative": (train_words,)}
    return [
        Growth("words in the sentence", "ms per sentence", LENGTHS, of_lengths),
        Growth("sentences per update", "ms per sentence", (1, 4, 16, 64), of_batches),
        Growth("samples", "ms per sentence", (1, 10, 100, 1000), {"sample": (draw,)}),
        Growth("beam", "ms per word", (20, 50, 100, 200, 500, 1000), {"surprisal": (search,)}),
        Growth("vocabulary", "ms per sentence", (5000, 10_000, 20_000, 50_000), of_words),
        Growth("sentences in the oracle", "ms", (1000, 3000, 10_000, 30_000), {"read it": (read,)}),
    ]


def exponent(points: Sequence[Point]) -> float:
    """Return the slope of the line of least squares through the logarithms.

    >>> exponent([(1, 3.0), (2, 12.0), (4, 48.0)])
    2.0
    """
    return round(float(np.polyfit(*np.log(np.array(points, dtype=float)).T, 1)[0]), 9)


def _curve(
    name: str, growth: Growth, values: Sequence[int], folder: str, device: str
) -> list[Point]:
    """Measure and print each point of a curve."""
    work, *arguments = growth.works[name]
    points = []
    for value in values:
        size, seconds, peak = apart(work, folder, device, *arguments, value)
        print_row(ROW, name, f"{size:,}", f"{1e3 * seconds:,.2f}", f"{peak / 1e6:,.0f}")
        points.append((size, 1e3 * seconds))
    return points


Measured = tuple[int, float, int]
"""A point's size, its seconds, and the peak memory of its process in bytes."""


def train_length(folder: str, device: str, kind: str, words: int) -> Measured:
    """Measure updates with one sentence."""
    model, examples = _loaded(folder, device, kind, f"words{words}")
    length = len(_sentences(folder, f"words{words}")[0].tokens)
    return length, _seconds(model, examples, 1), peak_memory()


def train_batches(folder: str, device: str, kind: str, size: int) -> Measured:
    """Measure updates with a number of sentences, always of the same ones."""
    model, examples = _loaded(folder, device, kind, "train")
    return size, _seconds(model, examples[:SENTENCES], size), peak_memory()


def train_words(folder: str, device: str, words: int) -> Measured:
    """Measure updates of a model with a number of words, most of them in no sentence, in clusters of like size."""
    engine.start(device)
    sentences = _sentences(folder, "train")
    known = sorted({word for sentence in sentences for word in sentence.unkified})
    known += [f"word-{i}" for i in range(words - len(known))]
    count = round(len(known) ** 0.5)
    clusters = [ClusteredWord(f"{i % count:09b}", word, 1) for i, word in enumerate(known)]
    model = model_for("generative", sentences, lambda: clusters)
    examples = examples_of(model, "train", Path(folder))[:SENTENCES]
    return len(known), _seconds(model, examples, 16), peak_memory()


def draw_length(folder: str, device: str, words: int) -> Measured:
    """Measure ten samples of a sentence."""
    parser, examples = _loaded(folder, device, "discriminative", f"words{words}")
    length = len(_sentences(folder, f"words{words}")[0].tokens)
    return length, _drawing(parser, examples[:1], 10), peak_memory()


def draw(folder: str, device: str, samples: int) -> Measured:
    """Measure samples of some sentences."""
    parser, examples = _loaded(folder, device, "discriminative", "test")
    return samples, _drawing(parser, examples[:SEARCHED], samples), peak_memory()


def search(folder: str, device: str, beam: int) -> Measured:
    """Measure surprisals of some sentences; the other two widths grow with the beam."""
    model, _ = _loaded(folder, device, "generative", "test")
    options = replace(DEFAULT_OPTIONS, beam=beam, fast_track=beam // 20, word_beam=beam // 10)
    words = [sentence.tokens for sentence in _sentences(folder, "test")[:SEARCHED]]
    seconds = fastest(lambda: list(measure(model, words, options)), 2)
    return beam, seconds / sum(map(len, words)), peak_memory()


def _loaded(folder: str, device: str, kind: str, part: str) -> tuple:
    """Return the trained model of a kind, and the examples of a part of the data."""
    engine.start(device)
    model = registry.load(Path(folder, kind))
    return model, examples_of(model, part, Path(folder))


def _sentences(folder: str, part: str) -> list[OracleSentence]:
    return read_oracle(Path(folder, f"{part}.{SUFFIXES['generative']}"))


def _seconds(model, examples: Sequence, size: int) -> float:
    """Return the seconds of training per sentence."""
    updater = Updater(model, examples, PRESETS["fast", model.kind])

    def epoch() -> None:
        for first in range(0, len(examples), size):
            updater.update(range(len(examples))[first:][:size], first, 1e-3)

    return fastest(epoch, 3) / len(examples)


def _drawing(parser, examples: Sequence, samples: int) -> float:
    """Return the seconds of drawing samples per sentence, one sentence at a time."""

    def all_of_them() -> None:
        for i, example in enumerate(examples):
            sample_batch(parser, [example.tokens], samples, ALPHA, [[i]])

    return fastest(all_of_them, 2) / len(examples)


def read(folder: str, device: str, count: int) -> Measured:
    """Measure how a training reads an oracle for the first time, and the memory that it then has."""
    source = Path(folder, f"train.{SUFFIXES['generative']}")
    blocks = source.read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n")
    written = Path(folder, f"first-{count}.{SUFFIXES['generative']}")
    with written.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{block}\n\n" for block in islice(cycle(blocks), count))
    return count, fastest(lambda: len(read_encoded(written))), peak_memory()


if __name__ == "__main__":
    main()
