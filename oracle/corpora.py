"""The files of the Penn Treebank, the Chinese Treebank, IcePaHC and NLTK's sample."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from oracle.brackets import LocatedTree, read_tree_lines, read_trees
from oracle.errors import InputError, RnngError
from oracle.packing import plain_name
from oracle.streams import read_lines

_PTB_FILE = re.compile(r"wsj_(\d\d)\d\d")
_CTB_FILE = re.compile(r"chtb_(\d+)")
# what LDC's releases of CTB hold beside the bracketed files, under the same names
_CTB_OTHER = frozenset([".raw", ".seg", ".pos", ".dep", ".sgm", ".txt", ".dtd", ".sty"])


def parse_sections(sections: str | None) -> list[range] | None:
    """Ranges of numbers. Raises RnngError for text that is none.

    >>> parse_sections("02-21,24")
    [range(2, 22), range(24, 25)]
    """
    if sections is None:
        return None
    ranges = []
    for part in sections.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*(?:-\s*([0-9]+))?\s*", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise RnngError(f"sections {sections!r}: {part!r} is no number or range such as 2-21")
        ranges.append(range(first, last + 1))
    return ranges


def read_ptb(
    paths: Iterable[str | os.PathLike],
    sections: str | None = None,
    *,
    encoding: str = "utf-8",
) -> Iterator[LocatedTree]:
    """Trees of PTB's parsed files, of folders all `.mrg` files by name.

    `sections` are WSJ's: the first two digits in `wsj_NNnn`, or the folder's number.
    """
    for path in _select(paths, sections, _is_ptb, _ptb_section):
        yield from read_trees(path, encoding=encoding)


def read_ctb(
    paths: Iterable[str | os.PathLike],
    sections: str | None = None,
    *,
    encoding: str | None = None,
) -> Iterator[LocatedTree]:
    """Trees of CTB's bracketed files; `sections` are the numbers in `chtb_NNN`.

    Without an encoding each file is read as UTF-8, or if it is not, as GB18030.
    """
    for path in _select(paths, sections, _is_ctb, _ctb_number):
        yield from read_trees(path, encoding=encoding or _ctb_encoding(path))


def read_icepahc(
    paths: Iterable[str | os.PathLike], *, encoding: str = "utf-8"
) -> Iterator[LocatedTree]:
    """Trees of IcePaHC's files, of folders all `.psd` files by name; so are those of PPCHE."""
    for path in _select(paths, None, _is_psd, lambda path: None):
        yield from read_trees(path, encoding=encoding)


def read_nltk(sections: str | None = None) -> Iterator[LocatedTree]:
    """Trees of NLTK's Penn Treebank sample; `sections` are file numbers, 1 to 199.

    Raises RnngError where NLTK has not got the corpus.
    """
    ranges = parse_sections(sections)
    from nltk.corpus import treebank

    try:
        names = sorted(treebank.fileids())
    except LookupError:
        raise RnngError(
            "NLTK's treebank sample is missing: get it with `python -m nltk.downloader treebank`, "
            "or set NLTK_DATA to the folder that has corpora/treebank"
        ) from None
    selected = [name for name in names if _in(ranges, int(re.findall(r"\d+", name)[-1]))]
    if not selected:
        raise RnngError(f"NLTK's treebank sample has no file {sections}: its files are 1 to 199")
    for name in selected:
        pointer = treebank.abspath(name)
        with pointer.open() as stream:
            yield from read_tree_lines(read_lines(name, stream=stream), str(pointer))


def _in(ranges: list[range] | None, number: int | None) -> bool:
    return ranges is None or any(number in part for part in ranges)


def _select(paths, sections, is_parsed, section_of) -> list[str]:
    """Files of the sections; folders give those of their files that hold trees, sorted by name."""
    ranges = parse_sections(sections)
    files = []
    for path in paths:
        found = [os.fspath(path)]
        if os.path.isdir(path):
            inside = (f for f in Path(path).rglob("*") if f.is_file())
            found = sorted(str(f) for f in inside if is_parsed(Path(plain_name(f))))
            if not found:
                raise InputError(
                    "this folder has no .mrg (PTB), chtb_NNN.* (CTB) or .psd (IcePaHC) file", path
                )
        files += found
    selected = [file for file in files if _in(ranges, section_of(Path(file)))]
    if not selected:
        names = ", ".join(map(str, paths))
        raise RnngError(f"{names}: none of the {len(files)} files is in sections {sections}")
    return selected


def _is_ptb(path: Path) -> bool:
    return path.suffix.lower() == ".mrg"


def _is_psd(path: Path) -> bool:
    return path.suffix.lower() == ".psd"


def _ptb_section(path: Path) -> int | None:
    match = _PTB_FILE.match(path.name.lower())
    if match:
        return int(match[1])
    folder = os.path.basename(os.path.dirname(os.path.realpath(path)))
    return int(folder) if re.fullmatch("[0-9]{1,2}", folder) else None


def _is_ctb(path: Path) -> bool:
    return bool(_CTB_FILE.match(path.name)) and path.suffix.lower() not in _CTB_OTHER


def _ctb_number(path: Path) -> int | None:
    match = _CTB_FILE.match(path.name)
    return int(match[1]) if match else None


def _ctb_encoding(path: str) -> str:
    # what was read of a pipe is gone
    if not os.path.isfile(path):
        return "utf-8"
    try:
        for _ in read_lines(path):
            pass
    except InputError:
        return "gb18030"
    return "utf-8"
