"""The columns of tables of stimuli: their usual names, and those that the user gives."""

from collections.abc import Sequence
from typing import NamedTuple

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import plain_column

CONDITION, REGION, REGION_NAME, WORD = "condition", "region", "region_name", "word"
_TEXT = ("text", "sentence", "content", "stimulus", WORD)
ITEM = ("item", "itemnumber", "itemid", "itemno", "itemnr", "itemnum")
_ITEM_OF_WORDS = ("sentid", "sentenceid", "textid", "docid", "storyid", "passageid")
CONDITION_NAMES = (CONDITION, "conditionname", "cond")
_REGION = ("regionname", REGION)
_NUMBER = ("regionnumber", REGION)
_POSITION = ("wordnumber",)
_POSITION_OF_WORDS = (
    *("wordindexintext", "wordidx", "wordindex", "wordnum", "wordnr", "wordid", "ianum", "iaid"),
    *("zone", "sentpos", "wordpos", "wordposition", "wordindexinsent", "position", "idx"),
)
"""The usual names of columns as `plain_column` writes them; the first that is there counts."""


class Columns(NamedTuple):
    """The names of a table's columns; one without a name here has a usual name, or is not there."""

    texts: Sequence[str] = ()
    """The texts; of several columns, each holds the sentences of the condition that it names."""
    item: str | Sequence[str] = ()
    """The item; `_` joins those of several columns."""
    conditions: Sequence[str] = ()
    """The conditions of a factorial design are joined by `_`."""
    region: str | None = None
    """The name of a region, or its number."""
    mark: str | None = None
    """The mark between regions, or around one; None is `|`, and refuses texts with another."""
    by: str | None = None
    """The group of an item in a test suite."""


USUAL = Columns()
"""The usual names."""


def as_names(names: str | Sequence[str] | None) -> Sequence[str]:
    """Return the names of columns, of which there may be one or none."""
    return [names] if isinstance(names, str) else names or ()


class ColumnIndices(NamedTuple):
    """The columns that a table has, as indices."""

    texts: Sequence[int]
    items: Sequence[int]
    conditions: Sequence[int]
    region: int | None
    """What tells regions apart: their names, else their numbers, else those of words."""
    number: int | None
    """The numbers of regions, if a column is sure to have them."""
    position: int | None
    """The numbers of words."""
    word: int | None
    """The column of words beside sentences that have a usual name."""


def indices(names: Sequence[str], columns: Columns, path: str, line: int) -> ColumnIndices:
    """Return the indices of columns.

    Raises InputError for a named column that is not there, and without texts or what they need.
    """
    plain = [plain_column(name) for name in names]
    given = {name for names in columns for name in as_names(names)}

    def several(chosen: str | Sequence[str] | None, usual: Sequence[str]) -> list[int]:
        chosen = as_names(chosen)
        with placed(path, line):
            require_names(chosen, names)
        if chosen:
            return [names.index(name) for name in chosen]
        name = next(filter(plain.__contains__, usual), None)
        found = [i for i, other in enumerate(plain) if other == name]
        found = [i for i in found if names[i] in given] or found
        if len(found) > 1:
            alike = shown([names[i] for i in found])
            raise InputError(f"columns {alike} are alike: name one by an option", path, line)
        return found

    def one(chosen: str | None, usual: Sequence[str]) -> int | None:
        return next(iter(several(chosen, usual)), None)

    texts = several(columns.texts, _TEXT)
    if not texts:
        usual = f"{', '.join(_TEXT[:-1])} or {_TEXT[-1]}"
        message = f"no column {usual}, but {shown(names)}: name it by --column, one or several"
        raise InputError(message, path, line)
    # beside sentences, a position is that of a trial
    is_word = plain[texts[0]] == WORD
    position = one(None, _POSITION + _POSITION_OF_WORDS * is_word)
    region = one(columns.region, _REGION)
    number = one(None, _NUMBER if columns.region is None else _NUMBER[:1])
    number = None if number == region else number
    region = next((i for i in (region, number, position) if i is not None), None)
    items = several(columns.item, ITEM + _ITEM_OF_WORDS * (region is not None))
    conditions = several(columns.conditions, CONDITION_NAMES)
    if region is not None and not (items or conditions):
        message = "regions need a column item or condition: name it by --item or --condition"
        raise InputError(message, path, line)
    word = None if columns.texts or is_word else one(None, [WORD])
    return ColumnIndices(texts, items, conditions, region, number, position, word)


def require_names(chosen: Sequence[str], names: Sequence[str]) -> None:
    """Raise RnngError for a name that the user chooses and no column has."""
    if missing := [name for name in chosen if name not in names]:
        raise RnngError(f"no column {missing[0]!r}, but {shown(names)}")


def shown(names: Sequence[str]) -> str:
    """Return the names for a message."""
    return ", ".join(filter(None, names)) or "none"
