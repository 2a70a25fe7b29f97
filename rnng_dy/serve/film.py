"""The beam word by word, and samples action by action, as frames that the page's script shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.brackets import parse_line
from oracle.transitions import SHIFT, TransitionSystem
from oracle.treebank import words
from rnng_dy.drawing.surprisal_page import percent, shares
from rnng_dy.drawing.words import visible
from rnng_dy.evaluation.records import END, Analysis, WordRecord, tokens_so_far

SHOWN = 10
"""The most partial trees of a frame."""


def frames(records: Sequence[WordRecord], transitions: TransitionSystem) -> list[dict[str, Any]]:
    """Return a frame per word: its partial trees, their shares, and the word at which each one dies.

    A partial tree dies at the first word that no partial tree of the beam reaches from it. A frame also says how much
    probability the partial trees had, before the word, that died at it.
    """
    reached = [i for i, record in enumerate(records) if record.beam]
    ends = _ends([records[i].beam for i in reached])
    found, before = [], []
    for i, place in enumerate(reached):
        record, tokens = records[place], tokens_so_far(records, place + 1)
        of_beam = shares([analysis.log_prob for analysis in record.beam])
        died = [share for share, end in zip(before, ends[i - 1], strict=False) if end == i]
        trees = [
            {
                "text": visible(transitions.partial_brackets(analysis.actions, tokens)),
                "share": share,
                "said": percent(share),
                "dies": None if end is None else _word(records[reached[end]]),
            }
            for analysis, share, end in zip(record.beam, of_beam, ends[i], strict=True)
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


def _ends(beams: Sequence[Sequence[Analysis]]) -> list[list[int | None]]:
    """Return the number of the word at which each partial tree of each word dies; None for a survivor."""
    ends: list[list[int | None]] = [[None] * len(beam) for beam in beams]
    for i in reversed(range(len(beams) - 1)):
        for j, analysis in enumerate(beams[i]):
            length, actions = len(analysis.actions), tuple(analysis.actions)
            of_successors = [
                end
                for after, end in zip(beams[i + 1], ends[i + 1], strict=True)
                if tuple(after.actions[:length]) == actions
            ]
            if not of_successors:
                ends[i][j] = i + 1
            elif None not in of_successors:
                ends[i][j] = max(of_successors)
    return ends
