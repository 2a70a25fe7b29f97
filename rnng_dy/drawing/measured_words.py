"""Measured sentences as a table, JSON, the best trees, a page, or a figure of stimuli."""

import importlib.util
import io
import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from oracle.brackets import format_tree
from oracle.common.errors import extra
from oracle.common.files import one_line
from oracle.common.tables import joined
from oracle.transitions import TransitionSystem
from rnng_dy.drawing import pages
from rnng_dy.evaluation.records import MeasuredSentence, Records, tokens_so_far, with_spellings
from rnng_dy.evaluation.significance import mean_interval
from rnng_dy.evaluation.word_tables import RegionRows, TokenRows, WordRows, json_word, line

FORMS = {
    ".tsv": "a table",
    ".csv": "the same",
    ".jsonl": "measures and partial trees",
    ".trees": "the best complete trees",
    ".html": "a page",
    ".svg": "with --stimuli, a figure of conditions by region, and of each item",
    ".pdf": "the same",
    ".png": "the same",
}
"""What files with each ending hold."""

ON_A_PAGE = 50
"""The most panels of a figure on a page."""
FIGURES = (".svg", ".pdf", ".png")


class Curve(NamedTuple):
    """What a figure shows of a condition."""

    labels: Sequence[str]
    """The regions or words."""
    bits: Sequence[float]
    """Their surprisals."""
    halves: Sequence[float]
    """Half of the 95 % interval of each; NaN for one text."""


Points = dict[Any, tuple[str, float, float]]
"""Label, surprisal and half of the interval by place, which decides the order."""


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
    signature: str
    """What the numbers depend on."""

    def parts(self, sentences: Iterable[MeasuredSentence]) -> Iterator[str]:
        """Return the text of all sentences in parts."""
        if self.form == ".trees":
            return (f"{best_tree(measured, self.transitions)}\n" for measured in sentences)
        words = (self._words(*item) for item in enumerate(sentences, 1))
        if self.form == ".html":
            return self._page(list(words))
        if self.form in FIGURES:
            return iter([self._figure(list(words), self.form)])
        return self._json(words) if self.form == ".jsonl" else self._table(words)

    def _page(self, words: Sequence[Records]) -> Iterator[str]:
        """Return a self-contained page of surprisals in parts, with the figure of stimuli."""
        shown: dict[str, Any] = {"title": "Surprisal", "description": self.signature}
        if importlib.util.find_spec("matplotlib"):
            drawn = self._figure(words, ".svg", ON_A_PAGE)
            # without the XML declaration
            shown["figure"] = pages.markup(drawn[drawn.find("<svg") :])
        shown |= pages.values(words, self.transitions, self.rows.names)
        return pages.parts("surprisal.html", **shown)

    def _json(self, sentences: Iterable[Records]) -> Iterator[str]:
        """Yield a line per sentence: its `sentence_id`, and `words`, which `json_word` makes."""
        for number, records in enumerate(sentences, 1):
            words = [
                {**fields, **json_word(records, i, self.columns, self.transitions)}
                for i, fields in enumerate(self.rows.fields(number, len(records)))
            ]
            content = {"signature": self.signature, "sentence_id": number, "words": words}
            yield f"{one_line(content)}\n"

    def _table(self, sentences: Iterable[Records]) -> Iterator[str]:
        style = self.form[1:]
        yield joined((*self.rows.columns, *self.columns), style) + "\n"
        for row in self.rows.of(sentences):
            yield line(row, self.columns, style) + "\n"

    def _figure(self, words: Sequence[Records], form: str, most: int | None = None) -> str:
        """Return the figure of stimuli, with `most` panels; it is empty for other input."""
        if not isinstance(self.rows, WordRows) or self.rows.stimuli is None:
            return ""
        texts = [[record for record in text if record.token is not None] for text in words]
        panels = islice(panels_of(self.rows, texts).items(), most)
        return figure(dict(panels), form, self.signature)

    def _words(self, number: int, measured: MeasuredSentence) -> Records:
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]


def best_tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """Return the best complete tree as a line, tags XX; an empty line if there is none."""
    if not measured.trees:
        return ""
    words = tokens_so_far(measured.records, len(measured.records))
    return format_tree(transitions.tagged_tree(measured.trees[0].actions, words))


def require_matplotlib() -> None:
    """Raise RnngError if matplotlib, which draws figures, is not installed."""
    with extra("a figure needs matplotlib", "plots"):
        import matplotlib  # noqa: F401


def panels_of(rows: WordRows, sentences: Sequence[Records]) -> dict[str, dict[str, Curve]]:
    """Return the curves of a figure, by title and condition: of means by region, then of items.

    Means are over several items that share conditions. The curves of an item are by region if a
    text has several, else by word. A region that a text lacks is a gap. Texts without a condition,
    such as fillers, are left out if others have one. `sentences` are the records of the sentences
    of all texts.
    """
    texts = rows.stimuli.texts
    has_regions = any(len(text.regions) > 1 for text in texts)
    has_conditions = any(text.condition for text in texts)
    if has_regions:
        rows = RegionRows(rows.texts, rows.stimuli)
    items: dict[str, dict[str, Points]] = {}
    # by condition, and by name with its number among equal ones of a text
    values: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    place_of: dict[tuple[str, int], int] = {}
    for text, text_rows in zip(texts, rows.by_text(sentences), strict=True):
        records = [record for _, record in text_rows]
        if has_conditions and not text.condition:
            continue
        curves = items.setdefault(f"item {text.item}" if text.item else "", {})
        # an item's text is the same in all lists
        if text.item and text.condition in curves:
            continue
        words = [record.token or "" for record in records]
        names, places = words, list(range(len(words)))
        if has_regions:
            names = [region.name or str(region.number) for region in text.regions]
            places = [region.number for region in text.regions]
        labels = [w if name.isdigit() else name for name, w in zip(names, words, strict=True)]
        # a curve has a gap where a word has no finite surprisal
        bits = [r.surprisal if math.isfinite(r.surprisal) else math.nan for r in records]
        for i, (name, place, value) in enumerate(zip(names, places, bits, strict=True)):
            key = name, names[:i].count(name)
            place_of[key] = min(place, place_of.get(key, place))
            values[text.condition or ""][key] += [] if math.isnan(value) else [value]
        condition = text.condition or f"line {text.line}"
        if condition in curves:
            # as where a table names no items
            condition = f"{condition}, line {text.line}"
        points = zip(places, labels, bits, strict=True)
        curves[condition] = {place: (label, y, math.nan) for place, label, y in points}
    panels = {title: aligned(curves) for title, curves in items.items()}
    conditions = [condition for curves in items.values() for condition in curves]
    if not (has_regions and has_conditions and len({*conditions}) < len(conditions)):
        return panels
    means: dict[str, Points] = defaultdict(dict)
    for condition, by_region in values.items():
        for key, of_region in by_region.items():
            mean, _, high = mean_interval(of_region)
            means[condition][place_of[key], key] = key[0], mean, high - mean
    return {f"means of {len(items)} items, with 95 % intervals": aligned(means), **panels}


def aligned(curves: Mapping[str, Points]) -> dict[str, Curve]:
    """Return curves in the order of places, with a gap where one lacks a place of another."""
    places = sorted({place for points in curves.values() for place in points})
    gap = "", math.nan, math.nan
    return {
        name: Curve(*zip(*(points.get(place, gap) for place in places), strict=True))
        for name, points in curves.items()
    }


def figure(panels: Mapping[str, Mapping[str, Curve]], form: str, signature: str) -> str:
    """Return a figure with a panel for each title; binary content has escapes for its bytes.

    A label below a region or word is that of each condition that has another.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    # text stays text, whatever fonts are there, and equal figures have equal files
    settings = {"svg.fonttype": "none", "svg.hashsalt": "rnng_dy", "text.parse_math": False}
    metadata = {
        ".svg": {"Date": None, "Description": signature},
        ".pdf": {"CreationDate": None, "Subject": signature},
        ".png": {"Description": signature},
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        height = 2.6 * len(panels)
        drawn = Figure(figsize=(8, height), layout="constrained")
        axes = drawn.subplots(len(panels), squeeze=False)[:, 0]
        for (title, curves), panel in zip(panels.items(), axes, strict=True):
            for condition, curve in curves.items():
                halves = None if all(map(math.isnan, curve.halves)) else curve.halves
                how = {"marker": "o", "capsize": 3, "label": condition}
                panel.errorbar(range(len(curve.bits)), curve.bits, halves, **how)
            by_place = zip(*(curve.labels for curve in curves.values()), strict=True)
            labels = ["\n".join(dict.fromkeys(filter(None, names))) for names in by_place]
            panel.set_xticks(range(len(labels)), labels)
            panel.set(title=title or None, ylabel="surprisal (bits)")
            panel.legend()
        # matplotlib draws at most 65,535 pixels
        dpi = min(150, 60000 / height)
        drawn.savefig(stream, format=form[1:], dpi=dpi, metadata=metadata[form])
    return stream.getvalue().decode("utf-8", "surrogateescape")
