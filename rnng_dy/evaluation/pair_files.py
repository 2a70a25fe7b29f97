"""Readers of minimal pairs: two columns, a table, or JSON."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed, reading
from oracle.common.tables import cell_text, plain_column, read_table
from rnng_dy.text.columns import ITEM, Columns, as_names, require_names, shown
from rnng_dy.text.conventions import LETTER
from rnng_dy.text.no_sentences import are_words, require_column
from rnng_dy.text.regions import divided
from rnng_dy.text.stimulus_rows import report_filled

PAIR_NAMES = (
    *(("sentence_good", "sentence_bad"), ("good", "bad"), ("good_sentence", "bad_sentence")),
    *(("grammatical_sentence", "ungrammatical_sentence"), ("grammatical", "ungrammatical")),
    *(("acceptable", "unacceptable"), ("correct", "incorrect")),
    ("good_continuation", "bad_continuation"),
)
"""The usual names of the sentences of a minimal pair; blanks, marks and capitals do not count."""
_ITEM = (*ITEM, "pairid")
_PHENOMENON = ("uid", "pid", "testcase", "paradigm", "phenomenon")
_END = re.compile(r"[.!?…。]\W*$")
"""The mark at the end of a sentence, which names of columns lack."""
_ENDS_A_WORD = rf"(?!(?<={LETTER})\w)"
_ENCLOSED = re.compile(r'"(?:[^"]|"")*"')
_PLAIN_PAIRS = [tuple(map(plain_column, names)) for names in PAIR_NAMES]


class Pair(NamedTuple):
    """A good sentence and a bad one."""

    line: int
    good: str
    bad: str
    group: str = ""
    """The phenomenon, or what another column says."""
    item: str = ""
    """Its name in the file; empty if it has none."""


def read_pairs(path: str, lines: Mapping[int, str], first: str, columns: Columns) -> list[Pair]:
    """Return the minimal pairs of a file.

    Args:
        path: The file, for messages, and if it is a workbook for reading.
        lines: Its lines by their numbers, without empty ones.
        first: The first line.
        columns: The columns of good and bad sentences, of items, and of groups, which are usually
            phenomena, if they do not have the usual names.

    Raises:
        InputError: There are no pairs, or no sentences in them; it names the line.
    """
    pairs = [*_pairs(path, lines, first, columns)]
    for what in ("good", "bad"):
        rows = [(pair.line, getattr(pair, what)) for pair in pairs]
        remedy = "write a good sentence, a tab and a bad one, or name two columns by --column"
        require_column(rows, path, f"the column of {what} sentences", remedy)
        plain = map(" ".join, divided(rows, path, columns.mark))
        pairs = [pair._replace(**{what: text}) for pair, text in zip(pairs, plain, strict=True)]
    return pairs


def _pairs(path: str, lines: Mapping[int, str], first: str, columns: Columns) -> Iterator[Pair]:
    header = {plain_column(name) for name in re.split("[,;\t]", first)}
    named = [*as_names(columns.item), *as_names(columns.by)]
    if first.startswith("["):
        with reading(path):
            contents = enumerate(read_json("".join(lines.values())), 1)
    elif first.startswith("{"):
        contents = iter(lines.items())
    elif not lines or columns.texts or named or any(map(header.issuperset, _PLAIN_PAIRS)):
        _, names, rows = read_table(path, quoted_tsv=True, lines=lines.items())
        contents = ((line, dict(zip(names, cells, strict=True))) for line, cells in rows)
    else:
        yield from _plain_pairs(path, lines)
        return
    last: dict[str, str] = {}
    filled: list[int] = []
    for line, content in contents:
        with reading(path, line):
            row = read_json(content) if isinstance(content, str) else content
            if not isinstance(row, dict):
                raise RnngError("no object with a good and a bad sentence")
            require_names([*columns.texts, *named], [*row])
            plain = {plain_column(name): cell_text(value).strip() for name, value in row.items()}
            # merged cells have the value in the first of them
            last = {name: text or last.get(name, "") for name, text in plain.items()}
            items, groups = (
                [*map(plain_column, as_names(chosen))] or [*filter(last.get, usual)][:1]
                for chosen, usual in ((columns.item, _ITEM), (columns.by, _PHENOMENON))
            )
            item, group = ("_".join(map(last.__getitem__, of)) for of in (items, groups))
            if columns.by and not group:
                raise RnngError(f"no {columns.by!r}, which groups need: write it in the first row")
            filled += [line] * any(last[name] != plain[name] for name in (*items, *groups))
            pair = columns.texts or _names_of_pair([*row])
            good, bad = (text_of(row[name], name) for name in pair)
            if prefix := plain.get("prefix"):
                begins = [re.match(re.escape(prefix) + _ENDS_A_WORD, text) for text in (good, bad)]
                if any(begins) and not all(begins):
                    raise RnngError(f"only one sentence begins with the prefix {prefix!r}")
                if not any(begins):
                    good, bad = f"{prefix} {good}", f"{prefix} {bad}"
            yield Pair(line, good, bad, group, item)
    report_filled(path, filled, "items or groups")


def _names_of_pair(names: Sequence[str]) -> Sequence[str]:
    """Return the names of the good and the bad sentence. Raises RnngError if there are none."""
    plain = {plain_column(name): name for name in names}
    for pair in _PLAIN_PAIRS:
        if plain.keys() >= {*pair}:
            return [plain[name] for name in pair]
    usual = ", ".join(" and ".join(pair) for pair in PAIR_NAMES[:2])
    what = f"no columns of pairs ({usual}, ...) among {shown(names)}"
    remedy = "name the good and the bad one by --column GOOD --column BAD"
    raise RnngError(f"{what}: {remedy}; a table of stimuli needs --prediction")


def _plain_pairs(path: str, lines: Mapping[int, str]) -> Iterator[Pair]:
    """Yield pairs of a line with a tab between the sentences."""
    rows = [(line, text.rstrip("\r\n").split("\t")) for line, text in lines.items()]
    (first, names), *others = rows
    header = names if len(names) > 1 else re.split("[,;]", names[0])
    is_header = len(names) != 2 and len(header) > 1 and len(names[0].split()) < 2 * len(header)
    texts = [text.strip() for _, pair in others for text in pair]
    are_names = are_words(names) and all(" " in text for text in texts)
    lack_ends = not any(map(_END.search, names)) and all(map(_END.search, texts))
    if is_header or (texts and (are_names or lack_ends)):
        with placed(path, first):
            _names_of_pair(header)
    for line, sentences in rows:
        if len(sentences) != 2:
            needed = "not two sentences with a tab between them"
            what = f"{len(sentences)} columns, {needed}; a table of stimuli needs --prediction"
            raise InputError(what, path, line)
        if any(_ENCLOSED.fullmatch(text.strip()) for text in sentences):
            raise InputError("quotation marks: add a header, good and bad", path, line)
        yield Pair(line, *sentences)


def read_json(text: str) -> Any:
    """Return the value of JSON. Raises ValueError for other text, and what UTF-8 cannot encode."""
    value = json.loads(text)
    # JSON allows half of a surrogate pair
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def text_of(value: Any, what: str) -> str:
    """Return a value of JSON that is a text. Raises RnngError for any other."""
    if not isinstance(value, str):
        raise RnngError(f"{what} is {json.dumps(value):.40}, not a text")
    return value
