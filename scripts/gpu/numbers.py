"""Computations that the check runs on CPU and GPU: arrays by name, equal but for rounding."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from oracle.brackets import read_trees
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore
from rnng_dy.search.parsing import parse_all
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import example_log_probs
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.gpu.data import OWN, model_of_trees

Arrays = dict[str, np.ndarray]

SENTENCES = 20
KINDS = ("discriminative", "generative")
LSTM_BATCHES = (1, 2, 33, 300)
INPUTS, HIDDEN = 48, 64
RATES = {"sgd": 0.1, "adam": 0.002}
LEARNED = 40
"""Number of updates of models before they parse and score."""


class Computed(NamedTuple):
    """A computation, and the tolerated difference of results from the reference.

    A difference is relative to the largest entry of the reference's array; a share of the entries
    may differ more.
    """

    what: str
    arrays: Callable[[Arrays | None], Arrays]
    """The function that computes the arrays; it receives the references if they exist."""
    tolerance: float
    exceptions: float = 0.0


def difference(result: np.ndarray, reference: np.ndarray, exceptions: float = 0.0) -> float:
    """Return the largest difference relative to the reference's largest entry.

    A share of the entries, `exceptions`, is ignored.

    >>> difference(np.array([1.0, 3.0]), np.array([1.0, 4.0]))
    0.25
    >>> difference(np.ones(4), np.arange(4), 0.75)
    0.0
    """
    if result.shape != reference.shape:
        return float("inf")
    apart = np.sort(np.abs(result - reference), axis=None)
    # NaN sorts last, and is never an exception
    if not np.isfinite(apart).all():
        return float("inf")
    kept = apart[: len(apart) - int(exceptions * len(apart))]
    return float(kept.max(initial=0.0) / (np.abs(reference).max(initial=0.0) or 1.0))


def lstm_step(batch: int, has_state: bool) -> Arrays:
    """Return the value of an LSTM cell's step for a batch, and the gradients of its arguments."""
    random = np.random.default_rng([batch, has_state])
    store = ParameterStore(1)
    cell = store.lstm_cell("cell", INPUTS, HIDDEN)
    # these are parameters, so that they have gradients
    sizes = {"x": INPUTS, "state": 2 * HIDDEN, "weights": 2 * HIDDEN}
    tables = {name: store.lookup(name, batch, size) for name, size in sizes.items()}
    for table, size in zip(tables.values(), sizes.values(), strict=True):
        table.init_from_array(random.normal(0, 1, (batch, size)).astype(np.float32))
    rows = range(batch)
    dy.renew_cg()
    inputs = {name: dy.lookup_batch(table, rows) for name, table in tables.items()}
    state = cell.step(inputs["x"], inputs["state"] if has_state else None)
    loss = dy.sum_batches(dy.dot_product(state, inputs["weights"]))
    return backward(loss, store) | {"state": state.npvalue()}


def backward(loss, store: ParameterStore) -> Arrays:
    """Return a loss, and the gradients of all parameters."""
    arrays = {"loss": np.array(loss.value())}
    loss.backward()
    parameters = {**store.dense, **store.lookups}
    return arrays | {f"gradient of {n}": p.grad_as_array() for n, p in parameters.items()}


def lstm_steps(reference: Arrays | None) -> Arrays:
    """Return steps for batches of several sizes, with and without a previous state."""
    return {
        f"batch of {batch}, {'with' if has_state else 'without'} state: {name}": array
        for batch in LSTM_BATCHES
        for has_state in (True, False)
        for name, array in lstm_step(batch, has_state).items()
    }


def model_of(kind: str, size: int = 32) -> tuple:
    """Return a small model with random parameters for the package's own trees, and examples."""
    return model_of_trees(kind, list(read_trees(OWN))[:200], lstm_input=size, hidden=size)


def gradients(kind: str, reference: Arrays | None) -> Arrays:
    """Return the loss of a minibatch with dropout, and the gradient of every parameter."""
    model, examples = model_of(kind)
    dy.renew_cg()
    # the masks of dropout are the same on both devices
    dy.reset_random_seed(1)
    arrays = backward(model.training_loss(list(islice(examples, SENTENCES)), 0.2), model.store)
    return arrays | {"norm": np.array(model.store.collection.gradient_l2_norm())}


def updates(kind: str, optimizer: str, count: int) -> tuple:
    """Return a model after some updates, its examples, and the losses."""
    model, examples = model_of(kind)
    settings = replace(PRESETS["paper", kind], optimizer=optimizer, dropout=0.0, clip=1.0)
    updater = Updater(model, examples, settings)
    losses = []
    for number in range(count):
        members = [(number * SENTENCES + i) % len(examples) for i in range(SENTENCES)]
        losses.append(updater.update(members, number, RATES[optimizer]))
    return model, examples, losses


def five_updates(kind: str, optimizer: str, reference: Arrays | None) -> Arrays:
    """Return the losses of five updates, and the parameters after them."""
    model, _, losses = updates(kind, optimizer, 5)
    return {"losses": np.array(losses)} | model.store.arrays()


def learned(kind: str, reference: Arrays | None) -> tuple:
    """Return a slightly trained model, its examples and its parameters.

    The parameters are those of the references, if there are any.
    """
    if reference is None:
        model, examples, _ = updates(kind, "adam", LEARNED)
        parameters = {f"parameter {name}": a for name, a in model.store.arrays().items()}
    else:
        model, examples = model_of(kind)
        parameters = {name: a for name, a in reference.items() if name.startswith("parameter ")}
        model.store.load({name.removeprefix("parameter "): a for name, a in parameters.items()})
    return model, list(islice(examples, SENTENCES)), parameters


def parses(reference: Arrays | None) -> Arrays:
    """Return greedy trees and samples of a parser, and their log q in nats."""
    parser, examples, parameters = learned("discriminative", reference)
    tokens = [example.tokens for example in examples]
    greedy = parse_all(parser, tokens, [len(t.words) for t in tokens])
    seeds = [[1, i] for i in range(len(tokens))]
    drawn = [*chain(*sample_batch(parser, tokens, 10, 0.8, seeds))]
    return parameters | {
        "greedy trees": _padded([actions for actions, _ in greedy]),
        "log q of greedy trees": np.array([log_q for _, log_q in greedy]),
        "samples": _padded([list(actions) for actions, _ in drawn]),
        "log q of samples": np.array([log_q for _, log_q in drawn]),
    }


def scores(reference: Arrays | None) -> Arrays:
    """Return the joint log likelihoods of the gold trees under a generative model, in nats."""
    model, examples, parameters = learned("generative", reference)
    return parameters | {"log p": np.array(example_log_probs(model, examples))}


def _padded(sequences: list[list[int]], width: int = 400) -> np.ndarray:
    """Return action sequences as rows of an array, padded with -1."""
    table = np.full((len(sequences), width), -1)
    for row, actions in zip(table, sequences, strict=True):
        row[: len(actions)] = actions[:width]
    return table


COMPUTED = {"lstm": Computed("LSTM steps and all their gradients", lstm_steps, 1e-4)}
for _kind in KINDS:
    what = f"loss and every gradient, {_kind}"
    COMPUTED[f"gradients-{_kind}"] = Computed(what, partial(gradients, _kind), 5e-4)
# Adam's first updates follow the sign of a gradient, even if it is as small as rounding errors
for _optimizer, _exceptions in (("sgd", 0.0), ("adam", 0.01)):
    for _kind in KINDS:
        compute = partial(five_updates, _kind, _optimizer)
        what = f"five updates by {_optimizer}, {_kind}"
        COMPUTED[f"{_optimizer}-{_kind}"] = Computed(what, compute, 1e-3, _exceptions)
# a tree in twenty may differ if two actions are equally good, a sample if a draw falls between two
# actions
COMPUTED["parses"] = Computed("greedy trees and samples of 20 sentences", parses, 1e-2, 0.1)
COMPUTED["scores"] = Computed("scores of 20 sentences", scores, 1e-4)
