"""The columns of tables of stimuli: their usual names, and those that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import plain_column

CONDITION, REGION, WORD = "condition", "region", "word"
_TEXT = ("text", "sentence", "content", "stimulus", WORD)
ITEM = ("item", "itemnumber", "itemid", "itemno", "itemnr", "itemnum")
_ITEM_OF_WORDS = ("sentid", "sentenceid", "textid", "docid", "storyid", "passageid")
_CONDITION = (CONDITION, "conditionname", "cond")
_REGION = (REGION, "regionname")
_NUMBER = ("regionnumber", "wordnumber")
_NUMBER_OF_WORDS = (
    *("wordindexintext", "wordidx", "wordindex", "wordnum", "wordnr", "wordid", "ianum", "iaid"),
    *("zone", "sentpos", "wordpos", "wordposition", "wordindexinsent", "position", "idx"),
)
"""The usual names of columns as `plain_column` writes them; the first that is there counts."""


class Columns(NamedTuple):
    """The names of a table's columns; those that are not given have one of the usual names, or are not there."""

    texts: Sequence[str] = ()
    """The texts; several columns hold a sentence each for a condition, whose name ends with that of the column."""
    item: str | Sequence[str] = ()
    """The item; `_` joins those of several columns."""
    conditions: Sequence[str] = ()
    """The conditions of a factorial design are joined by `_`."""
    region: str | None = None
    """The name of a region, or its number."""
    mark: str | None = None
    """The mark between the regions of a text, or around one; None is `|`, and refuses texts that have another."""


USUAL = Columns()
"""The usual names."""


def as_names(given: str | Sequence[str] | None) -> Sequence[str]:
    """Return the names of columns, of which there may be one or none."""
    return [given] if isinstance(given, str) else given or ()


class Places(NamedTuple):
    """The columns that a table has, as indices."""

    texts: Sequence[int]
    items: Sequence[int]
    conditions: Sequence[int]
    region: int | None
    """The column of names of regions, or else that of their numbers."""
    number: int | None
    word: int | None
    """The column of words beside sentences that have a usual name."""


def places(names: Sequence[str], columns: Columns, path: str, first: int) -> Places:
    """Find the columns. Raises InputError for one that is named and not there, and without texts or what they need."""
    plain = [plain_column(name) for name in names]

    def several(given: str | Sequence[str] | None, usual: Sequence[str]) -> list[int]:
        given = as_names(given)
        with placed(path, first):
            require_names(given, names)
        found = [names.index(name) for name in given]
        return found or [plain.index(name) for name in usual if name in plain][:1]

    def place(given: str | None, usual: Sequence[str]) -> int | None:
        return next(iter(several(given, usual)), None)

    texts = several(columns.texts, _TEXT)
    if not texts:
        usual = f"{', '.join(_TEXT[:-1])} or {_TEXT[-1]}"
        message = f"no column {usual}, but {shown(names)}: name it by --column, one or several"
        raise InputError(message, path, first)
    # beside sentences, a position is that of a trial
    is_word = plain[texts[0]] == WORD
    number = place(None, _NUMBER + _NUMBER_OF_WORDS * (is_word and columns.region is None))
    region = place(columns.region, _REGION)
    region = number if region is None else region
    has_regions = region is not None
    items = several(columns.item, ITEM + _ITEM_OF_WORDS * has_regions)
    conditions = several(columns.conditions, _CONDITION)
    if has_regions and not (items or conditions):
        message = "regions need a column item or condition: name it by --item or --condition"
        raise InputError(message, path, first)
    word = None if columns.texts or is_word else place(None, [WORD])
    return Places(texts, items, conditions, region, number, word)


def require_names(given: Sequence[str], names: Sequence[str]) -> None:
    """Raise RnngError for a name that the user gives and no column has."""
    if missing := [name for name in given if name not in names]:
        raise RnngError(f"no column {missing[0]!r}, but {shown(names)}")


def shown(names: Sequence[str]) -> str:
    """Return the names for a message."""
    return ", ".join(filter(None, names)) or "none"
