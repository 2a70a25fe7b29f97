"""Output of scores: EVALB's own listing, a table for people, JSON for programs; differences of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from oracle.errors import RnngError
from oracle.files import indented
from rnng_dy.evaluation.evalb import Scores, on_common_sentences
from rnng_dy.evaluation.evalb_sentence import SentenceScore, percent
from rnng_dy.evaluation.significance import f1_difference, holm
from rnng_dy.evaluation.tables import aligned

HEAD = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
"""
RULE = "=" * 76 + "\n"
# what C prints for 0.0 / 0.0 on x86
NOT_A_NUMBER = "  -nan"
COUNTS = ("sentences", "errors", "skipped", "valid")
FIGURES = (
    *COUNTS,
    "recall",
    "precision",
    "f1",
    "complete_match",
    "average_crossing",
    "no_crossing",
    "two_or_less_crossing",
    "tagging_accuracy",
)


def format_evalb(scores: Scores) -> str:
    """Return EVALB's standard output, byte for byte."""
    rows = "".join(_sentence_row(number, s) for number, s in enumerate(scores.per_sentence, 1))
    return HEAD + RULE + rows + RULE + "".join(_summary(scores))


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
    """Return the scores of one system as .txt, .evalb or .json: of all sentences, and of the short ones."""
    if form == ".evalb":
        return format_evalb(scores)
    if form == ".json":
        return indented(to_json(scores))
    cutoff = scores.params.cutoff
    columns = {"all": scores, f"len<={cutoff}": scores.up_to(cutoff)}
    return _table(columns) + _not_scored(scores)


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
        of_systems = {
            name: {**to_json(scores), "common": _figures(common[name])}
            for name, scores in systems.items()
        }
        return indented({"systems": of_systems, "differences": found})
    some = f"Figures are of the {scored} of {every} sentences that all systems have\n\n"
    left_out = [_not_scored(scores, name) for name, scores in systems.items()]
    lines = [_table(common), "\n", *map(_difference_line, found), *left_out]
    return some * (scored < every) + "".join(lines)


def _table(columns: Columns) -> str:
    """Return a table for people (percent; crossing per sentence)."""
    rows = [("", *columns)]
    for name in FIGURES:
        digits = "d" if name in COUNTS else ".2f"
        values = (getattr(scores, name) for scores in columns.values())
        title = name.replace("_", " ").capitalize()
        rows.append((title, *(f"{value:{digits}}" for value in values)))
    return aligned(rows)


def _not_scored(scores: Scores, system: str = "") -> str:
    """Return the lines on the sentences that were not scored, after a blank line; empty if all were."""
    if not scores.unscorable:
        return ""
    of = f" of {system}" if system else ""
    lines = [f"\nNot scored{of} ({len(scores.unscorable)} of {scores.sentences}):"]
    lines += [f"  sentence {n}: {s.status.name.lower()}, {s.problem}" for n, s in scores.unscorable]
    return "\n".join(lines) + "\n"


def differences(systems: Columns) -> list[dict[str, Any]]:
    """Return the F1 of the second less that of the first of each pair of systems, by a paired bootstrap.

    `p_holm` is p corrected for the number of pairs.
    """
    pairs = list(combinations(systems, 2))
    found = [vars(f1_difference(systems[first], systems[second])) for first, second in pairs]
    corrected = holm([of["p"] for of in found])
    return [
        {"first": first, "second": second, **of, "p_holm": p_holm}
        for (first, second), of, p_holm in zip(pairs, found, corrected, strict=True)
    ]


def _difference_line(found: dict[str, Any]) -> str:
    figures = "{value:+.2f} (95 %: {low:+.2f} to {high:+.2f}, p = {p:.4f}, by Holm {p_holm:.4f})"
    return ("F1 of {second} less {first}: " + figures + "\n").format(**found)


def to_json(scores: Scores) -> dict[str, object]:
    """Return the figures of `all` and `short` sentences (up to `cutoff` words), and the `unscorable` ones."""
    short = scores.up_to(scores.params.cutoff)
    return {
        "all": _figures(scores),
        "short": _figures(short),
        "cutoff": scores.params.cutoff,
        "unscorable": [
            {"sentence": n, "status": s.status.name.lower(), "problem": s.problem}
            for n, s in scores.unscorable
        ],
    }


def _figures(scores: Scores) -> dict[str, float]:
    brackets = ("matched", "gold", "system", "crossing")
    totals = {f"{name}_brackets": scores.total(name) for name in brackets}
    totals |= {name: scores.total(name) for name in ("words", "correct_tags")}
    return {name: getattr(scores, name) for name in FIGURES} | totals
