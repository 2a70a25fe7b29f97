"""The steps of a check; each runs in a process of its own and prints its findings."""

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from oracle.common.files import replacing
from rnng_dy import engine
from rnng_dy.engine import dy
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.gpu.data import model_of_trees, training_trees
from scripts.gpu.numbers import COMPUTED, KINDS, Arrays, difference, model_of

REFERENCES = "references"
BATCH_SIZES = (16, 64, 256)
CPU_LIMIT = 1 << 30
"""Bytes of this process on the CPU beyond which memory runs out."""
Options = argparse.Namespace
"""Options of the command line: `device`, `references` and `quick`."""
Findings = Iterator[tuple[bool, str]]
"""Pairs of success and a message, one per finding."""


class Step(NamedTuple):
    """A step, whose check yields its findings."""

    what: str
    run: Callable[[Options], Findings]
    is_long: bool = False


def run_step(options: Options) -> int:
    """Run the step that the options name; return its exit code."""
    engine.start(options.device, memory=16)
    has_failed = False
    for passed, message in STEPS[options.step].run(options):
        print(message if passed else f"WRONG: {message}", flush=True)
        has_failed |= not passed
    return int(has_failed)


def make_references(options: Options) -> Findings:
    """Write all references, as this device computes them."""
    arrays = {}
    for step, computed in COMPUTED.items():
        arrays |= {f"{step}/{name}": array for name, array in computed.arrays(None).items()}
    with replacing(options.references, binary=True) as stream:
        np.savez_compressed(stream, **arrays)
    yield True, f"{len(arrays)} arrays, {options.references.stat().st_size / 1e6:.1f} MB"


def agrees(step: str, options: Options) -> Findings:
    """Compare every array of a step with the references, and print the largest differences."""
    computed, prefix = COMPUTED[step], f"{step}/"
    with np.load(options.references) as stored:
        names = [name for name in stored.files if name.startswith(prefix)]
        reference = {name.removeprefix(prefix): stored[name] for name in names}
    results: Arrays = computed.arrays(reference)
    # an array that is missing differs, in its shape
    differences = {
        name: difference(results.get(name, np.empty(0)), array, computed.exceptions)
        for name, array in reference.items()
    }
    worst = sorted(differences, key=lambda name: -differences[name])[:3]
    largest = f"largest relative difference, limit {computed.tolerance:.0e}:"
    yield bool(reference), f"{len(reference)} arrays; {largest}"
    for name in worst:
        yield differences[name] <= computed.tolerance, f"{differences[name]:.1e} {name}"


def start(options: Options) -> Findings:
    """Multiply once on the device."""
    left, right = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    dy.renew_cg()
    product = (dy.inputTensor(left) * dy.inputTensor(right)).npvalue()
    yield np.array_equal(product, left @ right), f"a product on {engine.device()}"


def drop(seed: int | None, p: float, size: int = 100_000) -> np.ndarray:
    """Return a vector of ones after dropout."""
    if seed is not None:
        dy.reset_random_seed(seed)
    dy.renew_cg()
    return dy.dropout(dy.inputVector(np.ones(size)), p).npvalue()


def dropout(options: Options) -> Findings:
    """Check how many numbers are dropped, how the others are scaled, and the effect of the seed."""
    p = 0.3
    values = drop(7, p)
    rate, limit = (values == 0).mean(), 5 * np.sqrt(p * (1 - p) / values.size)
    kept = values[values != 0]
    following = drop(None, p)
    yield abs(rate - p) < limit, f"{rate:.4f} are dropped, {p} +- {limit:.4f} should be"
    yield np.allclose(kept, 1 / (1 - p), rtol=1e-6), f"the others are scaled by {kept.mean():.4f}"
    yield not np.array_equal(following, values), "the next draws are others"
    yield np.array_equal(drop(7, p), values), "the seed gives the first ones again"
    yield not np.array_equal(drop(8, p), values), "another seed gives others"


def memory(options: Options) -> Findings:
    """Check that too large a graph raises MemoryError, and that a graph after it is right."""
    size = 1 << 26
    if engine.device() == engine.CPU:
        size = 1 << 20
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (CPU_LIMIT, hard))
    collection = dy.ParameterCollection()
    weights = collection.parameters_from_numpy(np.full(size, 0.5, np.float32))
    for large in (False, True, False, True, False):
        dy.renew_cg()
        x = weights * 1.0
        for _ in range(1000 if large else 1):
            x = dy.tanh(x)
        try:
            value = dy.pick(x, 0).value()
            loss = dy.sum_elems(x)
            loss.value()
            loss.backward()
        except MemoryError:
            yield large, "a large graph: MemoryError"
            continue
        right = abs(value - np.tanh(0.5)) < 1e-6
        yield right and not large, f"a graph that fits: tanh(0.5) = {value:.6f}"


def sanitizer(options: Options) -> Findings:
    """Update each tiny model once, with dropout; the exit code is compute-sanitizer's."""
    for kind, preset in zip(KINDS, ("paper", "fast"), strict=True):
        model, examples = model_of(kind, 8)
        loss = Updater(model, examples, PRESETS[preset, kind]).update([0, 1, 2], 0, 0.01)
        dy.synchronize()
        yield np.isfinite(loss), f"an update of a tiny model, {kind}"


def speed(options: Options) -> Findings:
    """Measure training in sentences per second by minibatch size, at the paper's sizes."""
    trees = training_trees()
    for kind in KINDS:
        model, examples = model_of_trees(kind, trees)
        order = np.random.default_rng(1).permutation(len(examples)).tolist()
        for size in (2,) if options.quick else BATCH_SIZES:
            updater = Updater(model, examples, PRESETS["fast", kind])
            number, started = 0, 0.0
            # the first update does not count
            while number < 2 or time.perf_counter() - started < (0.0 if options.quick else 10.0):
                members = [order[(number * size + i) % len(order)] for i in range(size)]
                updater.update(members, number, 1e-3)
                dy.synchronize()
                number, started = number + 1, started or time.perf_counter()
            per_second = (number - 1) * size / (time.perf_counter() - started)
            yield True, f"{kind}, batches of {size}: {per_second:.1f} sentences/s"


STEPS = {
    REFERENCES: Step("", make_references, is_long=True),
    "start": Step("the device starts and multiplies two matrices", start),
    **{
        name: Step(f"{computed.what}, against the CPU", partial(agrees, name))
        for name, computed in COMPUTED.items()
    },
    "dropout": Step("rate, scale and seed of dropout", dropout),
    "memory": Step("too large a graph is MemoryError, and the next one fits", memory),
    "sanitizer": Step(
        "compute-sanitizer finds nothing in an update of tiny models", sanitizer, is_long=True
    ),
    "speed": Step("sentences/s of both models in training", speed, is_long=True),
}
CHECKED = tuple(STEPS)[1:]
"""The steps of a check; references are made before it."""
