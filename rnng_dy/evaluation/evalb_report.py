"""Output of scores: EVALB's own listing, a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from oracle.files import finite
from rnng_dy.evaluation.evalb import ERROR, SKIPPED, Scores, SentenceScore, percent
from rnng_dy.evaluation.tables import as_csv

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


def format_table(scores: Scores) -> str:
    """Return a table for people (percent; crossing per sentence), then each sentence that was not scored."""
    cutoff = scores.params.cutoff
    short = scores.up_to(cutoff)
    lines = [f"{'':22}{'all':>10}{f'len<={cutoff}':>10}"]
    for name in COUNTS:
        lines.append(f"{_title(name)}{getattr(scores, name):10d}{getattr(short, name):10d}")
    for name in _rates(scores):
        lines.append(f"{_title(name)}{getattr(scores, name):10.2f}{getattr(short, name):10.2f}")
    if scores.unscorable:
        lines.append(f"\nNot scored ({len(scores.unscorable)} of {scores.sentences}):")
        lines += [f"  sentence {n}: {STATUS[s.status]}, {s.problem}" for n, s in scores.unscorable]
    return "\n".join(lines) + "\n"


def _rates(scores: Scores) -> tuple[str, ...]:
    """Return the names of the rates: the calibration error only if there are posteriors."""
    return (*RATES, CALIBRATION) if any(s.rated for s in scores.scored) else RATES


def _title(name: str) -> str:
    return f"{name.replace('_', ' ').capitalize():22}"


def format_csv(scores: Scores) -> str:
    """Return the figures of `format_table` as CSV, unrounded."""
    short = scores.up_to(scores.params.cutoff)
    rows = [("figure", "all", f"len<={scores.params.cutoff}")]
    rows += [
        (name, *(str(getattr(of, name)) for of in (scores, short)))
        for name in COUNTS + _rates(scores)
    ]
    return as_csv(rows)


def format_json(scores: Scores) -> str:
    """Return one JSON object: `all`, `short` (sentences up to `cutoff` words), `cutoff`, `unscorable`."""
    report = {
        "all": _figures(scores),
        "short": _figures(scores.up_to(scores.params.cutoff)),
        "cutoff": scores.params.cutoff,
        "unscorable": [
            {"sentence": n, "status": STATUS[s.status], "length": s.length, "problem": s.problem}
            for n, s in scores.unscorable
        ],
    }
    return json.dumps(finite(report), indent=2, ensure_ascii=False) + "\n"


def _figures(scores: Scores) -> dict[str, float]:
    totals = {
        f"{name}_brackets": scores.total(name) for name in ("matched", "gold", "system", "crossing")
    }
    totals |= {name: scores.total(name) for name in ("words", "correct_tags")}
    return {name: getattr(scores, name) for name in COUNTS + _rates(scores)} | totals
