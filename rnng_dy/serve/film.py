"""The beam word by word, and samples action by action, as frames that the page's script shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from oracle.brackets import parse_line
from oracle.transitions import SHIFT, TransitionSystem
from oracle.treebank import words
from rnng_dy.drawing.surprisal_page import percent, shares
from rnng_dy.drawing.words import visible
from rnng_dy.evaluation.records import END, Analysis, WordRecord, tokens_so_far

SHOWN = 10
"""The most partial trees of a frame."""


def frames(records: Sequence[WordRecord], transitions: TransitionSystem) -> list[dict[str, Any]]:
    """Return a frame per word: its partial trees, their shares, and the further course of each one.

    A partial tree dies at the first word that no partial tree of the beam reaches from it. Otherwise the
    frame has the share of those in the last beam to which it leads. A frame also has the probability, before the word,
    of the partial trees that died at it.
    """
    reached = [i for i, record in enumerate(records) if record.beam]
    beams = [records[i].beam for i in reached]
    fates = _fates(beams)
    found, before = [], []
    for i, place in enumerate(reached):
        record, tokens = records[place], tokens_so_far(records, place + 1)
        of_beam = shares([analysis.log_prob for analysis in record.beam])
        died = [share for share, fate in zip(before, fates[i - 1], strict=False) if fate.dies == i]
        trees = [
            {
                "text": visible(transitions.partial_brackets(analysis.actions, tokens)),
                "share": share,
                "said": percent(share),
                "dies": None if fate.dies is None else _word(records[reached[fate.dies]]),
                "last": percent(fate.last),
            }
            for analysis, share, fate in zip(record.beam, of_beam, fates[i], strict=True)
        ]
        found.append(
            {
                "word": _word(record),
                "bits": f"{record.surprisal:.1f}",
                "trees": trees[:SHOWN],
                "died": f"{len(died)} of {len(before)}" if died else "",
                "had": percent(sum(died)),
            }
        )
        before = of_beam
    return found


def growth(brackets: str, transitions: TransitionSystem) -> list[str]:
    """Return the partial trees of a tree, one after each action."""
    tree = parse_line(brackets)
    actions, tokens = transitions.actions_of(tree, True), words(tree)
    shift, found, taken = transitions.structural[SHIFT], [], 0
    for i, action in enumerate(actions, 1):
        taken += action == shift
        found.append(visible(transitions.partial_brackets(actions[:i], tokens[:taken])))
    return found


def _word(record: WordRecord) -> str:
    return visible(END if record.token is None else record.token)


class _Fate(NamedTuple):
    """The further course of a partial tree."""

    dies: int | None
    """Number of the word at which it dies; None for a survivor."""
    last: float
    """Share, in the last beam, of the partial trees that it leads to."""


def _fates(beams: Sequence[Sequence[Analysis]]) -> list[list[_Fate]]:
    """Return the fate of each partial tree of each word."""
    found: list[list[_Fate]] = []
    for i, beam in reversed(list(enumerate(beams))):
        if not found:
            of_last = shares([analysis.log_prob for analysis in beam])
            found.append([_Fate(None, share) for share in of_last])
            continue
        after = list(zip(beams[i + 1], found[0], strict=True))
        found.insert(0, [_fate(tuple(analysis.actions), after, i + 1) for analysis in beam])
    return found


def _fate(actions: tuple[str, ...], after: Sequence[tuple[Analysis, _Fate]], number: int) -> _Fate:
    """Return the fate of a partial tree from those of the partial trees after the next word, which has a number."""
    successors = [fate for x, fate in after if tuple(x.actions[: len(actions)]) == actions]
    ends = [fate.dies for fate in successors]
    died = None if None in ends else max(filter(None, ends), default=number)
    return _Fate(died, sum(fate.last for fate in successors))
