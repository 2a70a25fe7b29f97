"""Sentences to be drawn: trees of files with captions, compared with gold, drawn in characters."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from oracle.brackets import format_tree, is_wordless, read_tree_lines, visible
from oracle.common.errors import InputError
from oracle.common.files import numbered_lines, open_text, peeked, reading
from oracle.common.lazy import nltk
from oracle.samples import begins_samples, read_samples
from oracle.treebank import has_preterminals, is_preterminal, words
from rnng_dy.drawing.trees import Picture
from rnng_dy.evaluation.evalb import with_gold_tags
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, score_sentence

COLUMNS = 80
"""Width of a drawing in characters, unless a terminal has another width."""


class DrawnTree(NamedTuple):
    """A tree to be drawn, and its log probability among samples or best trees."""

    tree: nltk.Tree
    log_prob: float | None = None
    line: int = 0
    """1-based line of a file where the tree begins."""


class Section(NamedTuple):
    """A sentence with its pictures."""

    name: str
    """The sentence's number."""
    pictures: Sequence[Picture]
    title: str = ""
    score: SentenceScore | None = None
    """Score by EVALB's rules, if there is a gold tree and the sentence can be scored."""

    @property
    def words(self) -> list[str]:
        """The words of the sentence."""
        return words(self.pictures[0].tree) if self.pictures else []

    def captioned(self, numbered: bool) -> Iterator[tuple[str, Picture | None]]:
        """Yield captions with the pictures below them; the first is number and title, if any."""
        if heading := ": ".join(filter(None, [self.name if numbered else "", self.title])):
            yield heading, None
        for picture in self.pictures:
            yield picture.caption, picture


def section(number: int, trees: Sequence[DrawnTree]) -> Section:
    """Return a sentence with its trees; equal trees, as among samples, are drawn once and counted.

    Captions have how many are the same, and their log probability.
    """
    texts = [format_tree(drawn.tree) for drawn in trees]
    counts = Counter(texts)
    pictures = []
    for text, count in counts.most_common():
        first = trees[texts.index(text)]
        caption = [f"{count} of {len(trees)}"] if len(counts) < len(trees) else []
        if first.log_prob is not None:
            caption.append(f"log probability {first.log_prob:.2f}")
        pictures.append(Picture(first.tree, ", ".join(caption)))
    return Section(str(number), pictures, "" if pictures else "no tree")


def compared(number: int, gold: nltk.Tree, system: nltk.Tree) -> Section:
    """Return the gold and the system's tree, with what differs marked; equal trees are one.

    Raises InputError, without a line, for a word without a tag.
    """
    name, score = str(number), score_sentence(gold, system)
    if score.complete:
        return Section(name, [Picture(system)], "F1 100.00", score)
    pictures = [Picture(gold, "gold", score.missed), Picture(system, "system", score.wrong)]
    if score.status != Status.SCORED:
        return Section(name, pictures, f"not scored: {score.problem}")
    title = f"F1 {score.f1:.2f}, {len(score.wrong)} wrong, {len(score.missed)} missed"
    return Section(name, pictures, title, score)


class TreeFile(NamedTuple):
    """The trees of a file of trees or samples; some sentences may have none."""

    path: str
    trees: Mapping[int, Sequence[DrawnTree]]
    """Trees by the number of the sentence, from 1."""
    count: int
    """Number of sentences."""


def read_tree_file(path: str) -> TreeFile:
    """Read trees, one per line or as in a treebank, or samples as `rnng-dy sample` writes them.

    If each tree has a line of its own, an empty line, `()` and `(TOP)` stand for a sentence without
    a tree. Raises InputError for anything else, and for a file without trees.
    """
    trees: dict[int, list[DrawnTree]] = defaultdict(list)
    # opened once, since content read from a pipe is gone
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if begins_samples(first):
            for s in read_samples(path, lines):
                trees[s.index + 1].append(DrawnTree(s.tree, s.log_q, line=s.line))
            count = max(trees, default=0)
        else:
            numbered = [
                (number, "" if is_wordless(text) else text)
                for number, text in numbered_lines(lines, path)
            ]
            located = list(read_tree_lines(numbered, path, bare=True))
            has_lines = all(tree.text is not None for tree in located)
            count = len(numbered if has_lines else located)
            for number, tree in enumerate(located, 1):
                drawn = DrawnTree(tree.tree, line=tree.line)
                trees[tree.line if has_lines else number].append(drawn)
    if not trees:
        raise InputError("no tree in this file", path)
    return TreeFile(path, trees, count)


def sections_of(system: TreeFile, gold: TreeFile | None, only_errors: bool) -> Iterator[Section]:
    """Return the sentences of a file, compared with `gold` if there is one.

    With `only_errors` only sentences whose brackets differ are returned. The compared trees get the
    gold tags. Raises InputError for trees without tags or over different words, naming both places,
    for several trees of a sentence, and for files of different numbers of sentences.
    """
    numbers = range(1, (gold or system).count + 1)
    if gold is None:
        return (section(n, system.trees.get(n, ())) for n in numbers)
    for file in (gold, system):
        for drawn in chain.from_iterable(file.trees.values()):
            if not has_preterminals(drawn.tree):
                message = "a tree that is compared needs a tag over each word: (TAG word)"
                raise InputError(message, file.path, drawn.line)
        if any(len(trees) > 1 for trees in file.trees.values()):
            raise InputError("several trees of a sentence: give one, with --gold", file.path)
    if system.count != gold.count:
        few, many = sorted((gold, system), key=lambda file: file.count)
        message = f"{few.count} sentences, but {many.path} has {many.count}: give one tree for each"
        raise InputError(message, few.path)
    sections = (_against(gold, system, n) for n in numbers)
    return (s for s in sections if not only_errors or s.score is None or not s.score.complete)


def _against(gold: TreeFile, system: TreeFile, number: int) -> Section:
    [reference], [drawn] = (file.trees.get(number, [None]) for file in (gold, system))
    if reference is None and drawn is not None:
        message = f"a tree of sentence {number}, but {gold.path} has none"
        raise InputError(message, system.path, drawn.line)
    if reference is None or drawn is None:
        pictures = [] if reference is None else [Picture(reference.tree, "gold")]
        return Section(str(number), pictures, "no tree")
    tree = with_gold_tags(reference.tree, drawn.tree)
    result = compared(number, reference.tree, tree)
    # words that EVALB deletes may differ
    if result.score is None and words(tree) != words(reference.tree):
        location = f"{gold.path}:{reference.line}"
        raise InputError(f"other words than the gold tree at {location}", system.path, drawn.line)
    return result


def columns_of(output: str) -> int:
    """Return the width of drawings in characters: that of a terminal, or a fixed one for files."""
    return shutil.get_terminal_size((COLUMNS, 24)).columns if output == "-" else COLUMNS


def drawn_lines(tree: nltk.Tree, columns: int, marked: Container[int] = ()) -> list[str]:
    """Return the lines of a drawing of at most `columns`, or of brackets.

    The constituents with the numbers `marked` (from 0, from the top down and from left to right)
    are written `*NP*`.
    """
    from nltk.tree.prettyprinter import TreePrettyPrinter

    try:
        shown = tree.copy(deep=True)
        constituents = shown.subtrees(lambda node: not is_preterminal(node))
        for number, node in enumerate(constituents):
            node.set_label(f"*{node.label()}*" if number in marked else node.label())
        for node in shown.subtrees():
            node.set_label(visible(node.label()))
            node[:] = [visible(child) if isinstance(child, str) else child for child in node]
        if sum(len(word) + 1 for word in shown.leaves()) <= columns:
            drawn = TreePrettyPrinter(shown).text(unicodelines=True).splitlines()
            if max(len(line.rstrip()) for line in drawn) <= columns:
                return [line.rstrip() for line in drawn]
        return shown.pformat(margin=columns).splitlines()
    except RecursionError:
        # NLTK draws a child inside the drawing of its parent
        return [visible(format_tree(tree))]


def section_lines(section: Section, columns: int, numbered: bool) -> list[str]:
    """Return the lines of a sentence, an empty one after each tree; `numbered` adds its number."""
    lines: list[str] = []
    for caption, picture in section.captioned(numbered):
        lines += [visible(caption)] if caption else []
        if picture is not None:
            lines += [*drawn_lines(picture.tree, columns, picture.marked), ""]
    return lines if section.pictures else [*lines, ""]
