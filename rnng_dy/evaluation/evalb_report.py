"""Output of scores: EVALB's own listing, a table for people, JSON for programs; differences of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from oracle.errors import RnngError
from oracle.files import indented
from rnng_dy.evaluation.evalb import Scores, on_common_sentences
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, percent
from rnng_dy.evaluation.significance import f1_difference, holm
from rnng_dy.evaluation.tables import aligned

HEAD = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
"""
RULE = "=" * 76 + "\n"
# what C prints for 0.0 / 0.0 on x86
NOT_A_NUMBER = "  -nan"
CALIBRATION = "calibration_error"
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


def stopping_sentence(scores: Scores) -> int | None:
    """Return the 1-based number of the sentence at which EVALB stops: two errors beyond `MAX_ERROR`.

    EVALB compares the count before the error with `MAX_ERROR`, hence two.
    """
    errors = [number for number, s in scores.unscorable if s.status == Status.ERROR]
    allowed = max(scores.params.max_error + 1, 0)
    return errors[allowed] if len(errors) > allowed else None


def error_lines(scores: Scores) -> list[str]:
    """Return EVALB's lines on standard error, `number : problem`, up to the sentence at which it stops."""
    stop = stopping_sentence(scores) or scores.sentences
    return [
        f"{number} : {s.problem}"
        for number, s in scores.unscorable
        if s.status == Status.ERROR and number <= stop
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
    lines = [_table(common), "\n", *map(_difference_line, found), _by_label(common), *left_out]
    return some * (scored < every) + "".join(lines)


def figures(columns: Columns) -> dict[str, list[float]]:
    """Return the rows of a table; the calibration error is among them only if there are posteriors."""
    names = [*COUNTS, *RATES]
    if any(s.rated for scores in columns.values() for s in scores.scored):
        names.append(CALIBRATION)
    return {name: [getattr(scores, name) for scores in columns.values()] for name in names}


def _table(columns: Columns) -> str:
    """Return a table for people (percent; crossing per sentence)."""
    rows = [("", *columns)]
    for name, values in figures(columns).items():
        digits = "d" if name in COUNTS else ".2f"
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


def _by_label(systems: Columns) -> str:
    """Return a table of the F1 of each system by label; frequent labels are first."""
    rows = sorted(f1_by_label([*systems.values()]).items(), key=lambda row: (-row[1][0], row[0]))
    cells = [(label, str(gold), *(f"{f1:.2f}" for f1 in of)) for label, (gold, of) in rows]
    return "\n" + aligned([("label", "gold", *systems), *cells])


def f1_by_label(systems: Sequence[Scores]) -> dict[str, tuple[int, list[float]]]:
    """Return, for each label, the number of gold brackets and the F1 of each system in percent."""
    totals = [[Counter[str](), Counter[str](), Counter[str]()] for _ in systems]
    for system, of_system in zip(systems, totals, strict=True):
        for sentence in system.scored:
            for total, labels in zip(of_system, sentence.labels, strict=True):
                total.update(labels)
    return {
        label: (
            totals[0][0][label],
            [percent(2 * both[label], gold[label] + of[label]) for gold, of, both in totals],
        )
        for label in {label for of in totals for counts in of for label in counts}
    }


def to_json(scores: Scores) -> dict[str, object]:
    """Return the figures of `all` and `short` sentences (up to `cutoff` words), and the `unscorable` ones."""
    short = scores.up_to(scores.params.cutoff)
    return {
        "all": _figures(scores),
        "short": _figures(short),
        "cutoff": scores.params.cutoff,
        "unscorable": [
            {
                "sentence": n,
                "status": s.status.name.lower(),
                "length": s.length,
                "problem": s.problem,
            }
            for n, s in scores.unscorable
        ],
    }


def _figures(scores: Scores) -> dict[str, float]:
    rates = {name: values[0] for name, values in figures({"all": scores}).items()}
    brackets = ("matched", "gold", "system", "crossing")
    totals = {f"{name}_brackets": scores.total(name) for name in brackets}
    return {**rates, **totals, **{name: scores.total(name) for name in ("words", "correct_tags")}}
