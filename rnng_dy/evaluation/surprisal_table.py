"""Word-by-word measures as text: a table, JSON, and the partial trees in the beam."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from oracle.files import one_line
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy.evaluation.records import (
    ALL_MEASURES,
    END,
    MEASURES,
    WordRecord,
    one_word,
    tokens_so_far,
)
from rnng_dy.evaluation.tables import TSV, joined

PLACE = ("sentence_id", "token_id", "token", "unk", "known")
"""The first columns of every table."""


def header(
    columns: Iterable[str] = MEASURES, style: str = TSV, place: Sequence[str] = PLACE
) -> str:
    r"""Return the first line of a table; `columns` are the measures that the kind of model and search provides.

    >>> header(["surprisal"]).split("\t")
    ['sentence_id', 'token_id', 'token', 'unk', 'known', 'surprisal']
    """
    return joined((*place, *_in_order(columns)), style)


def line(
    record: WordRecord,
    sentence_id: int,
    token_id: object,
    columns: Iterable[str] = MEASURES,
    style: str = TSV,
    before: Sequence[str] = (),
) -> str:
    """Return the line of a record, with as many columns as the header; `before` are the cells before PLACE.

    `known` is 1 for a word that the model knows, else 0. Bits have six digits after the point, or are `inf`. Cells of
    unavailable measures are empty. The end of a sentence has the token `</s>`. `one_word` escapes white space
    and control characters in a token.
    """
    token = END if record.token is None else one_word(record.token)
    unk = "" if record.unk is None else one_word(record.unk)
    place = (str(sentence_id), str(token_id), token, unk, _cell(record.known))
    return measured_line((*before, *place), record, columns, style)


def measured_line(
    place: Sequence[str], record: WordRecord, columns: Iterable[str], style: str
) -> str:
    """Return a line of cells that say where a record belongs, and of its measures."""
    return joined((*place, *(_cell(getattr(record, name)) for name in _in_order(columns))), style)


def json_line(
    records: Sequence[WordRecord],
    sentence_id: int,
    columns: Iterable[str] = MEASURES,
    transitions: TransitionSystem = TOP_DOWN,
    fields: Sequence[Mapping[str, str]] = (),
) -> str:
    """Return a sentence as a JSON object on one line: `sentence_id`, and `words`, a list.

    A word has its `fields`, and the table's columns by name, with tokens unescaped (null at the end of the sentence).
    It may have a `beam`: `log_prob` in nats, the `tree` so far in brackets, and its `actions`. JSON has no infinity: an
    infinite surprisal is null with `"infinite": true`; a missing measure is only null.
    """
    words = [
        {**of_word, **json_word(records, i, columns, transitions)}
        for i, of_word in enumerate(fields or [{}] * len(records))
    ]
    return one_line({"sentence_id": sentence_id, "words": words})


def beam_lines(
    records: Sequence[WordRecord], sentence_id: int, transitions: TransitionSystem = TOP_DOWN
) -> Iterator[str]:
    """Yield, for each word, the line `word SENTENCE TOKEN word` and its partial trees, best first.

    A partial tree has its rank, log probability in nats with nine digits, and brackets. Open constituents have no
    closing bracket.
    """
    for i, record in enumerate(records):
        token = END if record.token is None else one_word(record.token)
        yield f"word {sentence_id} {i + 1} {token}"
        words = tokens_so_far(records, i + 1)
        for rank, analysis in enumerate(record.beam, 1):
            tree = transitions.partial_brackets(analysis.actions, words)
            yield f"{rank} {analysis.log_prob:.9g} {tree}"


def _in_order(columns: Iterable[str]) -> list[str]:
    wanted = set(columns)
    if unknown := wanted.difference(ALL_MEASURES):
        raise ValueError(f"no measures: {sorted(unknown)}")
    return [name for name in ALL_MEASURES if name in wanted]


def _cell(value: float | int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(int(value))
    # adding 0.0 removes the sign of a negative zero
    return f"{round(value, 6) + 0.0:.6f}" if math.isfinite(value) else str(value)


def json_word(
    records: Sequence[WordRecord],
    index: int,
    columns: Iterable[str],
    transitions: TransitionSystem = TOP_DOWN,
) -> dict[str, object]:
    """Return a word of `json_line`; `records` are those of its sentence, at least up to the word."""
    record = records[index]
    word: dict[str, object] = {
        "token_id": index + 1,
        "token": record.token,
        "unk": record.unk,
        "known": record.known,
    }
    word |= {name: getattr(record, name) for name in _in_order(columns)}
    if math.isinf(record.surprisal):
        word["infinite"] = True
    if record.beam:
        words = tokens_so_far(records, index + 1)
        word["beam"] = [
            {
                "log_prob": analysis.log_prob,
                "tree": transitions.partial_brackets(analysis.actions, words),
                "actions": list(analysis.actions),
            }
            for analysis in record.beam
        ]
    return word
