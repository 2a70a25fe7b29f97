"""Readers of treebanks: PTB, CTB, IcePaHC, NLTK's sample, and files of trees."""

import os
import re
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import ClassVar

from oracle.brackets import LocatedTree, read_tree_lines
from oracle.common.compression import plain_name
from oracle.common.errors import InputError, RnngError
from oracle.common.files import FileName, read_lines
from oracle.common.plugins import Registry
from oracle.treebank import copied, is_no_text, words

_PTB_FILE = re.compile(r"wsj_(\d\d)\d\d")
_CTB_FILE = re.compile(r"chtb_(\d+)")
_COPIED = re.compile(r".*/(?=(?:wsj_\d{4}|chtb_\d{3,4})[^/]*\Z)", re.I | re.S)
"""The folders of a numbered file, which a release has once, or once in each encoding."""


def parse_sections(sections: str | None) -> list[range] | None:
    """Return the ranges that a text lists, or None for None.

    Raises RnngError for a text that lists no ranges.

    >>> parse_sections("02-21,24")
    [range(2, 22), range(24, 25)]
    """
    if sections is None:
        return None
    ranges = []
    for text in sections.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9}))?\s*", text)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise RnngError(f"{sections!r}: {text!r} is no number or range such as 2-21")
        ranges.append(range(first, last + 1))
    return ranges


Paths = Iterable[FileName]


class TreeReader(ABC):
    """Base class of the readers, one per treebank format. `READERS` has them by name."""

    name: ClassVar[str]
    """The value of `rnng-dy prepare --from` that selects the reader."""
    needs_source: ClassVar[bool] = True
    """Whether it reads files or folders that the user names."""
    has_sections: ClassVar[bool] = False
    """Whether `sections` may choose some of its files."""
    has_lemmas: ClassVar[bool] = False
    """Whether words have PPCHE's markup (lemmas, ids and comments), which `prepare` removes."""

    @abstractmethod
    def read(
        self, paths: Paths, sections: str | None = None, encoding: str | None = None
    ) -> Iterable[LocatedTree]:
        """Return the trees of files and folders with their places.

        Raises InputError for malformed trees.
        """


class BracketedFiles(TreeReader):
    """Reader of files of bracketed trees.

    In a folder it reads all files that hold trees, sorted by name.
    """

    files: ClassVar[re.Pattern[str]]
    """Matches the name of a file of trees, without the ending for packing."""

    def read(
        self, paths: Paths, sections: str | None = None, encoding: str | None = None
    ) -> Iterator[LocatedTree]:
        """Yield the trees of files and folders with their places."""
        for path in self._select(paths, sections):
            lines = read_lines(path, encoding or self.encoding(path))
            yield from read_tree_lines(lines, path, wordless=True)

    def _select(self, paths: Paths, sections: str | None) -> list[str]:
        """Return the files of the sections.

        A folder stands for its files of trees, sorted by name.
        """
        ranges, paths, files = parse_sections(sections), list(paths), []
        for path in paths:
            if not os.path.isdir(path):
                files.append(os.fspath(path))
                continue
            walked = ((at, x) for at, _, names in os.walk(path, followlinks=True) for x in names)
            inside = sorted(os.path.join(*f) for f in walked if self.files.match(plain_name(f[1])))
            if not inside:
                names = ".mrg or .parse (PTB), chtb_NNN.* (CTB), .psd (IcePaHC) or .trees"
                raise InputError(f"this folder has no {names} file", path)
            files += inside
        selected = [file for file in files if _in(ranges, self.section(Path(file)))]
        if not selected:
            names = ", ".join(map(str, paths))
            raise RnngError(f"{names}: none of the {len(files)} files is in sections {sections}")
        plain = Counter(_COPIED.sub("", plain_name(os.path.realpath(file))) for file in selected)
        if twice := [name for name, number in plain.items() if number > 1]:
            raise InputError("here twice, packed and unpacked or copied: leave one out", twice[0])
        return selected

    @staticmethod
    def section(path: Path) -> int | None:
        """Return the section that a file belongs to."""
        return None

    @staticmethod
    def encoding(path: str) -> str:
        """Return the encoding to use if the user names none."""
        return "utf-8"


class PennTreebank(BracketedFiles):
    """Reader of PTB's and OntoNotes' parsed files.

    In a folder it reads all `.mrg` and `.parse` files. `sections` are WSJ's: the first two digits
    in `wsj_NNnn`, or the folder's number; if files have such names, folders elsewhere do not count.
    Reading raises RnngError if a section has no file.
    """

    name = "ptb"
    has_sections = True
    files = re.compile(r"(?i).+\.(mrg|parse)\Z")

    def _select(self, paths: Paths, sections: str | None) -> list[str]:
        ranges, selected = parse_sections(sections), super()._select(paths, sections)
        if ranges is None:
            return selected
        # folders of other parts of a release, such as Switchboard, have numbers, too
        of_wsj = {Path(f).parent.parent for f in selected if _PTB_FILE.match(Path(f).name.lower())}
        selected = [f for f in selected if not of_wsj or Path(f).parent.parent in of_wsj]
        there = {self.section(Path(file)) for file in selected}
        if (absent := next((n for n in chain(*ranges) if n not in there), None)) is not None:
            how = "copy the whole treebank, or name the sections that are there"
            raise RnngError(f"sections {sections}: no file is of section {absent}: {how}")
        return selected

    @staticmethod
    def section(path: Path) -> int | None:
        """Return the number in the file's name, or that of its folder."""
        if match := _PTB_FILE.match(path.name.lower()):
            return int(match[1])
        folder = os.path.basename(os.path.dirname(os.path.realpath(path)))
        return int(folder) if re.fullmatch("[0-9]{1,2}", folder) else None


class ChineseTreebank(BracketedFiles):
    """Reader of CTB's bracketed files; `sections` are the numbers in `chtb_NNN`.

    Without an encoding each file is read as UTF-8, or as GB18030 if it is not valid UTF-8.
    """

    name = "ctb"
    has_sections = True
    # LDC's releases have other files under the same names, with these suffixes; editors, copies
    files = re.compile(r"(?!.*(\.(?i:raw|seg|pos|dep|sgm|txt|dtd|sty|bak|orig)|~)\Z)chtb_\d")

    @staticmethod
    def section(path: Path) -> int | None:
        """Return the number in the file's name."""
        match = _CTB_FILE.match(path.name)
        return int(match[1]) if match else None

    @staticmethod
    def encoding(path: str) -> str:
        """Return UTF-8, or GB18030 for a file that is not valid UTF-8."""
        # a trial read would consume a pipe
        if os.path.isfile(path):
            try:
                deque(read_lines(path), maxlen=0)
            except InputError:
                return "gb18030"
        return "utf-8"


class IcelandicCorpus(BracketedFiles):
    """Reader of the files of IcePaHC, whose words have lemmas; of a folder, all `.psd` files."""

    name = "icepahc"
    has_lemmas = True
    files = re.compile(r"(?i).+\.psd\Z")

    def read(
        self, paths: Paths, sections: str | None = None, encoding: str | None = None
    ) -> Iterator[LocatedTree]:
        """Yield the trees. Raises InputError if few words of one have a lemma."""
        for located in super().read(paths, sections, encoding):
            text = words(copied(located.tree, is_left_out=is_no_text))
            if 0 < 2 * sum("-" in word for word in text) < len(text):
                problem = "few words have a lemma: --from trees --strip-ids keeps words whole"
                raise InputError(problem, located.path, located.line)
            yield located


class NltkSample(TreeReader):
    """Reader of NLTK's sample of the Penn Treebank; `sections` are file numbers, 1 to 199.

    Reading raises RnngError if the corpus is not installed or no file is selected.
    """

    name = "nltk"
    needs_source = False
    has_sections = True

    def read(
        self, paths: Paths = (), sections: str | None = None, encoding: str | None = None
    ) -> Iterator[LocatedTree]:
        """Yield the trees of the sample with their places; there are no `paths`."""
        ranges = parse_sections(sections)
        from nltk.corpus import treebank

        try:
            names = sorted(treebank.fileids())
        except LookupError:
            message = "NLTK's treebank sample is missing: get it with `python -m nltk.downloader "
            message += "treebank`, or set NLTK_DATA to the folder that has corpora/treebank"
            raise RnngError(message) from None
        selected = [name for name in names if _in(ranges, int(re.findall(r"\d+", name)[-1]))]
        if not selected or any(numbers.stop > 200 for numbers in ranges or ()):
            raise RnngError(f"NLTK's treebank sample has no file {sections}: files are 1 to 199")
        for name in selected:
            pointer = treebank.abspath(name)
            lines = pointer.open().read().decode().splitlines(keepends=True)
            yield from read_tree_lines(enumerate(lines, 1), str(pointer))


class TreeFiles(BracketedFiles):
    """Reader of files of trees, such as `prepare` writes.

    In a folder it reads all `.trees` files.
    """

    name = "trees"
    files = re.compile(r".+\.trees\Z")


READERS: Registry[type[TreeReader]] = Registry(
    "reader of trees",
    TreeReader,
    *(PennTreebank, ChineseTreebank, NltkSample, IcelandicCorpus, TreeFiles),
)


def _in(ranges: list[range] | None, number: int | None) -> bool:
    return ranges is None or any(number in numbers for numbers in ranges)
