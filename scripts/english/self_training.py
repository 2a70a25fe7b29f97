"""Self-training: the trees of unlabelled sentences that a parser is sure of, after the gold trees."""

from __future__ import annotations

from pathlib import Path

from oracle.files import replacing
from oracle.parsed import ScoredTree, read_parsed


def confidence(tree: ScoredTree) -> float:
    """Return the mean posterior of a tree's constituents, which is its expected precision.

    >>> confidence(ScoredTree("(S (NP a) b)", None, [1.0, 0.5]))
    0.75
    """
    return sum(tree.posteriors) / len(tree.posteriors)


def mix(gold: Path, parsed: Path, keep_above: float, output: Path) -> int:
    """Write the gold trees, then the trees in JSON whose confidence is at least `keep_above`; return their number."""
    trees = (tree for sentence in read_parsed(parsed) for tree in sentence.trees)
    silver = [f"{tree.tree}\n" for tree in trees if confidence(tree) >= keep_above]
    with replacing(output) as stream:
        stream.write(gold.read_text(encoding="utf-8"))
        stream.writelines(silver)
    return len(silver)
