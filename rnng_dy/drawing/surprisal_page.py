"""HTML page of word-by-word surprisals as bars, with the film of the beam: the partial trees after each word."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy.drawing.pages import markup, parts
from rnng_dy.drawing.trees import partial_picture, svg_of
from rnng_dy.drawing.words import cells, visible
from rnng_dy.evaluation.records import END, Analysis, WordRecord, tokens_so_far

ANALYSES = 10
"""The most partial trees of a word on a page."""
ANALYSES_IN_ALL = 5_000
"""The most partial trees on a page."""
SHORT = 12
"""Sentences of at most this many words stand in two columns where there is room."""
HEIGHT, TOP = 130, 20
"""Pixels of the highest bar, and above it."""


class Bar(NamedTuple):
    """A part of a word's bar, in pixels from the top."""

    kind: str
    y: float
    height: float


class Word(NamedTuple):
    """A word as the page shows it."""

    place: str
    """Numbers of the sentence and of the word in it, as `2.5`, which is the address `page.html#2.5`."""
    token: str
    unk: str
    """The word as the model reads it; empty if that is the same."""
    width: int
    bars: Sequence[Bar]
    bits: str
    measures: Sequence[str]
    trees: Sequence[dict[str, Any]]
    more: str
    """How many partial trees are not shown, and their share."""
    died: str
    """How many partial trees no partial tree after this word continues, and the share that they had before it."""


def surprisal_page(
    sentences: Sequence[Sequence[WordRecord]],
    title: str,
    model_description: str,
    transitions: TransitionSystem = TOP_DOWN,
    names: Sequence[str] = (),
) -> Iterator[str]:
    """Return the parts of a self-contained HTML file. All sentences have one scale of bits.

    `names` name the sentences, which have numbers without them. The page has the `ANALYSES` best partial trees per
    word, or fewer, so that there are at most `ANALYSES_IN_ALL`. Shares are of the whole beam. `page.html#2.5` opens at
    the fifth word of the second sentence.
    """
    shown = values(sentences, [transitions] * len(sentences), names)
    return parts("surprisal.html", **shown | {"title": title, "description": model_description})


def values(
    sentences: Sequence[Sequence[WordRecord]],
    transitions: Sequence[TransitionSystem | None],
    names: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the values of the template surprisal.html; `transitions` has the system of each sentence's trees."""
    records = [record for of_sentence in sentences for record in of_sentence]
    kept = min(ANALYSES, ANALYSES_IN_ALL // max(1, len(records)))
    top, step = _scale([record.surprisal for record in records])
    sections = []
    for number, (of_sentence, system) in enumerate(zip(sentences, transitions, strict=True), 1):
        film = _film(of_sentence, kept, system) if system is not None else {}
        words = [
            _word(f"{number}.{i + 1}", record, top, film.get(i, ([], "", "")))
            for i, record in enumerate(of_sentence)
        ]
        heading = f"{names[number - 1] if names else number}: {_summary(of_sentence)}"
        sections.append((heading, words))
    return dict(
        sections=sections,
        ticks=[
            (TOP + HEIGHT * (1 - i * step / top), i * step) for i in range(round(top / step) + 1)
        ],
        plot_height=TOP + HEIGHT,
        has_shares=any(map(_has_shares, records)),
        has_film=kept > 0 and any(record.beam for record in records),
        is_short=len(sentences) > 1 and max(map(len, sentences)) <= SHORT,
        description="",
    )


def _word(place: str, record: WordRecord, top: float, film: tuple) -> Word:
    token = END if record.token is None else record.token
    unk = "" if record.unk is None or record.unk == record.token else record.unk
    width = max(38, round(8.2 * cells(visible(token)) + 11), round(6.5 * cells(visible(unk)) + 11))
    if not math.isfinite(record.surprisal):
        bars = [Bar("cut", TOP, HEIGHT)]
    else:
        # an estimate may be negative
        shares = [("total", record.surprisal)]
        if _has_shares(record):
            shares = [("lexical", record.lexical), ("syntactic", record.syntactic)]
        bars, y = [], float(TOP + HEIGHT)
        for kind, bits in shares:
            height = HEIGHT * min(1.0, max(0.0, bits / top))
            y -= height
            bars.append(Bar(kind, y, height))
    return Word(place, token, unk, width, bars, bits_of(record.surprisal, 1), _said(record), *film)


def bits_of(value: float, digits: int = 2) -> str:
    """Return bits as text.

    >>> bits_of(1.234), bits_of(float("inf")), bits_of(float("nan"))
    ('1.23', '∞', '?')
    """
    if math.isfinite(value):
        return f"{value:.{digits}f}"
    return "?" if math.isnan(value) else "∞"


def _summary(records: Sequence[WordRecord]) -> str:
    words = [record for record in records if record.token is not None]
    if not records:
        return "empty"
    unknown = sum(record.known is False for record in words)
    said = f"{len(words)} word{'s' * (len(words) != 1)}" + f" ({unknown} unknown)" * (unknown > 0)
    return f"{said}, {bits_of(sum(record.surprisal for record in records))} bits"


def _said(record: WordRecord) -> list[str]:
    """Return the measures of a word as texts."""
    error = record.standard_error
    said = [bits_of(record.surprisal) + ("" if error is None else f" ± {bits_of(error)}") + " bits"]
    if _has_shares(record):
        said.append(f"{record.syntactic:.2f} syntactic + {record.lexical:.2f} lexical")
    if record.best_syntactic is not None and record.best_lexical is not None:
        said.append(f"best analysis: {record.best_syntactic:.2f} + {record.best_lexical:.2f}")
    if record.entropy is not None:
        change = "" if record.entropy_delta is None else f" ({record.entropy_delta:+.2f})"
        said.append(f"entropy {record.entropy:.2f} bits{change}")
    if record.open is not None:
        said.append(f"open constituents: {record.open}")
    if record.rounds is not None and record.actions is not None:
        said.append(f"{record.rounds} rounds, {record.actions} actions")
    return said


def _has_shares(record: WordRecord) -> bool:
    shares = record.syntactic, record.lexical
    return None not in shares and all(map(math.isfinite, shares))


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """Return a round number that is at least the highest value, and the step of the ticks, 1, 2 or 5 times 10^n.

    >>> _scale([23.0, float("inf")]), _scale([])
    ((25.0, 5.0), (1.0, 0.2))
    """
    highest = max(0.1, max((value for value in values if math.isfinite(value)), default=1.0))
    power = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(power * m for m in (1, 2, 5, 10) if highest / (power * m) <= 5.5)
    return step * math.ceil(highest / step - 1e-9), step


def _film(
    records: Sequence[WordRecord], kept: int, transitions: TransitionSystem
) -> dict[int, tuple[list[dict[str, Any]], str, str]]:
    """Return the fields `trees`, `more` and `died` of the words that have a beam, by number from 0."""
    reached = [i for i, record in enumerate(records) if record.beam]
    fates = _fates([records[i].beam for i in reached]) if kept else []
    found: dict[int, tuple] = {}
    before: list[float] = []
    for i, (number, of_word) in enumerate(zip(reached, fates, strict=False)):
        tokens, beam = tokens_so_far(records, number + 1), records[number].beam
        of_beam, trees = shares_of(beam), []
        shown = zip(beam[:kept], of_beam, of_word, strict=False)
        for analysis, share, (dies, last) in shown:
            fate = f"{percent(last)} at the end"
            if dies is not None:
                token = records[reached[dies]].token
                fate = f"dies at “{END if token is None else token}”"
            brackets = transitions.partial_brackets(analysis.actions, tokens)
            said, width = f"{percent(share)}, {fate}", f"{100 * share:.1f}"
            tree = {"said": said, "share": width, "dies": dies is not None}
            trees.append({**tree, "svg": markup(svg_of(partial_picture(brackets), brackets))})
        rest = of_beam[kept:]
        more = f"{len(rest)} more have {percent(sum(rest))}" if rest else ""
        died = [s for s, (dies, _) in zip(before, fates[i - 1], strict=False) if dies == i]
        gone = (
            f"{len(died)} of {len(before)} partial trees died here; they had {percent(sum(died))}"
        )
        found[number] = trees, more, gone if died else ""
        before = of_beam
    return found


def _fates(beams: Sequence[Sequence[Analysis]]) -> list[list[tuple[int | None, float]]]:
    """Return the fate of each partial tree of each word.

    A fate is the number, from 0, of the word at which it dies, None for a survivor, and the share, in the last beam,
    of the partial trees to which it leads. It dies at the first word that no partial tree of the beam reaches from it.
    """
    found: list[list[tuple[int | None, float]]] = []
    for i, beam in reversed(list(enumerate(beams))):
        if not found:
            found.append([(None, share) for share in shares_of(beam)])
            continue
        ends: dict[tuple[str, ...], list[int | None]] = defaultdict(list)
        lasts: Counter[tuple[str, ...]] = Counter()
        for after, (dies, last) in zip(beams[i + 1], found[0], strict=True):
            for length in {len(analysis.actions) for analysis in beam}:
                beginning = tuple(after.actions[:length])
                ends[beginning].append(dies)
                lasts[beginning] += last
        fates = []
        for actions in (tuple(analysis.actions) for analysis in beam):
            successors = ends.get(actions, [i + 1])
            dies = None if None in successors else max(filter(None, successors))
            fates.append((dies, lasts[actions]))
        found.insert(0, fates)
    return found


def shares_of(beam: Sequence[Analysis]) -> list[float]:
    """Return the probabilities of partial trees within their beam, which add up to 1."""
    highest = max((analysis.log_prob for analysis in beam), default=0.0)
    weights = [math.exp(analysis.log_prob - highest) for analysis in beam]
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
