"""Equal to the original program on the original's own models, samples and likelihoods."""

from itertools import groupby

import nltk
import numpy as np
import pytest

from clusters.files import read_clusters
from oracle.blocks import read_oracle
from oracle.samples import read_likelihoods, read_samples
from rnng_dy.interop.clab import import_generator, import_parser
from rnng_dy.interop.vectors import read_vectors
from rnng_dy.search.parsing import parse_all
from rnng_dy.search.scoring import joint_log_probs

from .. import conftest

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
    tokens = parser.encode(sentence.tokens, sentence.tags, sentence.unkified)
    return conftest.log_q(parser, tokens, sequences_of(parser, samples), alpha)


def sequences_of(model, samples):
    """The action ids of sampled trees."""
    actions_of, encode = model.transitions.actions_of, model.transitions.encode
    return [encode(actions_of(s.tree, preterminals=False)) for s in samples]


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
    parsed = parse_all(parser, tokens, [len(s.tokens) for s in test_sentences])
    ours = [
        parser.transitions.tree_of(
            parser.transitions.decode(actions), s.unkified, ["XX"] * len(s.tokens)
        )
        for s, (actions, _) in zip(test_sentences, parsed, strict=True)
    ]
    lines = (reference / name / "disc.greedy.trees").read_text().splitlines()
    return [tree == nltk.Tree.fromstring(line) for tree, line in zip(ours, lines, strict=True)]


@pytest.mark.parametrize("name", FOLDERS)
def test_greedy_trees_of_the_original(reference, train, test_sentences, name):
    assert equal_greedy_trees(reference, train, test_sentences, name) == [True] * 40


def joint_differences(reference, name, composition):
    """Relative differences of our joint log likelihoods from the printed ones."""
    model = load_generator(reference, name, composition)
    printed = [nats for _, nats in read_likelihoods(reference / name / "gen.likelihoods")]
    ours = []
    for samples in samples_by_sentence(reference / name / "disc.samples.alpha0.8.props"):
        words = model.vocabulary.word_ids(samples[0].tree.leaves())
        ours += list(-joint_log_probs(model, words, sequences_of(model, samples)))
    return abs(np.array(ours) - printed) / printed


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_joint_likelihoods_of_the_original(reference, composition):
    differences = joint_differences(reference, composition, composition)
    assert len(differences) == 800
    assert differences.max() <= 1e-4


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_the_other_composition_gives_other_likelihoods(reference, composition):
    assert (joint_differences(reference, composition, OTHER[composition]) > 1e-4).mean() > 0.9
