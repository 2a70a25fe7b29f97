"""Predicts the time of a GPU from counts of the emulated one: launches, waits, bytes, products."""

import argparse
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnng_dy import engine, kinds
from rnng_dy.engine import dy
from rnng_dy.search.parsing import parse_batch
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import example_log_probs
from rnng_dy.search.surprisal import measure as surprisals
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.gpu.data import model_of_trees, training_trees
from scripts.gpu.numbers import KINDS

TRACE = "CUDA_EMULATOR_TRACE"
BANDWIDTHS = {"H100": 3.35e12, "H200": 4.8e12}
"""Bytes per second of the memory of the SXM cards, from NVIDIA's data sheets."""
FLOPS = 67e12
"""Operations per second in single precision without tensor cores, of both cards."""
LAUNCH, WAIT, BUS = 2.5e-6, 1e-5, 5.5e10
"""Assumed: seconds of a launch and of a wait, at least; bytes per second from host to GPU."""
BARRIER, ON_CHIP = 2e-6, 1.4e13
"""Assumed: seconds of a barrier of all blocks; bytes per second from the caches."""
BEAMS = 4
"""Number of sentences that a beam reads side by side."""
DESCRIPTION = (
    "Count what a minibatch and a search do on the emulated GPU, and predict their time on an H100 "
    "and an H200. Run it with `python3 -m scripts.gpu emulate python3 -m scripts.gpu predict`."
)


@dataclass
class Counts:
    """The sums over a part of a trace; seconds are predicted, by the card's bandwidth."""

    launches: int = 0
    copies: int = 0
    waits: int = 0
    barriers: int = 0
    """Barriers of all blocks of a kernel."""
    bytes: int = 0
    flops: int = 0
    seconds: float = 0.0
    of_launches: float = 0.0
    """The seconds of launches that take longer than their memory accesses and arithmetic."""

    def add(self, line: str, bandwidth: float) -> None:
        """Add one line of a trace."""
        kind, name, *numbers = line.split("\t")
        copied, _, read, written, flops, accessed, barriers = map(int, numbers)
        if kind == "wait":
            self.waits += 1
            self.seconds += WAIT
        elif kind == "copy" and name != "copy on the GPU":
            self.copies += 1
            self.seconds += LAUNCH + copied / BUS
        else:
            longest = max((read + written) / bandwidth, accessed / ON_CHIP, flops / FLOPS)
            longest += barriers * BARRIER
            self.launches += 1
            self.barriers += barriers
            self.bytes += read + written
            self.flops += flops
            self.seconds += max(LAUNCH, longest)
            self.of_launches += LAUNCH if longest < LAUNCH else 0.0


def counts(lines: Iterable[str], bandwidth: float) -> dict[str, Counts]:
    r"""Return the counts of every marked part of a trace.

    >>> kernel = "\t".join(["kernel", "add", "0", "32", "128", "128", "0", "256", "0"])
    >>> counts(["mark\tan update", kernel, "mark\t"], 1e12)["an update"].launches
    1
    """
    parts: dict[str, Counts] = {}
    part = ""
    for line in lines:
        if line.startswith("mark\t"):
            part = line.split("\t")[1]
        elif part:
            parts.setdefault(part, Counts()).add(line, bandwidth)
    return parts


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `predict`."""
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[16, 64], metavar="N")
    parser.add_argument(
        "--hidden",
        type=int,
        help="size of hidden layers and of LSTMs' inputs [default: the paper's]. Launches, copies, "
        "waits and barriers of updates and scores do not depend on it, and a small size is fast",
    )


def main(options: argparse.Namespace) -> None:
    """Print a table in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace")
        os.environ[TRACE] = str(trace)
        engine.start("cuda", memory=64)
        trees, size = training_trees(), options.hidden
        sizes = {"hidden": size, "lstm_input": size} if size else {}
        for kind in KINDS:
            measure(*model_of_trees(kind, trees, **sizes), options.batch_sizes, trace)
        kept = trace.read_text(encoding="utf-8").splitlines()
    of_card = {card: counts(kept, bandwidth) for card, bandwidth in BANDWIDTHS.items()}
    counted = "launches", "copies", "waits", "barriers"
    head = *counted, "MB", "Mflop", "H100 ms", "H200 ms", "launches' share"
    print(f"| | {' | '.join(head)} |\n|---|{'---|' * len(head)}")
    for part, c in of_card["H100"].items():
        numbers = " | ".join(f"{getattr(c, name):,}" for name in counted)
        numbers += f" | {c.bytes / 1e6:.1f} | {c.flops / 1e6:.0f}"
        times = " | ".join(f"{1000 * of_card[card][part].seconds:.1f}" for card in BANDWIDTHS)
        print(f"| {part} | {numbers} | {times} | {c.of_launches / c.seconds:.0%} |")


def measure(model, examples, batch_sizes: list[int], trace: Path) -> None:
    """Run the parts for a model, with marks between them in the trace."""

    def mark(part: str) -> None:
        dy.synchronize()
        with trace.open("a", encoding="utf-8") as stream:
            stream.write(f"mark\t{part}\n")

    kind = model.kind
    order = np.random.default_rng(1).permutation(len(examples)).tolist()
    for size in batch_sizes:
        updater = Updater(model, examples, PRESETS["fast", kind])
        mark(f"update, {kind}, {size} sentences")
        updater.update(order[:size], 0, 1e-3)
        mark("")
    chosen = [examples[i] for i in order[:16]]
    if kinds.kind(kind).generates_words:
        mark("scores of 16 trees")
        example_log_probs(model, chosen)
        symbols = model.vocabulary.words.symbols
        words = [[symbols[w] for w in example.words] for example in chosen[:BEAMS]]
        mark(f"a beam of 100 over {BEAMS} sentences, {sum(map(len, words))} words")
        for _ in surprisals(model, words, unkified=words):
            pass
    else:
        tokens = [example.tokens for example in chosen]
        mark("greedy trees of 16 sentences")
        parse_batch(model, tokens)
        mark("10 samples each of 16 sentences")
        sample_batch(model, tokens, 10, 0.8, [[1, i] for i in range(16)])
    mark("")
