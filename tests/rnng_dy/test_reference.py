"""Equal to the original program on the original's own models, samples and likelihoods."""

from __future__ import annotations

from itertools import groupby

import nltk
import numpy as np
import pytest

from clusters.files import read_clusters
from oracle.files import read_likelihoods, read_oracle, read_samples
from oracle.transitions import tree_of
from rnng_dy.clab import import_generator, import_parser
from rnng_dy.engine import dy
from rnng_dy.vectors import read_vectors

COMPOSITIONS = ("corrected", "buggy")
FOLDERS = (*COMPOSITIONS, "pretrained")
OTHER = {"corrected": "buggy", "buggy": "corrected"}


@pytest.fixture(scope="module")
def reference(shared):
    return shared / "clab_reference"


@pytest.fixture(scope="module")
def train(reference):
    return read_oracle(reference / "train.oracle")


@pytest.fixture(scope="module")
def test_sentences(reference):
    return read_oracle(reference / "test.oracle")


def load_parser(reference, train, name, composition):
    vectors = read_vectors(reference / "pretrained/vectors.w2v") if name == "pretrained" else None
    return import_parser(reference / name / "disc.params", train, True, composition, vectors)


def load_generator(reference, name, composition):
    clusters = read_clusters(reference / "clusters.paths")
    sentences = read_oracle(reference / "train.gen.oracle")
    return import_generator(reference / name / "gen.params", sentences, clusters, composition)


def samples_by_sentence(path):
    return [list(group) for _, group in groupby(read_samples(path), lambda s: s.index)]


def log_q(parser, sentence, samples, alpha):
    """log q of sampled trees under the flattened, masked distribution, in nats."""
    dy.renew_cg()
    tokens = parser.encode(sentence.tokens, sentence.tags, sentence.unkified)
    sequences = [parser.vocabulary.actions.encode(s.actions) for s in samples]
    trace = parser.trace(parser.start(tokens), sequences)
    table = parser.action_log_probs([d.configuration for d in trace.decisions], alpha)
    of_decision = table[np.arange(len(table)), [d.action for d in trace.decisions]]
    return np.array([of_decision[path].sum() for path in trace.paths])


def composition_of(name):
    """The composition of a reference folder; `pretrained` has the corrected one."""
    return "buggy" if name == "buggy" else "corrected"


def log_q_differences(reference, train, test_sentences, name, alpha):
    """|ours - printed| / max(1, |printed|) of every sample of the original."""
    parser = load_parser(reference, train, name, composition_of(name))
    groups = samples_by_sentence(reference / name / f"disc.samples.alpha{alpha}.props")
    differences = []
    for sentence, samples in zip(test_sentences, groups, strict=True):
        printed = np.array([s.log_q for s in samples])
        ours = log_q(parser, sentence, samples, alpha)
        differences += list(abs(ours - printed) / np.maximum(1, abs(printed)))
    return np.array(differences)


@pytest.mark.parametrize("alpha", [1.0, 0.8])
@pytest.mark.parametrize("name", FOLDERS)
def test_log_q_of_the_originals_samples(reference, train, test_sentences, name, alpha):
    differences = log_q_differences(reference, train, test_sentences, name, alpha)
    assert len(differences) == 800
    assert differences.max() <= 1e-4


def equal_greedy_trees(reference, train, test_sentences, name):
    """For each test sentence, whether our greedy tree is the original's."""
    parser = load_parser(reference, train, name, composition_of(name))
    tokens = [parser.encode(s.tokens, s.tags, s.unkified) for s in test_sentences]
    ours = [
        tree_of(parser.vocabulary.actions.decode(actions), s.unkified, ["XX"] * len(s.tokens))
        for s, (actions, _) in zip(test_sentences, parser.parse_all_batches(tokens), strict=True)
    ]
    lines = (reference / name / "disc.greedy.trees").read_text().splitlines()
    return [tree == nltk.Tree.fromstring(line) for tree, line in zip(ours, lines, strict=True)]


@pytest.mark.parametrize("name", FOLDERS)
def test_greedy_trees_of_the_original(reference, train, test_sentences, name):
    equal = equal_greedy_trees(reference, train, test_sentences, name)
    assert equal == [True] * 40


def joint_differences(reference, name, composition):
    """Relative differences of our joint log likelihoods from the printed ones."""
    model = load_generator(reference, name, composition)
    printed = [nats for _, nats in read_likelihoods(reference / name / "gen.likelihoods")]
    ours = []
    for samples in samples_by_sentence(reference / name / "disc.samples.alpha0.8.props"):
        words = model.vocabulary.word_ids(samples[0].tree.leaves())
        sequences = [model.vocabulary.actions.encode(s.actions) for s in samples]
        ours += list(-model.joint_log_probs(words, sequences))
    return abs(np.array(ours) - printed) / printed


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_joint_likelihoods_of_the_original(reference, composition):
    differences = joint_differences(reference, composition, composition)
    assert len(differences) == 800
    assert differences.max() <= 1e-4


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_the_other_composition_gives_other_likelihoods(reference, composition):
    differences = joint_differences(reference, composition, OTHER[composition])
    assert (differences > 1e-4).mean() > 0.9
