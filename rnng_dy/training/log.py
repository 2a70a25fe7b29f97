"""The log of a training, log.jsonl in its model folder: a JSON object per line, in the order of training."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from oracle.files import one_line, replacing

LOG = "log.jsonl"
EVALUATION, PROGRESS, LEFT_OUT, ENDED_EARLY = "evaluation", "progress", "left_out", "ended_early"
"""Events of records. `ended_early` is the last record of a training that patience ended."""

Record = Mapping[str, Any]


def append_record(folder: Path, record: Record) -> None:
    """Append a record to a model folder's log."""
    with open(folder / LOG, "a", encoding="utf-8") as stream:
        stream.write(one_line(record) + "\n")


def described(record: Mapping[str, Any], of_evaluation: Callable[[Record], str]) -> str:
    """Return a record as a readable line; `of_evaluation` describes the scores of an evaluation."""
    place = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences: "
    if record["event"] == EVALUATION:
        return f"{place}{of_evaluation(record)}{' (best)' if record['is_best'] else ''}"
    if record["event"] == ENDED_EARLY:
        return f"{place}no new best in {record['patience']} evaluations: training ends here (--patience)"
    if record["event"] == LEFT_OUT:
        return (
            f"{place}a sentence of {record['words']} words does not fit into memory and is left out; "
            f"{record['left_out']} left out so far"
        )
    return (
        f"{place}{record['loss_per_word']:.4f} nats/word, {record['sentences_per_second']:.1f} sentences/s, "
        f"learning rate {record['learning_rate']:.4f}, {record['clipped']:.0%} of updates clipped, "
        f"{timedelta(seconds=round(record['seconds_left']))} left"
    )


def cut(folder: Path, sentences: int, evaluated: int) -> None:
    """Remove the records that a killed run wrote after its last training state, and the record of an early end.

    The state was saved after `sentences` sentences, and its last evaluation was after `evaluated` ones.
    """
    path = folder / LOG
    if not path.exists():
        return
    kept = []
    for line in path.read_bytes().decode("utf-8", "replace").split("\n"):
        try:
            record = json.loads(line)
            # the final evaluation may come after a training state of the same number of sentences
            last = evaluated if record["event"] == EVALUATION else sentences
            # a run that ends at the same place again writes the record again
            if record["sentences"] <= last and record["event"] != ENDED_EARLY:
                kept.append(line)
        except (KeyError, TypeError, ValueError, RecursionError):
            break  # the killed run was writing this line, or another program changed it
    with replacing(path) as stream:
        stream.writelines(f"{line}\n" for line in kept)
