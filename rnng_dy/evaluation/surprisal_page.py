"""A page to look at: word-by-word surprisals as bars, and the partial trees after each word."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from oracle.files import open_output
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy.evaluation.records import END, WordRecord, tokens_so_far

ANALYSES = 10
"""At most so many analyses of a word are on a page,"""
ANALYSES_IN_ALL = 20_000
"""and about so many in all, but the best of each word always."""

SHORT = 12
"""Sentences of at most so many words stand two in a row at first."""

_PARTS = {
    ending: (Path(__file__).parent / f"surprisal_page.{ending}").read_text(encoding="utf-8")
    for ending in ("html", "css", "js")
}


def write_page(
    path: str | os.PathLike,
    sentences: Sequence[Sequence[WordRecord]],
    title: str,
    model_description: str,
    transitions: TransitionSystem = TOP_DOWN,
) -> None:
    """Write an HTML file that needs nothing else. All sentences have one scale of bits.

    Left out of the page: of each word's beam all but the `ANALYSES` best, or fewer where there would be more than
    `ANALYSES_IN_ALL` on the page, from 2,000 words on; 20,000 words and more have their best analysis alone. Shares
    are of the whole beam, and the page says how much is not shown. `page.html#2.5` opens at the fifth word of the
    second sentence.
    """
    with open_output(path) as stream:
        stream.write(page(sentences, title, model_description, transitions))


def page(
    sentences: Sequence[Sequence[WordRecord]],
    title: str,
    model_description: str,
    transitions: TransitionSystem = TOP_DOWN,
) -> str:
    """The text of the page; see `write_page`."""
    records = [record for of_sentence in sentences for record in of_sentence]
    scale = _Scale([record.surprisal for record in records])
    kept = min(ANALYSES, max(1, ANALYSES_IN_ALL // max(1, len(records))))
    analyses = [_analyses(of_sentence, kept, transitions) for of_sentence in sentences]
    beside = 2 if len(sentences) > 1 and max(map(len, sentences)) <= SHORT else 1
    return Template(_PARTS["html"]).substitute(
        title=_text(title),
        description=_text(model_description),
        style=_PARTS["css"],
        script=_PARTS["js"],
        tick=f"{100 * scale.step / scale.top:.4f}",
        axis=scale.axis(),
        legend=_legend(any(map(_has_shares, records))),
        trees="" if any(record.beam for record in records) else "none",
        several="" if len(sentences) > 1 else "none",
        beside=beside,
        columns=" ".join(
            f'<button aria-pressed="{str(n == beside).lower()}">{n}</button>' for n in (1, 2, 3)
        ),
        sentences="".join(_section(n, found, scale) for n, found in enumerate(sentences, 1)),
        analyses=_json(analyses),
    )


class _Scale:
    """Bits from 0 to a round number that is at least the highest, and ticks at round numbers between."""

    def __init__(self, values: Sequence[float]):
        highest = max((value for value in values if math.isfinite(value)), default=1.0)
        highest = max(highest, 0.1)
        power = 10.0 ** math.floor(math.log10(highest / 4))
        self.step = next(power * m for m in (1, 2, 5, 10) if highest / (power * m) <= 5.5)
        self.top = self.step * math.ceil(highest / self.step - 1e-9)

    def height(self, bits: float) -> float:
        """In per cent; full for what is infinite, nothing for what is negative, as an estimate may be."""
        return 100 * min(1.0, max(0.0, bits / self.top))

    def axis(self) -> str:
        ticks = range(round(self.top / self.step) + 1)
        labels = (
            f'<u style="bottom:{100 * i * self.step / self.top:.3f}%">{i * self.step:.4g}</u>'
            for i in ticks
        )
        return f'<span class="axis" aria-hidden="true">{"".join(labels)}</span>'


def _section(number: int, records: Sequence[WordRecord], scale: _Scale) -> str:
    """A sentence: its number, its sum, and a bar a word."""
    bits = sum(record.surprisal for record in records)
    words = sum(record.token is not None for record in records)
    cells = "".join(_cell(record, scale) for record in records)
    heading = f"{number}: {words} word{'s' * (words != 1)}, {_bits(bits)}"
    if not records:
        heading = f"{number}: empty"
    return f'<section><h2>{heading}</h2><ol class="words">\n{cells}</ol></section>\n'


def _cell(record: WordRecord, scale: _Scale) -> str:
    token = END if record.token is None else record.token
    unk = "" if record.unk in (None, record.token) else f"<small>{_text(record.unk)}</small>"
    return (
        f'<li tabindex="-1" title="{_text(chr(10).join(_numbers(record, token)))}">'
        f'<div class="plot">{_bar(record, scale)}</div><span><bdi>{_text(token)}</bdi></span>{unk}</li>\n'
    )


def _bar(record: WordRecord, scale: _Scale) -> str:
    if not math.isfinite(record.surprisal):
        sign = "?" if math.isnan(record.surprisal) else "∞"
        return f'<i class="total cut" style="height:100%"></i><b style="bottom:100%">{sign}</b>'
    parts = [("total", record.surprisal)]
    if _has_shares(record):
        parts = [("lexical", record.lexical), ("syntactic", record.syntactic)]
    bars, below = [], 0.0
    for name, bits in parts:
        height = scale.height(bits)
        bars.append(f'<i class="{name}" style="bottom:{below:.2f}%;height:{height:.2f}%"></i>')
        below += height
    return f'{"".join(bars)}<b style="bottom:{below:.2f}%">{record.surprisal:.1f}</b>'


def _has_shares(record: WordRecord) -> bool:
    shares = record.syntactic, record.lexical
    return None not in shares and all(map(math.isfinite, shares))


def _numbers(record: WordRecord, token: str) -> Iterator[str]:
    """The lines of a word's tooltip."""
    yield token
    error = "" if record.standard_error is None else f" ± {record.standard_error:.2f}"
    yield _bits(record.surprisal, error)
    if _has_shares(record):
        yield f"{record.syntactic:.2f} syntactic + {record.lexical:.2f} lexical"
    if record.best_syntactic is not None and record.best_lexical is not None:
        yield f"best analysis: {record.best_syntactic:.2f} + {record.best_lexical:.2f}"
    if record.entropy is not None:
        change = "" if record.entropy_delta is None else f" ({record.entropy_delta:+.2f})"
        yield f"entropy {record.entropy:.2f} bits{change}"
    if record.open is not None:
        yield f"open constituents: {record.open}"
    if record.rounds is not None and record.actions is not None:
        yield f"{record.rounds} rounds, {record.actions} actions"
    if record.unk not in (None, record.token):
        yield f"read as {record.unk}"


def _bits(value: float, error: str = "") -> str:
    if math.isfinite(value):
        return f"{value:.2f}{error} bits"
    return "? bits" if math.isnan(value) else "∞ bits"


def _legend(is_shared_out: bool) -> str:
    names = ("lexical", "syntactic") if is_shared_out else ("total",)
    marks = "".join(f'<i class="{name}"></i>{name if is_shared_out else ""}' for name in names)
    return f"{marks} surprisal in bits"


def _analyses(
    records: Sequence[WordRecord], kept: int, transitions: TransitionSystem
) -> list[dict]:
    """Of each word the brackets of its best analyses, each as what it adds to one of the word before, and shares."""
    found, before = [], []
    for i, record in enumerate(records):
        words = tokens_so_far(records, i + 1)
        best = record.beam[:kept]
        texts = [_visible(transitions.partial_brackets(one.actions, words)) for one in best]
        shares = _shares([analysis.log_prob for analysis in record.beam])
        left_out = len(record.beam) - len(best)
        more = f"{left_out} more have {_percent(sum(shares[kept:]))}" if left_out else ""
        found.append(
            {
                "texts": [_addition(text, before) for text in texts],
                "shares": [_percent(share) for share in shares[:kept]],
                "more": more,
            }
        )
        before = texts
    return found


def _addition(text: str, before: Sequence[str]) -> tuple[int, int, str]:
    """Which of the texts before begins most like this one, how far, and what follows."""
    common = [_common(text, other) for other in before] or [0]
    which = max(range(len(common)), key=common.__getitem__)
    kept, rest = text[: common[which]], text[common[which] :]
    # JavaScript counts characters beyond the first 65,536 twice
    return which, len(kept.encode("utf-16-le")) // 2, rest


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common.

    >>> _common("(S (NP", "(S (VP x)"), _common("a", "ab"), _common("", "a")
    (4, 1, 0)
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shares(log_probs: Sequence[float]) -> list[float]:
    highest = max(log_probs, default=0.0)
    weights = [math.exp(value - highest) for value in log_probs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _percent(share: float) -> str:
    """
    >>> _percent(0.4567), _percent(0.0234), _percent(0.0004)
    ('46 %', '2.3 %', '< 0.1 %')
    """
    if share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def _visible(text: str) -> str:
    """The text with an escape for lone surrogates, which are bytes that are not UTF-8.

    >>> print(_visible("caf\\udce9"))
    caf\\udce9
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _text(text: str) -> str:
    return escape(_visible(text))


def _json(content: object) -> str:
    """JSON that a script element holds: no tag can begin in it."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
