"""Losses, gradients and updates against `float64_rnng`, which shares no code with the models."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from rnng_dy.engine import dy
from rnng_dy.interop.clab import import_generator, import_parser
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from ..conftest import looked_up_rows, make_generator, make_parser, sentences_of
from .float64_rnng import Float64Rnng
from .ga_reference import SYSTEMS as SYSTEMS_OF_REFERENCE
from .ga_reference import load as load_system


def reference_loss(model, example, arrays=None):
    """The float64 model and its loss on one training example."""
    composition_layers = model.sizes.layers if model.kind == "discriminative" else 1
    chosen = {name: model.config()[name] for name in ("composition", "state", "transitions")}
    arrays = arrays or model.store.arrays()
    other = Float64Rnng(arrays, model.sizes.layers, composition_layers, **chosen)
    if model.kind == "discriminative":
        return other, other.parser_loss(example.tokens.words, example.tokens.tags, example.actions)
    return other, other.generator_loss(example.words, example.actions, model.vocabulary.clusters)


KINDS = ["discriminative", "generative"]
SYSTEMS = [
    *product(KINDS, ["corrected", "buggy"], ["full"], ["top-down"]),
    *product(["discriminative"], ["gated-attention"], PARSER_STATES, ["top-down"]),
    *product(["generative"], ["gated-attention"], GENERATOR_STATES, ["top-down"]),
    *product(KINDS, COMPOSITIONS, ["full"], ["in-order"]),
]


@pytest.mark.parametrize(("kind", "composition", "state", "transitions"), SYSTEMS)
def test_gradient_of_every_parameter(trees, kind, composition, state, transitions):
    """A minibatch of three against single sentences in float64; omitted parts have no gradient."""
    data = sentences_of(trees, kind == "generative", transitions)
    make = make_parser if kind == "discriminative" else make_generator
    model = make(data, composition, state=state)
    examples = [model.encode_training(s) for s in data[:3]]
    dy.renew_cg()
    loss = model.training_loss(examples, 0.0)
    value = loss.value()
    loss.backward()
    expected = {name: 0 for name in model.store.arrays()}
    total = 0.0
    for example in examples:
        other, other_loss = reference_loss(model, example)
        other_loss.run_backward()
        total += float(other_loss.data)
        for name in expected:
            expected[name] = expected[name] + other.p[name].grad
    assert value == pytest.approx(total, rel=1e-5)
    for name, parameter in {**model.store.dense, **model.store.lookups}.items():
        difference = np.abs(parameter.grad_as_array() - expected[name]).max()
        assert difference <= 1e-3 * np.abs(expected[name]).max() + 1e-7, name


@pytest.mark.parametrize("composition", ["corrected", "buggy"])
@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_twenty_updates_from_a_checkpoint_of_the_original(shared, kind, composition):
    reference = shared / "clab_reference"
    if kind == "discriminative":
        data = read_oracle(reference / "train.oracle")
        model = import_parser(reference / composition / "disc.params", data, True, composition)
    else:
        data = read_oracle(reference / "train.gen.oracle")
        clusters = read_clusters(reference / "clusters.paths")
        model = import_generator(
            reference / composition / "gen.params", data, clusters, composition
        )
    require_equal_updates(model, data)


@pytest.mark.parametrize("name", ["ga-stack", "ga", "stack", "no-stack"])
def test_twenty_updates_from_a_checkpoint_of_gated_attention_or_an_ablation(shared, tmp_path, name):
    """What has no influence has no gradient, and decays as the rest does."""
    model = load_system(shared, name, tmp_path, *SYSTEMS_OF_REFERENCE[name])
    require_equal_updates(model, read_oracle(shared / "clab_reference" / "train.gen.oracle"))


def require_equal_updates(model, data):
    """SGD on the first 20 sentences, with a decay that float32 shows, against float64."""
    eta, clip, decay = 0.1, 5.0, 1e-3
    changes = {"learning_rate": eta, "clip": clip, "l2": decay, "unknown_probability": 0.0}
    settings = replace(PRESETS["paper", model.kind], dropout=0.0, **changes)
    examples = [model.encode_training(s) for s in data[:20]]
    before = {name: a.astype(np.float64) for name, a in model.store.arrays().items()}
    arrays = {name: a.copy() for name, a in before.items()}
    updater = Updater(model, examples, settings)
    for i, example in enumerate(examples):
        value = updater.update([i], i, eta)
        other, loss = reference_loss(model, example, arrays)
        assert value == pytest.approx(float(loss.data), rel=1e-4)
        loss.run_backward()
        gradients = {name: other.p[name].grad for name in arrays}
        norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
        gated = model.network.composition.name == "gated-attention"
        rows = looked_up_rows(model.vocabulary, [data[i]], gated)
        for name, g in gradients.items():
            shrink = np.full_like(g, decay)
            if name in rows:
                shrink[:] = 0
                shrink[sorted(rows[name])] = decay
            arrays[name] = arrays[name] - eta * min(1, clip / norm) * g - shrink * arrays[name]
    for name, ours in model.store.arrays().items():
        changed = np.abs(arrays[name] - before[name]).max()
        assert np.abs(ours - arrays[name]).max() <= 2e-3 * changed + 1e-6, name
