"""Output of scores: EVALB's own listing, a table, JSON; differences of systems."""

from collections.abc import Iterator, Mapping
from typing import Any

from oracle.common.errors import RnngError
from oracle.common.files import indented
from oracle.common.tables import aligned
from rnng_dy.evaluation.evalb import Scores, on_common_sentences
from rnng_dy.evaluation.evalb_sentence import SentenceScore, percent
from rnng_dy.evaluation.significance import TOO_FEW, f1_difference, pairs_of

HEAD = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
"""
RULE = "=" * 76 + "\n"
# what C prints for 0.0 / 0.0 on x86
NOT_A_NUMBER = "  -nan"
SUMMARY = """
-- {title} --
Number of sentence        = {sentences:6d}
Number of Error sentence  = {errors:6d}
Number of Skip  sentence  = {skipped:6d}
Number of Valid sentence  = {valid:6d}
Bracketing Recall         = {recall:6.2f}
Bracketing Precision      = {precision:6.2f}
Bracketing FMeasure       = {f_measure}
Complete match            = {complete_match:6.2f}
Average crossing          = {average_crossing:6.2f}
No crossing               = {no_crossing:6.2f}
2 or less crossing        = {two_or_less_crossing:6.2f}
Tagging accuracy          = {tagging_accuracy:6.2f}
"""


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
    yield f"   {scores.figures()['tagging_accuracy']:6.2f}\n=== Summary ===\n"
    cutoff = scores.params.cutoff_len
    for title, block in (("All", scores), (f"len<={cutoff}", scores.up_to(cutoff))):
        f_measure = f"{block.f1:6.2f}" if block.recall + block.precision else NOT_A_NUMBER
        yield SUMMARY.format(title=title, f_measure=f_measure, **block.figures())


def format_scores(systems: Mapping[str, Scores], form: str, signature: str) -> str:
    """Return the figures of systems as .txt or .json, or EVALB's listing of one system as .evalb.

    The figures of one system are those of all sentences and of the short ones, if any can be
    scored. Those of several are of the sentences that all have scored, with their differences in
    F1. Raises RnngError if there is no such sentence.
    """
    [first, *others] = systems.values()
    if form == ".evalb":
        return format_evalb(first)
    total = scored = len(first.per_sentence)
    cutoff = first.params.cutoff_len
    columns = {"all": first, f"len<={cutoff}": first.up_to(cutoff)}
    columns, differences = {title: s for title, s in columns.items() if s.valid}, []
    if others:
        common = on_common_sentences([*systems.values()])
        columns, scored = dict(zip(systems, common, strict=True)), len(common[0].per_sentence)
        if not scored:
            raise RnngError("no sentence can be scored for every system: do their words differ?")
        differences = pairs_of(columns, lambda *two: f1_difference(*two)._asdict())
    problems_of = {
        name: [
            {"sentence": n, "status": s.status.name.lower(), "problem": s.problem}
            for n, s in scores.unscorable
        ]
        for name, scores in systems.items()
    }
    if form == ".json":
        figures = {title: _figures(scores) for title, scores in columns.items()}
        content = {"figures": figures, "differences": differences, "not_scored": problems_of}
        return indented({"signature": signature, **content})
    some = f"Figures are of the {scored} of {total} sentences that all systems have\n\n"
    shown = _table(columns) if columns else "No sentence can be scored\n"
    lines = [some * (scored < total), shown, "\n" * bool(differences)]
    lines += map(_difference_line, differences)
    for name, problems in problems_of.items():
        if problems:
            system = f" of {name}" * bool(others)
            lines.append(f"\nNot scored{system} ({len(problems)} of {total}):\n")
            lines += ("  sentence {sentence}: {status}, {problem}\n".format(**x) for x in problems)
    return "".join(lines)


def _difference_line(pair: Mapping[str, Any]) -> str:
    interval = "95 %: {low:+.2f} to {high:+.2f}" if pair["low"] == pair["low"] else "no interval"
    test = "p = {p:.4f}, by Holm {p_holm:.4f}" if pair["p"] == pair["p"] else f"no p: {TOO_FEW}"
    return f"F1 of {{second}} less {{first}}: {{value:+.2f}} ({interval}, {test})\n".format(**pair)


def _table(columns: Mapping[str, Scores]) -> str:
    """Return a table for people (percent; crossing per sentence); columns have titles."""
    figures = [scores.figures() for scores in columns.values()]
    rows = [("", *columns)]
    for name in figures[0]:
        title = name.replace("_", " ").capitalize()
        values = [row[name] for row in figures]
        rows.append((title, *(f"{x:d}" if isinstance(x, int) else f"{x:.2f}" for x in values)))
    return aligned(rows)


def _figures(scores: Scores) -> dict[str, float]:
    brackets = ("matched", "gold", "system", "crossing")
    totals = {f"{name}_brackets": scores.total(name) for name in brackets}
    totals |= {name: scores.total(name) for name in ("words", "correct_tags")}
    return scores.figures() | totals
