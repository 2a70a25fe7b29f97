"""An estimate of a reproduction's duration, from a short measurement on the package's own trees."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import oracle
from oracle.blocks import make_oracle
from oracle.brackets import read_trees
from oracle.errors import RnngError
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words
from rnng_dy import registry
from rnng_dy.execution.executor import Command, Executor
from rnng_dy.reproduce.plan import PARTICLE_RUNS, Experiment, Stage
from rnng_dy.reproduce.runner import Runner
from rnng_dy.reproduce.systems import System
from rnng_dy.training.presets import PRESETS, Settings, settings_for, sizes_for

MEASURED = 32
"""Number of sentences that are measured."""
SIZES = ("hidden", "lstm_input")
SAMPLING = 8.5
"""100 samples of a sentence take as long as this number of updates with it in a minibatch (docs/performance.md)."""
SCORING = 8.5
"""The same for the joint likelihoods of 100 samples."""
SEARCHING = {"beam": 45, "particles": 65}
"""The same for searches with a beam of 100, and with 2,000 particles."""


class Cost(NamedTuple):
    """Costs as multiples of those of the corrected composition with the full state."""

    training: float = 1.0
    inference: float = 1.0


COSTS = {
    "gated-attention": Cost(2.4, 2.1),
    "stack": Cost(0.7, 0.6),
    "no-stack": Cost(0.4, 0.5),
    "no-history": Cost(0.8, 0.7),
    "no-buffer": Cost(0.9, 0.8),
    "history": Cost(0.4, 0.4),
}
"""Costs of compositions and states: the generative model's (docs/performance.md), also used for parsers and searches.

Missing names cost 1.
"""


class PartSize(NamedTuple):
    """The size of a part of a treebank."""

    sentences: int
    words: int


def cost(system: System | None) -> Cost:
    """Return a system's cost: its composition's times its state's; a baseline's is 1."""
    if system is None:
        return Cost()
    composition, state = (COSTS.get(part, Cost()) for part in (system.composition, system.state))
    return Cost(composition.training * state.training, composition.inference * state.inference)


def seconds_per_word(kind: str, settings: Settings, sizes: Mapping[str, int]) -> float:
    """Measure the seconds per word of training a model on one process; `sizes` replace dimensions of the paper."""
    from rnng_dy.training.new_models import new_model
    from rnng_dy.training.updates import Updater

    trees = list(read_trees(str(Path(oracle.__file__).parent / "data" / "tiny.trees")))
    unknown = UnknownWords("berkeley", known_words(words(t.tree) for t in trees))
    of_kind = registry.kind(kind)
    sentences = list(make_oracle(trees, unknown, of_kind.generates_words))
    sizes = of_kind.model_class.sizes_type(**sizes)
    model = new_model(of_kind, sentences, sizes)
    settings = replace(settings, jobs=1)
    examples = [model.encode_training(s) for s in sentences[: 2 * MEASURED]]
    updater = Updater(model, examples, settings)
    size = settings.batch_size
    for start in range(0, len(examples), size):
        if start == MEASURED:
            begin = time.perf_counter()
        updater.update(range(start, min(start + size, len(examples))), start, 0.01)
    return (time.perf_counter() - begin) / sum(map(model.length, examples[MEASURED:]))


def estimate(
    stages: Sequence[Stage], e: Experiment, train: PartSize, test: PartSize
) -> dict[str, float]:
    """Return the seconds of training, sampling, scoring and searching stages on one process; others take minutes."""
    given = {name: e.training[name] for name in SIZES if name in e.training}
    kinds = {stage.kind for stage in stages if stage.kind}
    settings = {kind: settings_for(e.preset, kind, train.sentences) for kind in kinds}

    def measured(kind: str, how: Settings) -> float:
        return seconds_per_word(kind, how, {**sizes_for(e.preset, kind, train.sentences), **given})

    trained = {kind: measured(kind, settings[kind]) for kind in kinds}
    inferred = {
        "sample": ("discriminative", SAMPLING * e.samples / 100),
        "score": ("generative", SCORING * e.samples / 100),
        "beam": ("generative", SEARCHING["beam"] * e.beam / 100),
        "particles": ("generative", SEARCHING["particles"] * e.particles * PARTICLE_RUNS / 2000),
    }
    works = {stage.name: stage.search or stage.verb for stage in stages}
    batched = {
        kind: measured(kind, PRESETS["fast", kind])
        for kind in {inferred[work][0] for work in works.values() if work in inferred}
    }
    found = {}
    for stage in stages:
        if stage.kind:
            epochs = e.training.get("epochs", settings[stage.kind].epochs)
            found[stage.name] = trained[stage.kind] * train.words * epochs
            found[stage.name] *= cost(stage.system).training
        elif works[stage.name] in inferred:
            kind, factor = inferred[works[stage.name]]
            found[stage.name] = batched[kind] * test.words * factor
            found[stage.name] *= cost(stage.system).inference
    return found


def part_sizes(runner: Runner, stages: Sequence[Stage], executor: Executor) -> dict[str, PartSize]:
    """Return the sizes of the training and test parts, preparing missing ones in a temporary folder.

    Raises RnngError if a part cannot be prepared.
    """
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        for stage in stages:
            part = stage.name.removeprefix("trees ")
            if part not in ("train", "test"):
                continue
            path = runner.folder / f"{part}.trees"
            if not runner.is_done(stage):
                path, log = Path(temporary, f"{part}.trees"), Path(temporary, "log")
                if executor.start(Command(stage.command, Path(temporary), log)).wait():
                    said = log.read_text(encoding="utf-8", errors="replace").strip()
                    raise RnngError(said.removeprefix("Error: "))
            lengths = [len(words(located.tree)) for located in read_trees(str(path))]
            found[part] = PartSize(len(lengths), sum(lengths))
    return found
