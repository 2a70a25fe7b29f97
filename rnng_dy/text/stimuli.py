"""Tables of stimuli: the sentences of an experiment with items, conditions and regions."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from oracle.brackets import escape_brackets
from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed, split_words
from oracle.common.tables import cell_text
from oracle.sentences import SourceSentence
from rnng_dy.text.columns import REGION_NAME, USUAL, ColumnIndices, Columns, indices, shown
from rnng_dy.text.conventions import LETTER
from rnng_dy.text.no_sentences import require_column
from rnng_dy.text.regions import USUAL_MARK, divided
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.stimulus_rows import TextKey, TextRow, by_region, common, read_rows, text_rows

_CLOSING = r"[;!?…)\]}”»]|[,:.](?!\d)|(?<=[^\s(\[{])\""
_BORDER = re.compile(rf"(?:{LETTER}|{_CLOSING})(?:{LETTER}|[(\[{{“«])\Z")
"""What `|` separates as a blank would: letters, and marks of two words; Chinese has no blanks."""


class StimulusRegion(NamedTuple):
    """A region of a text."""

    number: int
    """Its number in the table, or that of its name: names count from 1 as they first occur."""
    name: str
    """Empty if it has only a number."""
    begin: int
    """Where it begins in the text of the stimulus."""
    cells: tuple[Any, ...]
    """The cells that go into the output; empty where its words have different ones."""


class Stimulus(NamedTuple):
    """A text of an experiment, which is one sentence or several."""

    text: str
    line: int
    """1-based line of the table where it begins."""
    regions: Sequence[StimulusRegion]
    row_cells: Sequence[tuple[int, tuple[Any, ...]]]
    """Where the text of each row begins, and the row's cells that go into the output."""
    item: str | None
    condition: str | None
    """None, as for the item, if the table has no such column."""

    @property
    def name(self) -> str:
        """Its item and condition."""
        return " ".join(filter(None, (self.item, self.condition)))

    @property
    def cells(self) -> tuple[Any, ...]:
        """The cells that go into the output; empty where its rows have different ones."""
        return common(cells for _, cells in self.row_cells)

    @property
    def region_texts(self) -> list[tuple[StimulusRegion, str]]:
        """Each region and its text."""
        ends = [*(region.begin for region in self.regions[1:]), len(self.text)]
        return [(r, self.text[r.begin : end]) for r, end in zip(self.regions, ends, strict=True)]

    def region_at(self, character: int) -> int:
        """Return the index of the region that has a character of the text."""
        return bisect_right([region.begin for region in self.regions], character) - 1

    def cells_at(self, character: int) -> tuple[Any, ...]:
        """Return the cells of the row that has a character of the text."""
        return self.row_cells[bisect_right([row[0] for row in self.row_cells], character) - 1][1]

    def regions_of(self, sentences: Sequence[SourceSentence] | None) -> list[tuple[int, list[str]]]:
        """Return each region's number and tokens; a token is of the region in which it begins.

        Without sentences, blanks separate the tokens of each region.
        """
        if sentences is None:
            return [(region.number, tokens_of(text)) for region, text in self.region_texts]
        tokens: list[list[str]] = [[] for _ in self.regions]
        for sentence in sentences:
            for token, (begin, _) in zip(sentence.tokens, sentence.spans or (), strict=True):
                tokens[self.region_at(begin)].append(token)
        return list(zip([region.number for region in self.regions], tokens, strict=True))


class Stimuli(NamedTuple):
    """A table of stimuli."""

    path: str
    columns: Sequence[str]
    """Names of the columns that are carried into the output."""
    texts: Sequence[Stimulus]

    def tokenised(
        self, segmenter: Segmenter, one_per_line: bool = False
    ) -> list[list[SourceSentence]]:
        """Return each text's sentences; with `one_per_line` it is one.

        Raises InputError for a text without words.
        """
        texts = []
        for text in self.texts:
            with placed(self.path, text.line):
                if not (sentences := segmenter.sentences(text.text, one_per_line)):
                    raise RnngError("a line without words")
            texts.append([replace(sentence, line=text.line) for sentence in sentences])
        return texts


def tokens_of(text: str) -> list[str]:
    """Return tokens separated by blanks, with brackets as in the treebank.

    >>> tokens_of("The sale ( in May ) is off .")
    ['The', 'sale', '-LRB-', 'in', 'May', '-RRB-', 'is', 'off', '.']
    """
    return [escape_brackets(token) for token in split_words(text)]


def read_stimuli(table: Any, columns: Columns = USUAL) -> Stimuli:
    """Return the texts of a table.

    Without a column of regions, a row is a text, and a mark may separate its regions, which are
    numbered from 1; a mark at both ends does not count. With one, the rows of the same item and
    condition are one text, and neighbouring rows of one region are its words. If all its regions
    have numbers, or all its words, these are their order. Columns without a name are left out, and
    blanks at the ends of cells. An empty item, or condition of regions, is filled with the one
    above it.

    Args:
        table: A file that `read_table` reads, rows as mappings from names to cells, or a DataFrame
            of pandas; levels of its index that have names are columns.
        columns: The columns that do not have the usual names.

    Raises:
        InputError: Any other table, or a text that cannot be a sentence; the error names the line
            or row.
    """
    path, first, names, lines = read_rows(table)
    at = indices(names, columns, path, first)
    output, texts = text_rows(lines, names, at, path)
    if not texts:
        raise InputError("no stimuli in this table", path)
    if at.region is None:
        _divide(texts, path, columns.mark)
    elif columns.mark not in (None, USUAL_MARK):
        raise InputError("--mark is for tables with a text in a row, not a region", path)
    stimuli = _stimuli(texts, path)
    if at.region is not None:
        divided([(text.line, text.text) for text in stimuli], path, columns.mark, True)
    _require_sentences(stimuli, names, at, path)
    has_names = any(region.name for text in stimuli for region in text.regions)
    return Stimuli(path, [*output, *[REGION_NAME] * has_names], stimuli)


def _divide(texts: Mapping[TextKey, list[TextRow]], path: str, mark: str | None) -> None:
    """Divide the text of each row at its marks."""
    rows = [row for [row] in texts.values()]
    divisions = divided([(row.line, row.text) for row in rows], path, mark, is_usual=True)
    for row, text, pieces in zip(rows, texts.values(), divisions, strict=True):
        regions = enumerate(pieces, 1)
        text[:] = [row._replace(name=str(n), number=float(n), text=piece) for n, piece in regions]


def _stimuli(texts: Mapping[TextKey, Sequence[TextRow]], path: str) -> list[Stimulus]:
    """Return the texts of rows.

    If no region has a whole number, all get the number of their name: names count from 1 as they
    first occur, and one that a text has again counts as another. Raises InputError if only some
    regions have whole numbers.
    """
    every = list(chain.from_iterable(texts.values()))
    others = [row for row in every if row.number is None or not row.number.is_integer()]
    if 0 < len(others) < len(every):
        raise InputError("give whole numbers to all regions or to none", path, others[0].line)
    has_names = any(row.name not in ("", cell_text(row.number) * (not others)) for row in every)
    counted: dict[tuple[float | str, int], int] = {}
    stimuli = []
    for (item, condition, _), rows in texts.items():
        text, regions, row_cells = "", [], []
        occurrences: Counter[float | str] = Counter()
        for region in by_region(rows, path, " ".join(filter(None, (item, condition)))):
            first = len(row_cells)
            for row in region:
                text = _with_border(text, row.text)
                row_cells.append((len(text), (*row.cells, *[row.name] * has_names)))
                text += row.text if text and text[-1] != " " else row.text.lstrip(" ")
            key = region[0].region
            occurrences[key] += 1
            number = counted.setdefault((key, occurrences[key]), len(counted) + 1)
            number, name = number if others else int(key), region[0].name * has_names
            begin, cells = row_cells[first][0], common(cells for _, cells in row_cells[first:])
            regions.append(StimulusRegion(number, name, begin, cells))
        line = min(row.line for row in rows)
        stimuli.append(Stimulus(text.rstrip(" "), line, regions, row_cells, item, condition))
    return stimuli


def _with_border(text: str, following: str) -> str:
    """Return a text before another one.

    A blank at either side of a border is one blank, and so is a border between the letters of two
    words, or after a closing and before an opening mark.
    """
    before, after = text[-2:], following[:1]
    is_blank = before and (" " in before[-1] + after or _BORDER.search(before + after))
    return text.rstrip(" ") + " " if is_blank else text


def _require_sentences(
    texts: Sequence[Stimulus], names: Sequence[str], at: ColumnIndices, path: str
) -> None:
    """Raise InputError if a text cannot be a sentence, or if texts seem to be regions or words."""
    rows = [(text.line, text.text) for text in texts if text.text]
    is_whole = at.region is None
    what, remedy = f"column {names[at.texts[0]]!r}", "name that of texts by --column"
    numbers = "name the column of words' numbers by --region, such as zone"
    word_remedy = f"{numbers}, and items by --item; the columns are {shown(names)}" * is_whole
    require_column(rows, path, what, f"{remedy}, or leave the row out", word_remedy)
    columns = [texts[i :: len(at.texts)] for i in range(len(at.texts) * is_whole)]
    begins = ["".join(text.text[:1] for text in column) for column in columns]
    lower = [names[i] for i, letters in zip(at.texts, begins, strict=False) if letters.islower()]
    if lower and begins[0].isupper():
        message = f"column {lower[0]!r} begins in lower case: if it has regions, make one column "
        raise InputError(f"{message}of all, with | between regions", path, rows[0][0])
    before: dict[tuple[str | None, str | None], str] = {}
    for text in texts if is_whole and at.items else ():
        item, condition = text.item, text.condition
        if before.setdefault((item, condition), text.text) != text.text:
            again = "several rows" if condition is None else f"the condition {condition!r} again"
            message = f"item {item!r} has {again}: if the rows are regions, name the column of "
            message += "their numbers by --region; else name all columns that make a condition by "
            message += "--condition, or an item by --item"
            raise InputError(message, path, text.line)
    if is_whole and at.word is not None and len({text for _, text in rows}) < len(rows):
        what = f"sentences in several rows, beside {names[at.word]!r}"
        raise InputError(f"{what}: name the texts by --column", path, rows[0][0])
