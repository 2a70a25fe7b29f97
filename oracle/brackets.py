"""Reader and writer of bracketed trees; no other module parses or prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from oracle.common import files
from oracle.common.errors import InputError, RnngError
from oracle.common.files import WHITE_SPACE
from oracle.common.lazy import nltk
from oracle.treebank import require_words

_TOKEN = re.compile(rf"[()]|[^(){WHITE_SPACE}]+")
_WORD = re.compile(rf"(?:[^({WHITE_SPACE}][{WHITE_SPACE}]+|\))[^(){WHITE_SPACE}]")
"""The beginning of a word, which follows a label, another word or a constituent."""
_BREAKS_A_WORD = re.compile(rf"[(){WHITE_SPACE}]")
_CLOSE = object()
_ESCAPE = "a bracket that is a word is written -LRB- or -RRB-"
_UNTAGGED = "the word {0!r} has no POS tag of its own: write it (TAG {0})"
EXPORT = re.compile(r"\s*(%%|#BOS|#FORMAT)(?!\S)")
"""How a file in the export format of German treebanks begins."""
NO_BRACKETS = "this is the export format, which is not read: convert it to brackets"
_ESCAPED = re.compile(r"-([LR])([RCS])B-|\\([/*])")
_WRITTEN = {"LR": "(", "RR": ")", "LC": "{", "RC": "}", "LS": "[", "RS": "]"}

_HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters, ends of lines, changes of direction, surrogates, no characters."""

# CTB's markup: an element that ends on its line, a tag before a tree, an end tag, tags after a tree
_ELEMENT = re.compile(r"\s*<(\w+)[^<>]*>[^<>()]*</\1\s*>")
_TAG = re.compile(r"\s*<([/?!]?)(\w+)[^<>]*>")
_END_TAG = re.compile(r"</\w+[^<>]*>")
_TAGS_AFTER = re.compile(r"(?<=\))(?:\s*<[^<>()]*>)+\s*$")
_ABOUT_THE_DOCUMENT = re.compile(
    "HEADER|DOCID|DOCNO|DOCTYPE|SOURCE|SRCID|DATE|DATETIME|DATE_TIME|ENDTIME|END_TIME|"
    "SPEAKER|TITLE|AUTHOR|POSTER|POSTDATE",
    re.IGNORECASE,
)
_TREE = re.compile(r"(?:\s*<[^<>]*>)*\s*\([^()\s]*\s*\([A-Z]")
"""The beginning of a tree, perhaps after tags, which is read wherever it stands."""


class LocatedTree(NamedTuple):
    """A tree and the place where it begins."""

    tree: nltk.Tree
    path: str
    line: int
    """The 1-based line number."""
    text: str | None = None
    """The line without white space at its end, if the tree alone fills it."""


def read_trees(path: files.FileName) -> Iterator[LocatedTree]:
    """Yield the trees of a bracketed file (PTB's, CTB's with its SGML, one per line).

    `-` is standard input.

    Raises InputError for wrong brackets, labels, words or encoding, and for discontinuous and
    binarised trees.
    """
    return read_tree_lines(files.read_lines(path), path)


def read_tree_lines(
    lines: files.NumberedLines, path: object, bare: bool = False, wordless: bool = False
) -> Iterator[LocatedTree]:
    """Yield the trees of numbered lines; see `read_trees`.

    With `bare` words may stand directly under constituents: `(S (NP The cat) sleeps)`. With
    `wordless` a line may be a tree without words, such as `(TOP)`, which is read as a tree without
    children.
    """
    reader = _Reader(str(path), bare)
    for number, text in lines:
        if wordless and not reader._open and text.strip(WHITE_SPACE) and is_wordless(text):
            yield LocatedTree(nltk.Tree("", []), str(path), number)
            continue
        for located in reader.read(text, number):
            with files.placed(path, located.line):
                require_words(located.tree)
            yield located
    reader.finish()


def is_wordless(line: str) -> bool:
    """Return whether a line is empty or has the brackets of a tree, but no words.

    >>> [is_wordless(line) for line in ("", "(())", "(TOP)", "( (S ) )", "(TOP", "((S) Go)")]
    [True, True, True, True, False, False]
    """
    text = line.strip(WHITE_SPACE)
    is_bracketed = text[:1] + text[-1:] in ("", "()") and text.count("(") == text.count(")")
    return is_bracketed and not _WORD.search(text)


def parse_line(
    text: str, path: object = None, line: int | None = None, *, any_bytes: bool = False
) -> nltk.Tree:
    """Return the one tree on a line, with or without preterminals.

    Raises InputError for anything else. `any_bytes` lets words keep bytes that are not UTF-8, as
    `open_text` reads them.

    >>> parse_line("(S (NP The cat) (VP sleeps))").leaves()
    ['The', 'cat', 'sleeps']
    """
    if not any_bytes:
        with files.reading(path, line):
            files.require_text(text)
    reader = _Reader(path, bare=True)
    trees = reader.read(text, line)
    reader.finish()
    if len(trees) != 1:
        what = f"{len(trees) or 'no'} trees in {text!r:.60}"
        raise InputError(f"{what}: give one tree per line", path, line)
    if path is not None and not any_bytes:
        with files.placed(path, line):
            require_words(trees[0].tree)
    return trees[0].tree


def format_tree(tree: nltk.Tree) -> str:
    """Return a tree as one line. Brackets in words are written -LRB- and -RRB-, as in the PTB.

    Raises RnngError for an empty word or label, and for one that would break the format.

    >>> format_tree(nltk.Tree("S", [nltk.Tree("NP", ["The", "cat"]), "("]))
    '(S (NP The cat) -LRB-)'
    """
    pieces = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if node is _CLOSE:
            pieces.append(")")
        elif isinstance(node, str):
            pieces.append(f" {escape_brackets(node)}")
            _require_one_word("the word", pieces[-1][1:])
        else:
            if node.label() or node is not tree:
                _require_one_word("the label", node.label())
            pieces.append(f" ({node.label()}")
            stack.append(_CLOSE)
            stack.extend(reversed(node))
    return "".join(pieces)[1:]


def escape_brackets(word: str) -> str:
    """Return the word with -LRB- and -RRB- in place of its round brackets."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def unspelled(word: str) -> str:
    r"""Return a word as in running text, with plain brackets and slashes.

    >>> unspelled("-LRB-a-RRB-"), unspelled("1\\/2")
    ('(a)', '1/2')
    """
    return _ESCAPED.sub(lambda match: match[3] or _WRITTEN[match[1] + match[2]], word)


def visible(text: str) -> str:
    r"""Return the text with escapes for control characters and what XML does not allow.

    >>> print(visible("a\x1b[31m"), visible("caf\udce9"), visible("中文"))
    a\x1b[31m caf\udce9 中文
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _require_one_word(what: str, text: str) -> None:
    if not text or _BREAKS_A_WORD.search(text):
        raise RnngError(f"{what} {text!r} is empty, or holds brackets or white space: not a tree")


class _Reader:
    """The reader's state while a file is read line by line.

    An open constituent is a list of its label (`""` for none) and its children so far.
    """

    def __init__(self, path: str | None, bare: bool):
        self._path, self._bare = path, bare
        self._open: list[list[Any]] = []
        self._begin: int | None = None
        self._in_skipped = False

    def read(self, line: str, number: int | None) -> list[LocatedTree]:
        """Return the trees that end on this line."""
        was_skipped = self._in_skipped
        text = self._without_markup(line) if "<" in line or was_skipped else line
        if self._in_skipped and not was_skipped:
            self._begin = number
        tokens = _TOKEN.findall(text)
        whole = not self._open
        trees = []
        for i, token in enumerate(tokens):
            try:
                if token == "(":
                    if not self._open:
                        self._begin = number
                    self._begin_constituent()
                elif token != ")":
                    self._add_word(token)
                elif tree := self._end_constituent():
                    sole = whole and not trees and i == len(tokens) - 1 and text is line
                    verbatim = line.rstrip(WHITE_SPACE) if sole else None
                    trees.append(LocatedTree(tree, self._path, self._begin, verbatim))
            except ValueError as problem:
                where = f"near {_near(text, i)!r}"
                raise InputError(f"{problem}, {where}", self._path, number) from None
        return trees

    def finish(self) -> None:
        """Raise InputError if a tree or an element without trees is still open."""
        if self._in_skipped:
            raise InputError("the markup that begins here is never closed", self._path, self._begin)
        if self._open:
            begin = "".join(f"({node[0]} " if node else "(" for node in self._open[:3]).rstrip()
            what = f"the tree that begins here with {begin!r} is never closed"
            message = f"unbalanced brackets: {what}, {len(self._open)} closing brackets are missing"
            raise InputError(message, self._path, self._begin)

    def _begin_constituent(self) -> None:
        if self._open and not self._open[-1]:
            if len(self._open) > 1 and self._open[-2][0]:
                raise ValueError("a constituent without a label: give it one")
            self._open[-1].append("")
        self._open.append([])

    def _add_word(self, token: str) -> None:
        if not self._open:
            beside = f"{token!r} stands beside the brackets of a tree: take it out, or bracket it"
            raise ValueError(NO_BRACKETS if EXPORT.match(token) else beside)
        if len(self._open[-1]) > 1 and not self._bare:
            raise ValueError(_UNTAGGED.format(token))
        self._open[-1].append(token)

    def _end_constituent(self) -> nltk.Tree | None:
        """Return the tree if this bracket closes it."""
        if not self._open:
            what = "unbalanced brackets: nothing is open that this ) could close"
            raise ValueError(f"{what}; {_ESCAPE}")
        node = self._open.pop()
        if len(node) < 2:
            what = f"({''.join(node)}) is empty: fill it, or take the brackets out"
            raise ValueError(f"{what}; {_ESCAPE}")
        tree = nltk.Tree(node[0], node[1:])
        if not self._open:
            return tree
        parent = self._open[-1]
        if len(parent) == 2 and isinstance(parent[1], str) and not self._bare:
            raise ValueError(_UNTAGGED.format(parent[1]))
        parent.append(tree)
        return None

    def _without_markup(self, line: str) -> str:
        """Return the line without SGML tags around trees and elements without trees."""
        if self._open:
            return _TAGS_AFTER.sub("", line)
        text = line
        while True:
            self._in_skipped = self._in_skipped and not _TREE.match(text)
            if self._in_skipped:
                if not (end := _END_TAG.search(text)):
                    return ""
                self._in_skipped = False
                text = text[end.end() :]
            elif element := _ELEMENT.match(text):
                text = text[element.end() :]
            elif tag := _TAG.match(text):
                text = text[tag.end() :]
                self._in_skipped = not tag[1] and _ABOUT_THE_DOCUMENT.fullmatch(tag[2]) is not None
            else:
                text = _TAGS_AFTER.sub("", text)
                return line if len(text) == len(line) else text


def _near(text: str, index: int) -> str:
    """Return the text around a token, for a message."""
    begin = next(islice(_TOKEN.finditer(text), index, None)).start()
    return text[max(0, begin - 40) : begin + 20].strip(WHITE_SPACE)
