"""Figures of stimuli: a panel for each item, with a curve of surprisals for each condition (matplotlib)."""

from __future__ import annotations

import importlib.util
import io
import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from oracle.errors import extra
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.word_tables import RegionRows, WordRows

ON_A_PAGE = 50
"""The most items whose figure is part of a page."""
Curve = tuple[Sequence[str], Sequence[float]]
"""The regions or words of a text, and their surprisals in bits."""


def is_there() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def require() -> None:
    """Raise RnngError if matplotlib is not installed."""
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
