"""Models and examples of NLTK's treebank sample or, without it, of the package's own trees."""

from collections.abc import Sequence
from pathlib import Path

import oracle
from clusters.brown import brown_clusters
from oracle.blocks import make_oracle
from oracle.brackets import LocatedTree, read_trees
from oracle.common.errors import RnngError
from oracle.corpora import NltkSample
from oracle.training_data import Preparation
from oracle.treebank import clean, words
from oracle.unknown import UnknownWords, known_words
from rnng_dy import kinds
from rnng_dy.training.data import examples_of
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

TEST = 245
"""Sentences of NLTK's sample that models are not trained on."""
OWN = Path(oracle.__file__).parent / "data" / "tiny.trees"
"""The package's own trees."""


def training_trees() -> list[LocatedTree]:
    """Return the training trees of NLTK's sample or, without it, of the package's own trees."""
    try:
        located = list(NltkSample().read())
    except (RnngError, LookupError):
        located = read_trees(OWN)
    trees = list(Preparation(located, clean, skip_preterminals=True))
    return trees[: max(len(trees) - TEST, len(trees) * 9 // 10)]


def model_of_trees(kind: str, trees: Sequence[LocatedTree], **sizes: int) -> tuple:
    """Return a new model for trees, and their examples; `sizes` replace dimensions of the paper."""
    of_kind = kinds.kind(kind)
    unknown = UnknownWords("berkeley", known_words(words(located.tree) for located in trees))
    sentences = list(make_oracle(trees, unknown, of_kind.generates_words))
    if of_kind.generates_words:
        clusters = brown_clusters([s.unkified for s in sentences], 140)
        vocabulary = GeneratorVocabulary.build(clusters, sentences)
    else:
        vocabulary = ParserVocabulary.from_oracle(sentences, use_tags=True)
    model = of_kind(vocabulary, of_kind.sizes_type(**sizes))
    return model, examples_of(model, sentences, "training trees")
