"""Lines that an output is made of when all are there."""

from __future__ import annotations

import pytest

from rnng_dy.cli.progress import Progress
from rnng_dy.execution.outputs import write_batches

BATCHES = [[1, 2], [3], [4, 5]]


def gathered(lines_of, output, key, resume):
    found = []

    def make(kept):
        found.extend(kept.read_text().splitlines())

    write_batches(BATCHES, lines_of, output, key, resume, Progress("squares", 5), make)
    return found


def squares(batches):
    for batch in batches:
        yield [str(x * x) for x in batch]


def stopped(batches):
    yield from squares(batches[:1])
    raise KeyboardInterrupt


@pytest.mark.parametrize("output", ["/dev/null", "-", "out"])
def test_all_lines_are_gathered_and_nothing_is_left_behind(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    found = gathered(squares, output, "key", resume=False)
    assert found == ["1", "4", "9", "16", "25"]
    assert not list(tmp_path.iterdir())


def test_what_a_stopped_run_has_found_is_gone_on_with(tmp_path):
    output, asked = str(tmp_path / "out"), []

    def counted(batches):
        asked.extend(batches)
        yield from squares(batches)

    for resume, key, left in ((True, "key", 2), (True, "other key", 3), (False, "key", 3)):
        with pytest.raises(KeyboardInterrupt, match="--resume continues"):
            gathered(stopped, output, "key", resume=False)
        asked.clear()
        found = gathered(counted, output, key, resume)
        assert found == ["1", "4", "9", "16", "25"]
        assert asked == BATCHES[-left:]
