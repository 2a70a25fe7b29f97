"""Logs of trainings."""

from __future__ import annotations

import pytest

from oracle.errors import InputError
from rnng_dy.training.log import EVALUATION, PROGRESS, append_record, evaluations


@pytest.mark.parametrize("line", ["", "{", "[1]", "7", '{"f1": 3}', "[" * 100_000, "\ufffd"])
def test_a_damaged_line_is_named(tmp_path, line):
    append_record(tmp_path, {"event": PROGRESS})
    append_record(tmp_path, {"event": EVALUATION, "f1": 1.5})
    log = tmp_path / "log.jsonl"
    assert evaluations(log) == [{"event": EVALUATION, "f1": 1.5}]
    log.write_text(f"{log.read_text()}{line}\n" + log.read_text(), encoding="utf-8")
    with pytest.raises(InputError, match=r"log\.jsonl:3: no record of a training"):
        evaluations(log)
