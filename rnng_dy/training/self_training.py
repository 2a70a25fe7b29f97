"""Self-training: trees of unlabelled sentences that a parser is sure of, and a new parser trained on them, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from oracle.brackets import parse_line
from oracle.errors import RnngError
from oracle.parsed import ParsedSentence, ScoredTree, read_parsed
from oracle.sentences import SourceSentence
from oracle.streams import open_output
from oracle.training_data import TreesFile
from rnng_dy.execution.work import Lines
from rnng_dy.interop.vectors import write_vectors
from rnng_dy.search.trees import drawn, in_places, joint_of_trees, rated_trees
from rnng_dy.settings import option_name
from rnng_dy.text.sources import NumberedSentence

SILVER, TRAIN = "silver.trees", "train.trees"
"""Files of `mix`: the parser's trees that are kept, and the gold trees before them."""
VECTORS = "vectors.txt"
"""The parser's word vectors, for the training of the new one."""


class SilverOptions(NamedTuple):
    """Which tree of a sentence is chosen."""

    samples: int
    """Number of trees drawn per sentence, from the parser's own distribution."""
    seed: int


def silver_lines(
    options: SilverOptions, parser: Any, batch: Sequence[NumberedSentence], generator: Any = None
) -> list[Lines]:
    """Return a line of JSON per sentence, with the tree that a generative model chooses, or else that of highest F1."""
    find = partial(drawn, options.samples, 1.0, options.seed)

    def found(sentences: Sequence[NumberedSentence]) -> list[list[ScoredTree]]:
        trees = rated_trees(find, generator is None, parser, sentences)
        if generator is None:
            return trees
        pairs = zip(sentences, trees, strict=True)
        return [most_probable(generator, item.sentence, of_item) for item, of_item in pairs]

    return [
        [ParsedSentence(item.index + 1, item.sentence, trees).to_json()]
        for item, trees in zip(batch, in_places(found, batch), strict=True)
    ]


def most_probable(
    generator: Any, sentence: SourceSentence, trees: Sequence[ScoredTree]
) -> list[ScoredTree]:
    """Return the tree with the highest joint probability, which becomes its log probability; none if all have p = 0."""
    read = [parse_line(scored.tree, any_bytes=True) for scored in trees]
    log_ps = joint_of_trees(generator, sentence, read)
    if log_ps is None:
        return []
    best = max(range(len(trees)), key=log_ps.__getitem__)
    return [trees[best]._replace(log_prob=log_ps[best])]


def confidence(tree: ScoredTree) -> float:
    """Return the mean posterior of a tree's constituents, which is its expected precision.

    >>> confidence(ScoredTree("(S (NP a) b)", None, [1.0, 0.5]))
    0.75
    """
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
    with open_output(folder / SILVER) as silver, open_output(folder / TRAIN) as train:
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


def settings_like(parser: Any, folder: Path) -> dict[str, Any]:
    """Return the arguments of `Training` for a parser like the first of an ensemble, or like a single one.

    If the parser has word vectors, the folder gets them.
    """
    first = getattr(parser, "models", [parser])[0]
    config, pretrained = first.config(), None
    if first.vocabulary.pretrained is not None:
        pretrained = str(folder / VECTORS)
        write_vectors(pretrained, first.vocabulary.pretrained.symbols, first.vectors)
    return {
        "pretrained": pretrained,
        **{name: config[name] for name in ("composition", "transitions", "state")},
        **{option_name(of): getattr(first.sizes, of.name) for of in fields(first.sizes)},
        "unk": first.vocabulary.unknown.rules,
        "pos": first.vocabulary.tags is not None,
        # the silver trees have the tags of this tagger, which the new parser gets
        "tagger": first.tagger is None,
    }
