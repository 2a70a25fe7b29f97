"""HTML pages for files and the server: Jinja2 templates with one base, style sheet and script.

The page of surprisals has bars, and the film of the beam: the partial trees after each word.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from oracle.brackets import visible
from oracle.common.errors import extra
from oracle.transitions import TransitionSystem
from rnng_dy.drawing.trees import partial_picture, svg_of
from rnng_dy.evaluation.records import ALL_MEASURES, Analysis, Records, WordRecord, tokens_so_far

TEMPLATES = Path(__file__).parent / "templates"
_TEXT = re.compile(r"[^\t\n]+")
SHARES = ("spelling_surprisal", "word_in_cluster", "cluster", "structure")
"""The measures that add up to the surprisal, in the order of a bar's segments from the bottom."""
ANALYSES = 10
"""The most partial trees of a word on a page."""
ANALYSES_IN_ALL = 5_000
"""The most partial trees on a page."""


def require() -> ModuleType:
    """Return Jinja2. Commands call this before computing the results for a page.

    Raises RnngError if Jinja2 is not installed.
    """
    with extra("a page needs Jinja2", "pages"):
        import jinja2
    return jinja2


def parts(template: str, /, **values: object) -> Iterator[str]:
    """Yield the text of a page in parts.

    Text in `values` is escaped. Characters that HTML cannot hold or that change the direction of
    text become escapes. Raises RnngError, before the first part, if Jinja2 is not installed.
    """
    yield from _environment().get_template(template).generate(values)


def markup(html: str) -> Any:
    """Return text that a page takes as it is."""
    # comes with Jinja2
    from markupsafe import Markup

    return Markup(html)


@cache
def _environment() -> Any:
    jinja2 = require()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: _shown(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    environment.filters["number"] = format
    environment.tests["finite"] = lambda value: value is not None and math.isfinite(value)
    environment.globals["svg_of"] = lambda picture: markup(svg_of(picture))
    environment.globals.update(shares=_shares, measures=_measures, bits_of=bits_of, percent=percent)
    # the server gives its pages and the name of the one that is shown, files the others
    environment.globals |= {"served": None, "signature": "", "description": "", "figure": ""}
    return environment


def _shown(text: str) -> str:
    """Return text with escapes for what HTML cannot hold."""
    return _TEXT.sub(lambda match: visible(match[0]), text)


def values(
    sentences: Sequence[Records], transitions: TransitionSystem, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return values of the template surprisal.html; `transitions` are those of the trees.

    `names` name the sentences, which have numbers without them. All sentences have one scale of
    bits. The page has the `ANALYSES` best partial trees per word, or fewer, so that there are at
    most `ANALYSES_IN_ALL`. Shares are of the whole beam. `page.html#2.5` opens at the fifth word of
    the second sentence.
    """
    records = [record for sentence in sentences for record in sentence]
    kept = min(ANALYSES, ANALYSES_IN_ALL // max(1, len(records)))
    has_beams = any(record.beam for record in records)
    top, step = _scale([record.surprisal for record in records])
    sections = []
    for number, sentence in enumerate(sentences, 1):
        bits = bits_of(sum(record.surprisal for record in sentence))
        frames = _film(sentence, number, kept, transitions)
        heading = f"{names[number - 1] if names else number}: {bits} bits"
        sections.append((heading, list(zip(sentence, frames, strict=True))))
    return dict(
        sections=sections,
        top=top,
        ticks=[i * step for i in range(round(top / step) + 1)],
        legend=[name for name in SHARES if any(name in dict(_shares(r)) for r in records)],
        has_film=kept > 0 and has_beams,
        is_too_long=not kept and has_beams,
    )


def _shares(record: WordRecord) -> list[tuple[str, float]]:
    """Return the segments of a word's bar in bits, from the bottom; none without a number."""
    if not math.isfinite(record.surprisal):
        return []
    if record.structure is None:
        return [("total", record.surprisal)]
    shares = ((name, getattr(record, name)) for name in SHARES)
    return [(name, share) for name, share in shares if share is not None]


def _measures(record: WordRecord) -> list[str]:
    measures = ((name.replace("_", " "), getattr(record, name)) for name in ALL_MEASURES)
    return [
        f"{name} {value if isinstance(value, int) else bits_of(value)}"
        for name, value in measures
        if value is not None
    ]


def bits_of(value: float, digits: int = 2) -> str:
    """Return bits as text.

    >>> bits_of(1.234), bits_of(float("inf")), bits_of(float("nan"))
    ('1.23', '∞', '?')
    """
    if math.isfinite(value):
        return f"{value:.{digits}f}"
    return "?" if math.isnan(value) else "∞"


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """Return a round number from the highest value on, and the step of ticks, 1, 2 or 5 x 10^n.

    >>> _scale([23.0, float("inf")]), _scale([])
    ((25.0, 5.0), (1.0, 0.2))
    """
    highest = max(0.1, max((value for value in values if math.isfinite(value)), default=1.0))
    power = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(power * m for m in (1, 2, 5, 10) if highest / (power * m) <= 5.5)
    return step * math.ceil(highest / step - 1e-9), step


def _film(
    records: Records, number: int, kept: int, transitions: TransitionSystem
) -> Iterator[dict[str, Any]]:
    """Yield the best partial trees after each word, and the number and share of the others."""
    shares = [shares_of(record.beam) for record in records]
    for i, record in enumerate(records):
        tokens, trees = tokens_so_far(records, i + 1), []
        for analysis, share in islice(zip(record.beam, shares[i], strict=True), kept):
            dies, last = _fate(analysis.actions, share, records[i + 1 :], shares[i + 1 :])
            brackets = transitions.partial_brackets(analysis.actions, tokens)
            drawn = markup(svg_of(partial_picture(brackets), brackets))
            trees.append({"share": share, "dies": dies, "last": last, "svg": drawn})
        rest = shares[i][kept:]
        yield {"place": f"{number}.{i + 1}", "trees": trees, "more": len(rest), "share": sum(rest)}


def _fate(
    actions: Sequence[str], share: float, records: Records, shares: Sequence[Sequence[float]]
) -> tuple[WordRecord | None, float]:
    """Return the fate of a partial tree, given its share and later words with their shares.

    The fate is the word at which it dies, None for a survivor, and the share, in the last beam, of
    the partial trees to which it leads. It dies at the first word that no partial tree of the beam
    reaches from it.
    """
    for record, beam_shares in zip(records, shares, strict=True):
        if record.beam:
            beam = zip(record.beam, beam_shares, strict=True)
            successors = [p for later, p in beam if later.actions[: len(actions)] == actions]
            if not successors:
                return record, 0.0
            share = sum(successors)
    return None, share


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
