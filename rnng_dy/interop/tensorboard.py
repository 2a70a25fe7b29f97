"""Logs of trainings as event files of TensorBoard, by the package `tensorboard` alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from oracle.errors import RnngError
from rnng_dy.runs import EVALUATION, PROGRESS, Record, Run, number_of

SUFFIX = ".rnng_dy"
"""Of our files: others in the folder are left alone."""
SCALARS = {
    PROGRESS: {"loss_per_word": "train", "learning_rate": "train", "clipped": "train"},
    EVALUATION: {"f1": "dev", "recall": "dev", "precision": "dev", "perplexity": "dev"},
}
"""By event: keys of its records, and the group that TensorBoard shows them in."""


class EventFiles:
    """A folder with a folder of events for each run, steps counted in sentences.

    Times are the seconds of training before the last record was written.
    """

    def __init__(self, folder: Path):
        """Raises RnngError where `tensorboard` is not installed, OSError where there can be no such folder."""
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
        """Add the records that are new; a log that has changed otherwise is written anew."""
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
        """Open an event file for a run, in the place of those that were there."""
        # the whole path of a folder, where only that tells it from another
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
    """Tags and values of a record."""
    for key, group in SCALARS.get(record["event"], {}).items():
        if key in record:
            yield f"{group}/{key}", number_of(record, key)
