"""HTML page of word-by-word surprisals as bars, and of the partial trees after each word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy.drawing.charts import round_step
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.words import visible
from rnng_dy.evaluation.records import END, WordRecord, tokens_so_far

ANALYSES = 10
"""The most partial trees of a word on a page."""
ANALYSES_IN_ALL = 20_000
"""About the most partial trees on a page; the best partial tree of each word is always there."""

PROVISIONAL_BITS = 25.0
"""The highest bar that fits while words are still measured."""
SHORT = 12
"""Sentences of at most this many words are initially shown in two columns."""


def surprisal_page(
    sentences: Sequence[Sequence[WordRecord]],
    title: str,
    model_description: str,
    transitions: TransitionSystem = TOP_DOWN,
    names: Sequence[str] = (),
) -> Iterator[str]:
    """Return the parts of a self-contained HTML file. All sentences have one scale of bits.

    `names` name the sentences, which have numbers without them.

    The page has the `ANALYSES` best partial trees per word. From 2,000 words on it has fewer, so that there are at most
    `ANALYSES_IN_ALL`. From 20,000 words on it has only the best partial tree per word. Shares are of the whole beam,
    and the page says how much is not shown. `page.html#2.5` opens at the fifth word of the second sentence.
    """
    shown = values(sentences, transitions, names)
    return parts("surprisals.html", title=title, description=model_description, **shown)


def values(
    sentences: Sequence[Sequence[WordRecord]],
    transitions: TransitionSystem,
    names: Sequence[str],
) -> dict[str, object]:
    """Return the values for surprisal_words.html but title and description; sentences without names have numbers."""
    records = [record for of_sentence in sentences for record in of_sentence]
    kept = min(ANALYSES, max(1, ANALYSES_IN_ALL // max(1, len(records))))
    return dict(
        sentences=sentences,
        names=names,
        end=END,
        scale=_Scale([record.surprisal for record in records]),
        has_shares=_has_shares,
        is_shared_out=any(map(_has_shares, records)),
        has_trees=any(record.beam for record in records),
        analyses_of=partial(_analyses, kept=kept, transitions=transitions),
        columns=2 if len(sentences) > 1 and max(map(len, sentences)) <= SHORT else 1,
    )


def provisional() -> dict[str, object]:
    """Return the values for a word of surprisal_macros.html, before the scale of all words is known."""
    return dict(end=END, scale=_Scale([PROVISIONAL_BITS]), has_shares=_has_shares)


class _Scale:
    """A scale of bits from 0 to a round number that is at least the highest value, with ticks at round numbers."""

    def __init__(self, values: Sequence[float]):
        highest = max((value for value in values if math.isfinite(value)), default=1.0)
        highest = max(highest, 0.1)
        self.step = round_step(highest, 4)
        self.top = self.step * math.ceil(highest / self.step - 1e-9)

    def height(self, bits: float) -> float:
        """Return the height in per cent: full for infinite bits, 0 for negative bits, which an estimate may have."""
        return 100 * min(1.0, max(0.0, bits / self.top))

    def ticks(self) -> list[float]:
        """Return the ticks in bits, from 0."""
        return [i * self.step for i in range(round(self.top / self.step) + 1)]


def _has_shares(record: WordRecord) -> bool:
    shares = record.syntactic, record.lexical
    return None not in shares and all(map(math.isfinite, shares))


def _analyses(
    records: Sequence[WordRecord], kept: int, transitions: TransitionSystem
) -> list[dict]:
    """Return per word the shares and brackets of its best partial trees, as additions to those of the previous word."""
    found, before = [], []
    for i, record in enumerate(records):
        words = tokens_so_far(records, i + 1)
        best = record.beam[:kept]
        texts = [visible(transitions.partial_brackets(one.actions, words)) for one in best]
        of_beam = shares([analysis.log_prob for analysis in record.beam])
        left_out = len(record.beam) - len(best)
        more = f"{left_out} more have {percent(sum(of_beam[kept:]))}" if left_out else ""
        found.append(
            {
                "texts": [_addition(text, before) for text in texts],
                "shares": [percent(share) for share in of_beam[:kept]],
                "more": more,
            }
        )
        before = texts
    return found


def _addition(text: str, before: Sequence[str]) -> tuple[int, int, str]:
    """Return the index of the text before with the longest common beginning, that length, and the rest of the text."""
    common = [_common(text, other) for other in before] or [0]
    which = max(range(len(common)), key=common.__getitem__)
    kept, rest = text[: common[which]], text[common[which] :]
    # JavaScript counts characters beyond the first 65,536 twice
    return which, len(kept.encode("utf-16-le")) // 2, rest


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts.

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


def shares(log_probs: Sequence[float]) -> list[float]:
    """Return probabilities that add up to 1, from log probabilities in nats up to a constant."""
    highest = max(log_probs, default=0.0)
    weights = [math.exp(value - highest) for value in log_probs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def percent(share: float) -> str:
    """Return a share as text in percent.

    >>> percent(0.4567), percent(0.0234), percent(0.0004)
    ('46 %', '2.3 %', '< 0.1 %')
    """
    if share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"
