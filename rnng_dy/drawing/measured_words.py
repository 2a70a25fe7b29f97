"""Measured sentences as a table, JSON, the best trees, a page, or a figure of stimuli (matplotlib)."""

from __future__ import annotations

import importlib.util
import io
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.common.errors import extra
from oracle.common.files import one_line
from oracle.common.tables import joined
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.records import MeasuredSentence, WordRecord, tokens_so_far, with_spellings
from rnng_dy.evaluation.word_tables import RegionRows, TokenRows, WordRows, json_word, line

FORMS = {
    ".tsv": "a table",
    ".csv": "the same",
    ".jsonl": "measures and partial trees",
    ".trees": "the best complete trees",
    ".html": "a page",
    ".svg": "with --stimuli, a curve per item and condition",
}
"""What files with each ending hold."""

ON_A_PAGE = 50
"""The most items whose figure is part of a page."""
Curve = tuple[Sequence[str], Sequence[float]]
"""The regions or words of a text, and their surprisals in bits."""


class WordWriter(NamedTuple):
    """Writer of measured sentences in one form."""

    form: str
    """One of `FORMS`."""
    rows: TokenRows
    """The rows of a table."""
    columns: Sequence[str]
    """The measures."""
    end: bool
    """Whether sentence ends have rows."""
    transitions: TransitionSystem
    spellings: Sequence[Sequence[float]] | None
    """log p of each word's spelling in nats, per sentence; None without an open vocabulary."""
    description: str
    """The model, as a page names it."""

    def parts(self, sentences: Iterable[MeasuredSentence]) -> Iterator[str]:
        """Return the text of all sentences in parts."""
        if self.form == ".trees":
            return (f"{best_tree(measured, self.transitions)}\n" for measured in sentences)
        words = (self._words(*item) for item in enumerate(sentences, 1))
        if self.form == ".html":
            found, drawn = list(words), ""
            if importlib.util.find_spec("matplotlib"):
                drawn = self._figure(found, ON_A_PAGE)
            names, system = self.rows.names, self.transitions
            return surprisal_page(found, "Surprisal", self.description, system, names, drawn)
        if self.form == ".svg":
            return iter([self._figure(list(words))])
        return self._json(words) if self.form == ".jsonl" else self._table(words)

    def _json(self, sentences: Iterable[Sequence[WordRecord]]) -> Iterator[str]:
        """Yield a line per sentence: `sentence_id`, and `words`, a list of `json_word` with the fields of the rows."""
        for number, records in enumerate(sentences, 1):
            words = [
                {**fields, **json_word(records, i, self.columns, self.transitions)}
                for i, fields in enumerate(self.rows.fields(number, len(records)))
            ]
            yield one_line({"sentence_id": number, "words": words}) + "\n"

    def _table(self, sentences: Iterable[Sequence[WordRecord]]) -> Iterator[str]:
        style = self.form[1:]
        yield joined((*self.rows.place, *self.columns), style) + "\n"
        for row in self.rows.of(sentences):
            yield line(row, self.columns, style) + "\n"

    def _figure(self, words: Sequence[Sequence[WordRecord]], most: float = math.inf) -> str:
        """Return the figure of stimuli, which is empty for other input and for more than `most` items."""
        if not isinstance(self.rows, WordRows) or self.rows.stimuli is None:
            return ""
        without_ends = [[record for record in of if record.token is not None] for of in words]
        items = curves(self.rows, without_ends)
        return figure(items) if len(items) <= most else ""

    def _words(self, number: int, measured: MeasuredSentence) -> list[WordRecord]:
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]


def best_tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """Return the best complete tree as a line, tags XX; an empty line if there is none."""
    if not measured.trees:
        return ""
    words = tokens_so_far(measured.records, len(measured.records))
    actions = measured.trees[0].actions
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))


def require_matplotlib() -> None:
    """Raise RnngError if matplotlib, which draws figures, is not installed."""
    with extra("a figure needs matplotlib", "plots"):
        import matplotlib  # noqa: F401


def curves(
    rows: WordRows, sentences: Sequence[Sequence[WordRecord]]
) -> dict[str, dict[str, Curve]]:
    """Return the curve of each item and condition: by region if a text has several, else by word.

    `sentences` are the records of the sentences of all texts.
    """
    texts = rows.stimuli.texts
    has_regions = any(len(text.regions) > 1 for text in texts)
    of = RegionRows(rows.texts, rows.stimuli) if has_regions else rows
    found: dict[str, dict[str, Curve]] = {}
    for text, of_text in zip(texts, of.by_text(sentences), strict=True):
        records = [record for _, record in of_text]
        words = [record.token or "" for record in records]
        names = [region.name for region in text.regions] if has_regions else words
        labels = [w if name.isdigit() else name for name, w in zip(names, words, strict=True)]
        # a curve has a gap where a word has no finite surprisal
        bits = [r.surprisal if math.isfinite(r.surprisal) else math.nan for r in records]
        of_item = found.setdefault(text.item or "", {})
        name = text.condition or f"line {text.line}"
        if name in of_item:
            # as where a table names no items
            name = f"{name}, line {text.line}"
        of_item[name] = labels, bits
    return found


def figure(items: Mapping[str, Mapping[str, Curve]]) -> str:
    """Return an SVG with a panel for each item; a label below a place is that of each condition that has another."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    stream = io.StringIO()
    # text stays text, whatever fonts are there, and equal figures have equal files
    settings = {"svg.fonttype": "none", "svg.hashsalt": "rnng_dy", "text.parse_math": False}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        drawn = Figure(figsize=(8, 2.6 * len(items)), layout="constrained")
        panels = drawn.subplots(len(items), squeeze=False)[:, 0]
        for (item, of_item), panel in zip(items.items(), panels, strict=True):
            for condition, (_, bits) in of_item.items():
                panel.plot(bits, marker="o", label=condition)
            places = zip_longest(*(labels for labels, _ in of_item.values()))
            labels = ["\n".join(dict.fromkeys(filter(None, of))) for of in places]
            panel.set_xticks(range(len(labels)), labels)
            panel.set(title=f"item {item}" if item else None, ylabel="surprisal (bits)")
            panel.legend()
        drawn.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
