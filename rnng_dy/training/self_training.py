"""Self-training: trees of unlabelled sentences that a parser is sure of, and a new parser trained on them, too."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.files import replacing
from oracle.parsed import ScoredTree, read_parsed
from oracle.training_data import TreesFile

SILVER, TRAIN = "silver.trees", "train.trees"
"""Files of `mix`: the parser's trees that are kept, and the gold trees before them."""


def confidence(tree: ScoredTree) -> float:
    """Return the mean posterior of a tree's constituents, which is its expected precision.

    Raises RnngError for a tree without posteriors.

    >>> confidence(ScoredTree("(S (NP a) b)", None, [1.0, 0.5]))
    0.75
    """
    if not tree.posteriors:
        raise RnngError(f"a tree without posteriors: {tree.tree!r:.60}")
    return sum(tree.posteriors) / len(tree.posteriors)


class Mixture(NamedTuple):
    """The numbers of trees of a mixture."""

    gold: int
    silver: int
    sentences: int
    """Sentences of which the silver trees are chosen."""


def mix(gold: str, parsed: Path, keep_above: float, folder: Path) -> Mixture:
    """Write the trees of a file of JSON whose confidence is at least `keep_above`, alone and after the gold trees.

    Raises InputError if there is no gold tree, and RnngError if no tree is kept.
    """
    with replacing(folder / SILVER) as silver, replacing(folder / TRAIN) as train:
        golds = TreesFile(gold)
        train.writelines(f"{tree.text}\n" for tree in golds)
        kept = sentences = 0
        for sentence in read_parsed(parsed):
            sentences += 1
            for tree in sentence.trees:
                if confidence(tree) >= keep_above:
                    kept += 1
                    silver.write(f"{tree.tree}\n")
                    train.write(f"{tree.tree}\n")
        if not kept:
            message = f"no tree of {sentences} sentences has a confidence of {keep_above:g} or more"
            raise RnngError(f"{message}: choose a lower --keep-above")
    return Mixture(golds.left, kept, sentences)
