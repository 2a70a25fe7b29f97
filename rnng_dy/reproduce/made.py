"""The report of a reproduction, with the commands and versions that made its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oracle.errors import RnngError
from rnng_dy.reproduce import report, results
from rnng_dy.reproduce.plan import OPTIONAL, Experiment, Stage
from rnng_dy.reproduce.runner import Runner
from rnng_dy.training.provenance import versions


def make_report(
    folder: Path, experiment: Experiment, runner: Runner, planned: Sequence[Stage]
) -> list[Path]:
    """Write the report of the finished stages and return its files. Raises RnngError if a required stage is missing."""
    not_run = {stage.name: stage for stage in planned if not runner.is_done(stage)}
    missing = next((stage for stage in not_run.values() if stage.group not in OPTIONAL), None)
    if missing:
        raise RnngError(
            f"no report without the stage `{missing.name}`: run with --stages data,train,infer,report"
        )
    found = results.collect(folder, experiment, not_run)
    found["made"] = {
        "versions": versions(),
        "stages": [
            {
                "name": stage.name,
                "command": " ".join(stage.command),
                **runner.last_run(stage),
            }
            for stage in planned
            if stage.name not in not_run
        ],
    }
    return report.write(folder, found)
