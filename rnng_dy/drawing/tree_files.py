"""Trees from files by sentence number, and a system's trees compared with gold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oracle.brackets import format_tree, read_tree_lines
from oracle.errors import InputError, RnngError
from oracle.files import WHITE_SPACE, numbered_lines, open_text, peeked, reading
from oracle.lazy import nltk
from oracle.parsed import ParsedSentence, ScoredTree
from oracle.samples import begins_samples, read_samples
from oracle.treebank import has_preterminals, tags, with_words, words
from rnng_dy.drawing.sections import Section, compared, section
from rnng_dy.evaluation.evalb import NO_TREE, with_gold_tags
from rnng_dy.evaluation.evalb_sentence import Status, score_sentence


@dataclass(frozen=True)
class FoundTree:
    """A tree of a file."""

    tree: nltk.Tree
    log_prob: float | None
    line: int
    """1-based line where the tree begins."""
    posteriors: Sequence[float] | None = None
    """Probabilities of its constituents, from the top down and from left to right."""


@dataclass(frozen=True)
class TreeFile:
    """The trees of a file of trees or samples; some sentences may have none."""

    path: str
    trees: Mapping[int, Sequence[FoundTree]]
    """Trees by the number of the sentence, from 1."""
    count: int
    """Number of sentences."""
    is_tagged: bool
    """Whether each word of the file is an only child under its tag."""

    @property
    def name(self) -> str:
        """The file's name in titles."""
        return "standard input" if self.path == "-" else Path(self.path).name


def read_tree_file(path: str) -> TreeFile:
    """Read trees, one per line or as in a treebank, or samples or JSON as `rnng-dy sample` and `parse` write them.

    If each tree has a line of its own, an empty line, `()` and `(())` stand for a sentence without a tree. Raises
    InputError for anything else, and for a file without trees.
    """
    trees: dict[int, list[FoundTree]] = defaultdict(list)
    # opened once, since content read from a pipe is gone
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if begins_samples(first):
            for s in read_samples(path, lines):
                trees[s.index + 1].append(FoundTree(s.tree, s.log_q, s.line))
            count = max(trees, default=0)
        elif first.startswith("{"):
            count = 0
            for count, text in numbered_lines(lines, path):
                for each in ParsedSentence.read(text, path, count).trees:
                    tree = each.parsed(path, count)
                    trees[count].append(FoundTree(tree, each.log_prob, count, each.posteriors))
        else:
            numbered = [
                (number, "" if text.strip(WHITE_SPACE) in NO_TREE else text)
                for number, text in numbered_lines(lines, path)
            ]
            located = list(read_tree_lines(numbered, path, bare=True))
            has_lines = all(tree.text is not None for tree in located)
            count = len(numbered if has_lines else located)
            for number, tree in enumerate(located, 1):
                found = FoundTree(tree.tree, None, tree.line)
                trees[tree.line if has_lines else number].append(found)
    if not trees:
        raise InputError("no tree in this file", path)
    every = [found.tree for of in trees.values() for found in of]
    return TreeFile(path, dict(trees), count, all(map(has_preterminals, every)))


def chosen_sections(
    system: TreeFile,
    gold: TreeFile | None,
    ranges: Sequence[range] = (),
    only_errors: bool = False,
    gold_tags: bool = False,
) -> Iterator[Section]:
    """Return the sentences with numbers in the ranges (without ranges: all), compared with `gold` if there is one.

    With `only_errors` only sentences whose brackets differ are returned. Words of trees without tags may be classes of
    unknown words: they are shown as in gold, with its tags. With `gold_tags` trees with tags of their own get the gold
    tags, too. Raises RnngError for a number beyond the last. Raises InputError, naming both places, for trees over
    different words, and for files of different numbers of sentences.
    """
    counted = system if gold is None else gold
    ends = [end for numbers in ranges for end in (numbers[0], numbers[-1])]
    for end in ends:
        if not 1 <= end <= counted.count:
            raise RnngError(f"--sentences: no sentence {end}, {counted.path} has {counted.count}")
    numbers = sorted({n for found in ranges or [range(1, counted.count + 1)] for n in found})
    if gold is None:
        return (section(n, _scored(system.trees.get(n, ()))) for n in numbers)
    # a samples file may end before the last sentences
    has_scores = any(found.log_prob is not None for of in system.trees.values() for found in of)
    if system.count > gold.count or (system.count < gold.count and not has_scores):
        few, many = (gold, system) if gold.count < system.count else (system, gold)
        message = f"{few.count} sentences, but {many.path} has {many.count}: give one tree for each"
        raise InputError(message, few.path)
    found = (each for n in numbers for each in _against(gold, system, n, gold_tags))
    return (each for each in found if each.errors != 0 or not only_errors)


def _against(gold: TreeFile, system: TreeFile, number: int, gold_tags: bool) -> Iterator[Section]:
    found = system.trees.get(number, ())
    if number not in gold.trees:
        if found:
            message = (
                f"a tree of sentence {number}, but {gold.path} has none: give one tree for each"
            )
            raise InputError(message, system.path, found[0].line)
        yield section(number, [])
        return
    [of_gold] = gold.trees[number][:1]
    if not gold.is_tagged:
        message = "gold trees need a tag over each word: (TAG word)"
        raise InputError(message, gold.path, of_gold.line)
    if gold_tags:
        found = [replace(each, tree=with_gold_tags(of_gold.tree, each.tree)) for each in found]
    place = f"{gold.path}:{of_gold.line}"
    fitting = [replace(each, tree=_fitting(of_gold.tree, each, system, place)) for each in found]
    yield from compared(number, of_gold.tree, _scored(fitting))


def _fitting(gold: nltk.Tree, found: FoundTree, system: TreeFile, place: str) -> nltk.Tree:
    """Return the system's tree with words and tags to compare with gold. Raises InputError if its words differ."""
    expected, tokens, bare = words(gold), words(found.tree), not system.is_tagged
    if len(expected) == len(tokens) and all(
        word == token or (bare and token.startswith("UNK"))
        for word, token in zip(expected, tokens, strict=True)
    ):
        return with_words(found.tree, expected, tags(gold)) if bare else found.tree
    # words that EVALB deletes may differ
    if bare or score_sentence(gold, found.tree).status != Status.SCORED:
        raise InputError(f"other words than the gold tree at {place}", system.path, found.line)
    return found.tree


def _scored(found: Sequence[FoundTree]) -> list[ScoredTree]:
    return [ScoredTree(format_tree(each.tree), each.log_prob, each.posteriors) for each in found]
