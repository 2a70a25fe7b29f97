"""Equal to the gated-attention program and the ablated ones on their own models."""

import re
from itertools import groupby

import numpy as np
import pytest

from oracle.brackets import parse_line
from oracle.samples import read_likelihoods, read_samples
from rnng_dy.search.scoring import joint_log_probs

from .ga_reference import SYSTEMS, load


def differences(shared, name, model):
    """Relative differences of our joint log likelihoods from the 800 printed ones."""
    printed = [n for _, n in read_likelihoods(shared / "ga_reference" / name / "gen.likelihoods")]
    samples = read_samples(shared / "clab_reference/corrected/disc.samples.alpha0.8.props")
    ours = []
    for _, of_sentence in groupby(samples, lambda s: s.index):
        trees = [s.tree for s in of_sentence]
        words = model.vocabulary.word_ids(trees[0].leaves())
        actions = [model.transitions.actions_of(tree, preterminals=False) for tree in trees]
        ours += list(-joint_log_probs(model, words, list(map(model.transitions.encode, actions))))
    return abs(np.array(ours) - printed) / printed


def attention_differences(shared, name, model):
    """Differences of our attention weights from the printed ones; the labels are equal."""
    folder = shared / "ga_reference"
    lines = (folder / "attention.trees").read_text().splitlines()
    # tags, lest constituents of one word count as such
    trees = [parse_line(re.sub(r" ([^ ()]+)(?=[ )])", r" (XX \1)", line)) for line in lines]
    rows = [line.split("\t") for line in (folder / name / "attention.txt").read_text().splitlines()]
    ours = [(i, *found) for i, tree in enumerate(trees) for found in model.attention(tree)]
    assert [(int(i), label) for i, label, _ in rows] == [(i, label) for i, label, _ in ours]
    printed = [np.array(weights.split(), float) for _, _, weights in rows]
    return np.concatenate([p - w for p, (*_, w) in zip(printed, ours, strict=True)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ga_reference")


@pytest.mark.parametrize("name", SYSTEMS)
def test_joint_likelihoods_of_the_original(shared, folder, name):
    found = differences(shared, name, load(shared, name, folder, *SYSTEMS[name]))
    assert len(found) == 800
    assert found.max() <= 1e-5


@pytest.mark.parametrize("name", ["ga-stack", "ga"])
def test_attention_weights_of_the_original(shared, folder, name):
    found = attention_differences(shared, name, load(shared, name, folder, *SYSTEMS[name]))
    assert abs(found).max() <= 1e-5


def test_another_state_gives_other_likelihoods(shared, folder):
    """A wrong one loads all the same: that is why it has to be given."""
    found = differences(shared, "stack", load(shared, "stack", folder, "corrected", "full"))
    assert (found > 1e-4).mean() > 0.9
