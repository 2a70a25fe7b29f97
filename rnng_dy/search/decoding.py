"""The choice of a decoder: how a parser or a generative model finds the trees that a user wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.parsed import ScoredTree
from rnng_dy.parallel import batches
from rnng_dy.search.nbest import BEAM
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, search_batches
from rnng_dy.search.trees import (
    best,
    drawn,
    greedy_tree,
    mbr_trees,
    parser_trees,
    search_trees,
    tagged_tree,
)
from rnng_dy.text.sources import NumberedSentence

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 10_000
"""Words in one batch; when sampling, each word counts once per sample."""
BEST, MBR = "best", "mbr"
BESIDE = 0.2
"""The weight of a generative model beside a parser, chosen on the English development trees."""


class Wanted(NamedTuple):
    """Which trees a sentence gets."""

    nbest: int | None = None
    """The number of trees; None for one, without its log probability."""
    samples: int = 100
    """Trees drawn per sentence for MBR."""
    decode: str = BEST
    """BEST, or MBR, the tree with the highest expected F1."""
    seed: int = 1
    beside: bool = False
    """Whether a generative model decides beside the parser."""
    weight: float = BESIDE
    """Its weight."""


class Decoder(NamedTuple):
    """How a kind of model finds trees."""

    name: str
    """Of the kind of model, in titles."""
    trees: Callable[..., list[list[ScoredTree]]]
    """Function from the models and a batch to the trees of each sentence."""
    batches: Callable[[Iterable[NumberedSentence]], Iterable[Sequence[NumberedSentence]]]
    options: SearchOptions | None = None
    """The options of the search on which the output depends; None if there is none."""


def generative_decoder(wanted: Wanted, options: SearchOptions) -> Decoder:
    """Return the decoder of a generative model. Raises RnngError for trees that it cannot make."""
    k = wanted.nbest or 1
    if wanted.decode == MBR:
        raise RnngError("MBR is for a parser, or for samples: `rnng-dy rerank`")
    if k > options.word_beam and "word_beam" in SEARCHES[options.search].reads:
        raise RnngError(f"--nbest {k} needs --word-beam {k} or more")
    trees = partial(search_trees, options, k)
    return Decoder("Generative model", trees, partial(in_words, limit=SEARCHED_WORDS), options)


def parser_decoder(wanted: Wanted, beam: int | None = None) -> Decoder:
    """Return the decoder of a parser, for n-best trees with a beam. Raises RnngError for a beam that is too small."""
    options = None
    if wanted.nbest:
        k = wanted.nbest
        beam = beam or max(BEAM, 2 * k)
        if k > beam:
            raise RnngError(f"--nbest {k} needs --beam {k} or more")
        options = SearchOptions(beam=beam, seed=wanted.seed)
        find, of_words = partial(best, k, beam), partial(search_batches, options)
    elif wanted.decode == MBR:
        alpha = FLATTENED if wanted.beside else 1.0
        draw = partial(drawn, wanted.samples, alpha, wanted.seed)
        limit = max(1, min(PARSED_WORDS, SAMPLED_WORDS // wanted.samples))
        trees = partial(mbr_trees, draw, wanted.weight)
        return Decoder("Parser", trees, partial(in_words, limit=limit))
    else:
        find, of_words = greedy_tree, partial(in_words, limit=PARSED_WORDS)
    return Decoder("Parser", partial(parser_trees, find, tagged_tree), of_words, options)


def in_words(sentences: Iterable[NumberedSentence], limit: int) -> Iterator[list[NumberedSentence]]:
    """Yield batches of neighbouring sentences, of at most `limit` words."""
    return batches(sentences, lambda item: len(item.sentence.tokens), limit)
