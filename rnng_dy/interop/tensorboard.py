"""Logs of trainings as event files of TensorBoard; needs only the package `tensorboard`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from oracle.errors import RnngError
from rnng_dy.runs import EVALUATION, PROGRESS, Record, Run, number_of

SUFFIX = ".rnng_dy"
"""Suffix of this project's files; other files in the folder are left alone."""
SCALARS = {
    PROGRESS: {"loss_per_word": "train", "learning_rate": "train", "clipped": "train"},
    EVALUATION: {"f1": "dev", "recall": "dev", "precision": "dev", "perplexity": "dev"},
}
"""Keys of records by event, with the group that TensorBoard shows them in."""


class EventFiles:
    """A folder with a subfolder of events per run; steps are counted in sentences.

    Times of events are the run's last write minus the seconds of training between the record and the last one.
    """

    def __init__(self, folder: Path):
        """Make the folder. Raises RnngError if `tensorboard` is not installed, OSError if the folder cannot be made."""
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer import event_file_writer
        except ImportError as error:
            raise RnngError(
                f"TensorBoard's files need its package ({error}): pip install tensorboard"
            ) from None
        self._event, self._summary, self._writer = event_pb2, summary_pb2, event_file_writer
        self._folder = folder
        self._written: dict[str, list[Record]] = {}
        self._writers: dict[str, object] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, runs: Sequence[Run]) -> None:
        """Append new records; if a log has changed otherwise, write it again."""
        for run in runs:
            records, written = list(run.records), self._written.get(run.name)
            if written is None or records[: len(written)] != written:
                self._begin(run.name)
                written = []
            writer = self._writers[run.name]
            for record in records[len(written) :]:
                began = run.heard - number_of(records[-1], "seconds")
                writer.add_event(self._event_of(record, began))
            writer.flush()
            self._written[run.name] = records

    def _begin(self, name: str) -> None:
        """Open a new event file for a run, after removing its older ones."""
        # a name may be an absolute path, if only that is distinct
        folder = self._folder / name.lstrip("/")
        if name in self._writers:
            self._writers[name].close()
        for old in folder.glob(f"events.out.tfevents.*{SUFFIX}"):
            old.unlink()
        self._writers[name] = self._writer.EventFileWriter(str(folder), filename_suffix=SUFFIX)

    def _event_of(self, record: Record, began: float):
        values = [
            self._summary.Summary.Value(tag=tag, simple_value=value)
            for tag, value in _scalars(record)
        ]
        return self._event.Event(
            wall_time=began + number_of(record, "seconds"),
            step=int(number_of(record, "sentences")),
            summary=self._summary.Summary(value=values),
        )


def _scalars(record: Record) -> Iterator[tuple[str, float]]:
    """Yield tags and values of a record."""
    for key, group in SCALARS.get(record["event"], {}).items():
        if key in record:
            yield f"{group}/{key}", number_of(record, key)
