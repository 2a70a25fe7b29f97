"""Models and examples of NLTK's treebank sample or, without it, of the package's own trees."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import oracle
from clusters.brown import brown_clusters
from oracle.blocks import OracleSentence, make_oracle, read_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.corpora import NltkSample
from oracle.errors import RnngError
from oracle.training_data import Preparation
from oracle.treebank import clean, words
from oracle.unknown import UnknownWords, known_words
from rnng_dy import registry
from rnng_dy.training.data import Examples
from rnng_dy.training.data import examples_of as examples_of_sentences
from rnng_dy.training.initial_models import new_model as new_model_of

TEST = 245
OWN = Path(oracle.__file__).parent / "data" / "tiny.trees"
"""The package's own trees."""
SUFFIXES = {"discriminative": "oracle", "generative": "gen.oracle"}
"""File name endings of the oracles of each kind of model."""


def write_data(folder: str | os.PathLike) -> str:
    """Write the training oracles of both kinds of models; say whose trees they are."""
    try:
        name = "NLTK's treebank sample"
        trees = [
            located._replace(tree=clean(located.tree), text=None) for located in NltkSample().read()
        ]
    except (RnngError, LookupError):
        name, trees = "the package's own trees", list(read_trees(OWN))
    trees = list(Preparation(trees, lambda tree: tree, skip_preterminals=True))
    train = trees[: max(len(trees) - TEST, len(trees) * 9 // 10)]
    unknown = UnknownWords("berkeley", known_words(words(located.tree) for located in train))
    for kind, suffix in SUFFIXES.items():
        sentences = make_oracle(train, unknown, generative=registry.kind(kind).generates_words)
        with Path(folder, f"train.{suffix}").open("w", encoding="utf-8") as stream:
            write_oracle(sentences, stream)
    return name


def new_model(kind: str, folder: Path, **sizes: int):
    """Return a model for the training oracle in the folder; `sizes` replace dimensions of the paper."""
    sentences = read_oracle(folder / f"train.{SUFFIXES[kind]}")
    clusters = partial(brown_clusters, [s.unkified for s in sentences], 140)
    return model_for(kind, sentences, clusters, **sizes)


def model_for(
    kind: str, sentences: list[OracleSentence], clusters: Callable[[], list], **sizes: int
):
    """Return a new model for sentences; a generative one calls `clusters`."""
    of_kind = registry.kind(kind)
    more = {"clusters": clusters()} if of_kind.generates_words else {}
    dimensions = of_kind.sizes_type(**sizes)
    return new_model_of(of_kind, sentences, dimensions, **more)


def examples_of(model, folder: Path) -> Examples:
    """Return the training examples of the oracle in the folder."""
    path = folder / f"train.{SUFFIXES[model.kind]}"
    return examples_of_sentences(model, read_oracle(path), str(path))
