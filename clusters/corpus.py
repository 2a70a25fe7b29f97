"""The clustering of a file of text, trees or an oracle, with its figures."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from clusters.bigrams import average_mutual_information, count_bigrams
from clusters.brown import BrownClustering
from clusters.files import ClusteredWord, rules_of
from oracle.blocks import read_oracle_lines
from oracle.brackets import read_tree_lines
from oracle.common.files import FileName, numbered_lines, open_text, peeked, reading
from oracle.sentences import format_of, tokens_of
from oracle.training_data import Preparation
from oracle.treebank import untraced, words
from oracle.unknown import RULES, UnknownWords, known_words


def read_corpus(path: FileName, rules: str = "berkeley") -> Iterator[Sequence[str]]:
    """Yield the words of each sentence of a corpus.

    `-` is standard input, and empty sentences do not count. A file is an oracle if it begins with
    `# (`, trees if with `(`, else text, one sentence on each line, whose brackets become -LRB- and
    -RRB-. For an oracle the unkified words count. Words of trees are unkified by the rules for
    unknown words, as `rnng-dy oracle` does with these trees as the training file. Raises InputError
    for a file that is damaged, and for samples.
    """
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if "\0" in first:
            raise ValueError("no text: give a file of text in UTF-8, trees, or an oracle")
        format = format_of(first)
        if format == "text":
            numbered = numbered_lines(lines, path)
            yield from filter(None, (tokens_of(line, path, number) for number, line in numbered))
        elif format == "oracle":
            for sentence in read_oracle_lines(lines, path):
                yield sentence.unkified
        else:
            trees = read_tree_lines(numbered_lines(lines, path), path)
            sentences = [words(t.tree) for t in Preparation(trees, untraced, True)]
            yield from map(UnknownWords(rules, known_words(sentences)).unkify, sentences)


def cluster_corpus(
    corpus: FileName,
    *,
    unk: str | None = None,
    show: Callable[[Iterator[None], int], Iterator[None]] = lambda steps, total: steps,
    **options: Any,
) -> tuple[list[ClusteredWord], str]:
    """Return the words of a corpus with their clusters, and a line about them.

    Args:
        corpus: File that `read_corpus` reads.
        unk: Rules of the classes of unknown words that all get a cluster, or `none`; None takes the
            rules that the corpus shows.
        show: Function that returns an iterator over the steps, of which it gets the number, to show
            progress.
        **options: Arguments of `BrownClustering` besides the words.

    Raises InputError for a corpus that cannot be read.
    """
    bigrams = count_bigrams(read_corpus(corpus, RULES[0] if unk in (None, "none") else unk))
    with reading(corpus):
        clustering = BrownClustering(bigrams, **options)
    for _ in show(clustering.steps(), clustering.total):
        pass
    information = average_mutual_information(bigrams, clustering.class_of)
    about = (
        f"{clustering.classes} clusters of {len(bigrams.words)} word types, {bigrams.tokens} "
        f"tokens in {bigrams.sentences} sentences; average mutual information {information:.5f} "
        "nats within sentences"
    )
    return clustering.entries(None if unk == "none" else unk or rules_of(bigrams.words)), about
