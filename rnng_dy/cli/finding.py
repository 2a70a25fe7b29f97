"""How a parser finds trees for commands: greedily, the best ones, or drawn ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oracle.files import SourceSentence
from oracle.lazy import nltk
from oracle.parsed import ScoredTree
from oracle.treebank import format_tree
from rnng_dy.cli.sentences import Item
from rnng_dy.execution.work import ModelFolder

Actions = Sequence[int]
TreesOf = Callable[[Sequence[Item]], list[list[ScoredTree]]]
"""From a batch to the trees of each of its items."""


def _tagged_tree(parser, sentence: SourceSentence, actions: Actions) -> nltk.Tree:
    return parser.tree_of(actions, sentence.tokens, sentence.tags)


def parser_trees(
    place: ModelFolder,
    find: Callable[..., list[list[tuple[Actions, float]]]],
    tree_of: Callable[..., nltk.Tree] = _tagged_tree,
) -> TreesOf:
    """The trees whose actions `find` gives, of a parser and the ids and numbers of sentences.

    `tree_of` makes one of a parser, a sentence and actions.
    """
    parser = place.open()

    def trees(batch: Sequence[Item]) -> list[list[ScoredTree]]:
        found = find(parser, [item.ids for item in batch], [item.index for item in batch])
        return [of_item(item.sentence, each) for item, each in zip(batch, found, strict=True)]

    def of_item(
        sentence: SourceSentence, found: Sequence[tuple[Actions, float]]
    ) -> list[ScoredTree]:
        # most samples of a sentence are equal to another
        written = {
            key: format_tree(tree_of(parser, sentence, key))
            for key in {tuple(actions) for actions, _ in found}
        }
        return [ScoredTree(written[tuple(actions)], float(log_q)) for actions, log_q in found]

    return trees


def greedy(parser, sentences: Sequence, numbers: Sequence[int]) -> list[list[tuple]]:
    """The greedy tree alone."""
    from rnng_dy.search.greedy import parse_batch

    return [[found] for found in parse_batch(parser, sentences)]


def best(
    k: int, beam: int, parser, sentences: Sequence, numbers: Sequence[int]
) -> list[list[tuple]]:
    """The k best of a beam search."""
    from rnng_dy.search.nbest import nbest_batch

    return nbest_batch(parser, sentences, k, beam)


def drawn(
    n: int, alpha: float, seed: int, parser, sentences: Sequence, numbers: Sequence[int]
) -> list[list[tuple]]:
    """n drawn from q flattened by alpha, those of a sentence by the seed and its number."""
    from rnng_dy.search.sampling import sample_batch

    return sample_batch(parser, sentences, n, alpha, [[seed, number] for number in numbers])
