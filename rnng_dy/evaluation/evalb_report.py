"""Output of scores: EVALB's own listing, a table for people, JSON for programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.files import indented
from rnng_dy.evaluation.evalb import (
    ERROR,
    SKIPPED,
    Bracket,
    Scores,
    SentenceScore,
    on_common_sentences,
    percent,
)
from rnng_dy.evaluation.significance import Difference, f1_difference, holm
from rnng_dy.evaluation.tables import aligned, as_csv

HEAD = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
"""
RULE = "=" * 76 + "\n"
# what C prints for 0.0 / 0.0 on x86
NOT_A_NUMBER = "  -nan"
CALIBRATION = "calibration_error"
STATUS = {ERROR: "error", SKIPPED: "skipped"}
COUNTS = ("sentences", "errors", "skipped", "valid")
RATES = (
    "recall",
    "precision",
    "f1",
    "complete_match",
    "average_crossing",
    "no_crossing",
    "two_or_less_crossing",
    "tagging_accuracy",
)
LENGTHS = ("1", "2", "3-4", "5-8", "9-16", "17-32", "33 and more")
"""Ranges of words per constituent, each of which is one row."""


def stopping_sentence(scores: Scores) -> int | None:
    """Return the 1-based number of the sentence at which EVALB stops: two errors beyond `MAX_ERROR`.

    EVALB compares the count before the error with `MAX_ERROR`, hence two.
    """
    errors = [number for number, s in scores.unscorable if s.status == ERROR]
    allowed = max(scores.params.max_error + 1, 0)
    return errors[allowed] if len(errors) > allowed else None


def error_lines(scores: Scores) -> list[str]:
    """Return EVALB's lines on standard error, `number : problem`, up to the sentence at which it stops."""
    stop = stopping_sentence(scores) or scores.sentences
    return [
        f"{number} : {s.problem}"
        for number, s in scores.unscorable
        if s.status == ERROR and number <= stop
    ]


def format_evalb(scores: Scores) -> str:
    """Return EVALB's standard output, byte for byte; without a summary if `MAX_ERROR` stops it."""
    stop = stopping_sentence(scores)
    listed = scores.per_sentence if stop is None else scores.per_sentence[: stop - 1]
    rows = "".join(_sentence_row(number, s) for number, s in enumerate(listed, 1))
    return HEAD + RULE + rows + ("" if stop else RULE + "".join(_summary(scores)))


def _sentence_row(number: int, s: SentenceScore) -> str:
    recall, precision = percent(s.matched, s.gold), percent(s.matched, s.system)
    return (
        f"{number:4d}  {s.length:3d}    {s.status}  {recall:6.2f} {precision:6.2f}"
        f"   {s.matched:3d}    {s.gold:3d}  {s.system:3d}    {s.crossing:3d}"
        f"   {s.words:4d}  {s.correct_tags:4d}   {percent(s.correct_tags, s.words):6.2f}\n"
    )


def _summary(scores: Scores) -> Iterator[str]:
    gold, system = scores.total("gold"), scores.total("system")
    if gold and system:
        yield f"{'':16}{scores.recall:6.2f} {scores.precision:6.2f} {scores.total('matched'):6d}"
        yield f" {gold:5d} {system:5d}  {scores.total('crossing'):5d}"
    yield f"  {scores.total('words'):5d} {scores.total('correct_tags'):5d}"
    yield f"   {scores.tagging_accuracy:6.2f}\n=== Summary ===\n"
    cutoff = scores.params.cutoff
    yield _summary_block("All", scores)
    yield _summary_block(f"len<={cutoff}", scores.up_to(cutoff))


def _summary_block(title: str, scores: Scores) -> str:
    f1 = f"{scores.f1:6.2f}" if scores.recall + scores.precision else NOT_A_NUMBER
    return f"""
-- {title} --
Number of sentence        = {scores.sentences:6d}
Number of Error sentence  = {scores.errors:6d}
Number of Skip  sentence  = {scores.skipped:6d}
Number of Valid sentence  = {scores.valid:6d}
Bracketing Recall         = {scores.recall:6.2f}
Bracketing Precision      = {scores.precision:6.2f}
Bracketing FMeasure       = {f1}
Complete match            = {scores.complete_match:6.2f}
Average crossing          = {scores.average_crossing:6.2f}
No crossing               = {scores.no_crossing:6.2f}
2 or less crossing        = {scores.two_or_less_crossing:6.2f}
Tagging accuracy          = {scores.tagging_accuracy:6.2f}
"""


Columns = Mapping[str, Scores]
"""Scores by the title of their column."""


def format_scores(scores: Scores, form: str = ".txt") -> str:
    """Return the scores of one system as .txt, .evalb, .json or .csv: of all sentences, and of the short ones."""
    cutoff = scores.params.cutoff
    columns = {"all": scores, f"len<={cutoff}": scores.up_to(cutoff)}
    if form == ".evalb":
        return format_evalb(scores)
    if form == ".json":
        return indented(to_json(scores))
    return _csv(columns) if form == ".csv" else _table(columns) + _not_scored(scores)


def format_comparison(systems: Columns, form: str = ".txt") -> str:
    """Return the figures of systems on the sentences that all of them have scored, and their differences in F1.

    Raises RnngError if there is no such sentence.
    """
    common = dict(zip(systems, on_common_sentences([*systems.values()]), strict=True))
    scored, every = (next(iter(of.values())).sentences for of in (common, systems))
    if not scored:
        raise RnngError(
            "no sentence can be scored for every system: see that all files hold the same words"
        )
    found = differences(common)
    if form == ".json":
        return indented(
            {
                "systems": {
                    name: {**to_json(scores), "common": _figures(common[name])}
                    for name, scores in systems.items()
                },
                "differences": [
                    {"first": first, "second": second, **vars(d), "p_holm": p_holm}
                    for first, second, d, p_holm in found
                ],
            }
        )
    if form == ".csv":
        return _csv(common)
    left_out = [_not_scored(scores, name) for name, scores in systems.items()]
    some = f"Figures are of the {scored} of {every} sentences that all systems have\n\n"
    lines = [_table(common), "\n", *map(_difference_line, found), *_kinds(common), *left_out]
    return some * (scored < every) + "".join(lines)


def figures(columns: Columns) -> dict[str, list[float]]:
    """Return the rows of a table; the calibration error is among them only if there are posteriors."""
    names = [*COUNTS, *RATES]
    if any(s.rated for scores in columns.values() for s in scores.scored):
        names.append(CALIBRATION)
    return {name: [getattr(scores, name) for scores in columns.values()] for name in names}


def _csv(columns: Columns) -> str:
    """Return a row per figure, unrounded."""
    rows = ((name, *map(str, values)) for name, values in figures(columns).items())
    return as_csv([("figure", *columns), *rows])


def _table(columns: Columns) -> str:
    """Return a table for people (percent; crossing per sentence)."""
    widths = [max(10, len(title) + 1) for title in columns]
    lines = [f"{'':22}" + _cells(columns, widths, "")]
    for name, values in figures(columns).items():
        digits = "d" if name in COUNTS else ".2f"
        title = name.replace("_", " ").capitalize()
        lines.append(f"{title:22}" + _cells(values, widths, digits))
    return "\n".join(lines) + "\n"


def _cells(values: Iterable[object], widths: Sequence[int], form: str) -> str:
    return "".join(f"{v:>{width}{form}}" for v, width in zip(values, widths, strict=True))


def _not_scored(scores: Scores, system: str = "") -> str:
    """Return the lines on the sentences that were not scored, after a blank line; empty if all were."""
    if not scores.unscorable:
        return ""
    of = f" of {system}" if system else ""
    lines = [f"\nNot scored{of} ({len(scores.unscorable)} of {scores.sentences}):"]
    lines += [f"  sentence {n}: {STATUS[s.status]}, {s.problem}" for n, s in scores.unscorable]
    return "\n".join(lines) + "\n"


class NamedDifference(NamedTuple):
    """The F1 of the second system less that of the first."""

    first: str
    second: str
    difference: Difference
    p_holm: float
    """p corrected for the number of pairs."""


def differences(systems: Columns) -> list[NamedDifference]:
    """Return the differences of all pairs of systems, by a paired bootstrap."""
    pairs = list(combinations(systems, 2))
    found = [f1_difference(systems[first], systems[second]) for first, second in pairs]
    corrected = holm([d.p for d in found])
    return [
        NamedDifference(*pair, d, p) for pair, d, p in zip(pairs, found, corrected, strict=True)
    ]


def _difference_line(found: NamedDifference) -> str:
    d = found.difference
    return (
        f"F1 of {found.second} less {found.first}: {d.value:+.2f} "
        f"(95 %: {d.low:+.2f} to {d.high:+.2f}, p = {d.p:.4f}, by Holm {found.p_holm:.4f})\n"
    )


def _kinds(systems: Columns) -> Iterator[str]:
    """Yield tables of the F1 of each system by label, and by the number of words in a constituent."""
    by_label = f1_by([*systems.values()], lambda bracket: bracket[0])
    by_length = f1_by(
        [*systems.values()], lambda bracket: min((bracket[1] - 1).bit_length(), len(LENGTHS) - 1)
    )
    labels = sorted(by_label.items(), key=lambda row: (-row[1][0], row[0]))
    lengths = [(LENGTHS[i], counts) for i, counts in sorted(by_length.items())]
    for title, rows in (("label", labels), ("words", lengths)):
        cells = [(kind, str(gold), *(f"{value:.2f}" for value in f1)) for kind, (gold, f1) in rows]
        yield "\n" + aligned([(title, "gold", *systems), *cells])


def f1_by(
    systems: Sequence[Scores], kind: Callable[[Bracket], Hashable]
) -> dict[Hashable, tuple[int, list[float]]]:
    """Return, for each kind of bracket, the number of gold brackets and the F1 of each system in percent."""
    counts: dict[Hashable, list[list[int]]] = defaultdict(lambda: [[0] * 3 for _ in systems])
    for i, of_system in enumerate(systems):
        for sentence in of_system.scored:
            for part, brackets in enumerate(sentence.kinds):
                for bracket, n in brackets.items():
                    counts[kind(bracket)][i][part] += n
    return {
        name: (of[0][0], [percent(2 * matched, gold + system) for gold, system, matched in of])
        for name, of in counts.items()
    }


def to_json(scores: Scores) -> dict[str, object]:
    """Return the figures of `all` and `short` sentences (up to `cutoff` words), and the `unscorable` ones."""
    short = scores.up_to(scores.params.cutoff)
    return {
        "all": _figures(scores),
        "short": _figures(short),
        "cutoff": scores.params.cutoff,
        "unscorable": [
            {"sentence": n, "status": STATUS[s.status], "length": s.length, "problem": s.problem}
            for n, s in scores.unscorable
        ],
    }


def _figures(scores: Scores) -> dict[str, float]:
    rates = {name: values[0] for name, values in figures({"all": scores}).items()}
    brackets = ("matched", "gold", "system", "crossing")
    totals = {f"{name}_brackets": scores.total(name) for name in brackets}
    return {**rates, **totals, **{name: scores.total(name) for name in ("words", "correct_tags")}}
