"""The trees of the benchmarks, as oracles and examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from pathlib import Path

import nltk

import oracle
from clusters.brown import brown_clusters
from oracle.blocks import OracleSentence, make_oracle, read_oracle, write_oracle
from oracle.brackets import LocatedTree, read_trees
from oracle.corpora import NltkSample
from oracle.errors import RnngError
from oracle.preparation import Preparation
from oracle.treebank import clean, words
from oracle.unknown import UnknownWords, known_words
from rnng_dy import registry
from rnng_dy.training.development import encode_possible

TEST = 245
LENGTHS = (10, 25, 50, 100, 200, 300)
"""Numbers of words of the sentences in parts of their own."""
OWN = Path(oracle.__file__).parent / "data" / "tiny.trees"
"""The package's own trees."""
SUFFIXES = {"discriminative": "oracle", "generative": "gen.oracle"}
"""File name endings of the oracles of each kind of model."""


def write_data(folder: str | os.PathLike) -> str:
    """Write train and test oracles of NLTK's treebank sample or, without it, the package's own trees; say which."""
    try:
        name = "NLTK's treebank sample"
        trees = [
            located._replace(tree=clean(located.tree), text=None) for located in NltkSample().read()
        ]
    except (RnngError, LookupError):
        name, trees = "the package's own trees", list(read_trees(OWN))
    trees = list(Preparation(trees, lambda tree: tree, skip_preterminals=True))
    cut = max(len(trees) - TEST, len(trees) * 9 // 10)
    train, test = trees[:cut], trees[cut:]
    unknown = UnknownWords("berkeley", known_words(words(located.tree) for located in train))
    parts = {"train": train, "test": test}
    parts |= {f"words{n}": [long_tree(test, n)] * 4 for n in LENGTHS}
    for part, located in parts.items():
        for kind, suffix in SUFFIXES.items():
            sentences = make_oracle(
                located, unknown, generative=registry.kind(kind).generates_words
            )
            with Path(folder, f"{part}.{suffix}").open("w", encoding="utf-8") as stream:
                write_oracle(sentences, stream)
    return name


def write_first(count: int, oracle_file: Path, output: Path) -> int:
    """Write the first sentences of an oracle; return their number."""
    blocks = oracle_file.read_text(encoding="utf-8").split("\n\n")[:count]
    output.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return len(blocks)


def write_trees(oracle_file: Path, output: Path) -> None:
    """Write the trees of an oracle, one per line."""
    lines = oracle_file.read_text(encoding="utf-8").splitlines()
    trees = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    output.write_text("\n".join(trees) + "\n", encoding="utf-8")


def long_tree(trees: list[LocatedTree], length: int) -> LocatedTree:
    """Return a tree of about `length` words: trees side by side under one S."""
    best = min(trees, key=lambda t: abs(len(words(t.tree)) - length))
    if abs(len(words(best.tree)) - length) * 10 <= length:
        return best
    ends = list(accumulate(len(words(t.tree)) for t in trees))
    count = 1 + min(range(len(ends)), key=lambda i: abs(ends[i] - length))
    tree = nltk.Tree("S", [t.tree for t in trees[:count]])
    return LocatedTree(tree, trees[0].path, trees[0].line)


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
    dimensions = of_kind.model_class.sizes_type(**sizes)
    return of_kind.training_class.new_model(of_kind, sentences, dimensions, **more)


def examples_of(model, part: str, folder: Path) -> list:
    """Return the examples of an oracle in the folder on which the model can be trained."""
    return encode_possible(model, read_oracle(folder / f"{part}.{SUFFIXES[model.kind]}"))[0]
