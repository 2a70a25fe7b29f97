"""Marks that divide texts into regions: `|`, or another one, between blanks or around words."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from oracle.common.errors import InputError

USUAL_MARK = "|"
_CLOSING = {"[": "]", "{": "}"}
_ALONE = re.compile(r"(?<!\S)(?<!\d\s)([/\\^%@*#~+=_<>•·¦‖§|]{1,2})(?!\S)(?!\s+\d)")
_AROUND = re.compile(r"(?<!\w)(([/^%@*#~+=_|])\2?)(?=\w)(?:(?!\2).)+(?<!\s)\1(?!\w)")
_BRACKETED = re.compile(r"(?<!\w)([\[{])(?=\w)[^]}]*(?<!\s)[]}](?!\w)")
_TOUCHING = re.compile(r"[^\W\d_][.,]?([\\^~*|](?=\s?[^\W\d_])|[/@](?=\s[^\W\d_]))")
"""Where a mark may stand, as group 1; a `/` between numbers or a % after one is text."""
_JOINED = re.compile(r"[^\W\d_]_[^\W\d_]")


def marks_in(text: str) -> set[str]:
    """Return the marks that a text seems to have, as `--mark` takes them; `a_b` if `_` joins words.

    >>> sorted(marks_in("The dog / that *barked* [ran] away / up 5 % or 1 / 2"))
    ['*', '/', '[]']
    """
    marks = {match[1] for way in (_ALONE, _AROUND, _TOUCHING) for match in way.finditer(text)}
    marks |= {match[1] + _CLOSING[match[1]] for match in _BRACKETED.finditer(text)}
    return marks | ({"a_b"} if _JOINED.search(text) else set())


def mark_of(rows: Sequence[tuple[int, str]], is_usual: bool = False) -> tuple[str, int, str] | None:
    """Return the mark in which texts agree, with the first line and text that have it; or None.

    They agree if all have it, or several and a third of them.
    """
    marks = [marks_in(text) - {USUAL_MARK * is_usual} for _, text in rows]
    for mark, count in Counter(chain.from_iterable(marks)).most_common(1):
        if count == len(rows) or (count > 1 and 3 * count >= len(rows)):
            return mark, *next(row for row, has in zip(rows, marks, strict=True) if mark in has)
    return None


def divided(
    rows: Sequence[tuple[int, str]], path: object, mark: str | None, is_usual: bool = False
) -> list[list[str]]:
    """Return the regions of texts, each of which has a line.

    Args:
        rows: Lines and texts.
        path: The file, for messages.
        mark: The mark that the user names. None refuses texts that agree in one: all, or several
            and a third of them.
        is_usual: Whether `|` is a mark without a name.

    Raises:
        InputError: The texts agree in a mark that has no name, or one does not fit the mark that
            has.
    """
    if mark is None and (agreed := mark_of(rows, is_usual)):
        mark, line, text = agreed
        message = f"{mark!r} is a mark of regions, not a word: name it by --mark '{mark}' "
        message += "(surprisal, suite), or take it out"
        if mark == "a_b":
            message = "'_' joins words: write blanks, and | between regions"
        message += "; with --mark '|' it is text" * (mark != USUAL_MARK)
        raise InputError(f"{text!r:.60}: {message}", path, line)
    if mark is None and not is_usual:
        return [[text] for _, text in rows]
    return _divided(rows, path, USUAL_MARK if mark is None else mark)


def _divided(rows: Sequence[tuple[int, str]], path: object, mark: str) -> list[list[str]]:
    """Return the regions of texts.

    `|` separates regions everywhere. Any other mark separates them where it stands alone between
    blanks, and encloses a region where it touches words on both sides; two different characters,
    such as `[]`, enclose. In a word it is text. The regions before and after an enclosed one may be
    empty, but if all words are enclosed, all regions are. Raises InputError, with the line, for a
    mark at one side of a word only, and if no text has the mark.
    """
    if not re.fullmatch(r"[^\w\s]{1,2}|_{1,2}", mark):
        raise InputError(f"{mark!r} is no mark: one or two characters that are no letters", path)
    opening, closing = map(re.escape, mark if len({*mark}) == 2 else (mark, mark))
    alone = rf"(?<!\S){opening}(?!\S)" if opening == closing else "(?!)"
    alone = re.escape(mark) if mark == USUAL_MARK else alone
    inside = rf"(?!\s)((?:(?!{opening}|{closing}).)+)(?<!\s)"
    around = re.compile(rf"(?<!\w){opening}{inside}{closing}(?!\w)")
    one_sided = re.compile(rf"(?<!\w){opening}(?![\s\d])|(?<![\s\d]){closing}(?!\w)")
    divisions = []
    for line, text in rows:
        pieces = re.split(alone, text.strip())
        # marks at both ends are a frame, not two empty regions
        pieces = pieces[1:-1] if len(pieces) > 2 and not (pieces[0] or pieces[-1]) else pieces
        pieces = around.split(pieces[0]) if len(pieces) == 1 else pieces
        if any(map(one_sided.search, pieces)):
            how = f"the mark {mark!r} stands between blanks, or around words"
            raise InputError(f"{how}: {text!r:.60}", path, line)
        divisions.append(pieces)
    if mark == USUAL_MARK:
        return divisions
    if all(len(pieces) == 1 for pieces in divisions):
        raise InputError(f"no text has the mark {mark!r} between blanks or around words", path)
    enclosed = [d for d, (_, text) in zip(divisions, rows, strict=True) if around.search(text)]
    if not any(re.search(r"\w", text) for pieces in enclosed for text in pieces[::2]):
        for pieces in enclosed:
            # each with the punctuation marks after it
            joined = [a + b for a, b in zip(pieces[1::2], pieces[2::2], strict=True)]
            pieces[:] = [pieces[0] + joined[0], *joined[1:]]
    return divisions
