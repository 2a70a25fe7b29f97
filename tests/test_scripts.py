"""Scripts run, on the package's own trees where NLTK's sample is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .commands import run

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).resolve().parent.parent


def benchmark(folder, *arguments, code=0):
    environment = {"PATH": "/usr/bin:/bin", "NLTK_DATA": str(folder), "PYTHONPATH": str(CHECKOUT)}
    command = (sys.executable, "-m", "scripts.benchmark", "--turns", 1, "--sentences", 12)
    return run(folder, *arguments, command=command, env=environment, code=code)


def rows(done):
    table = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[1:]]


def test_the_benchmark_measures_a_command_beside_other_programs_and_as_its_work_grows(tmp_path):
    peers = tmp_path / "peers"
    peers.mkdir()
    peer = peers / "other-program"
    peer.write_text('#!/bin/sh\n[ "$1" = prepare ] && echo parse > rows\ntest -f parsed.oracle\n')
    peer.chmod(0o755)
    table = rows(benchmark(tmp_path, "--only", "parse", "--peers", peers))
    assert [row[:2] for row in table] == [
        ["parse", CHECKOUT.name],
        ["parse", "other-program"],
        *(["parse, in processes", place] for place in ("one process", "two", "Dask")),
        *(["parse, a word by length", length] for length in ("10", "100")),
    ]
    processor, wall, memory, of_part, *ratios = map(float, table[0][2:])
    assert memory > 50 > abs(processor) + abs(wall) and of_part > 50 and ratios == [1, 1]


def test_the_benchmark_measures_a_command_beside_another_checkout(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for package in ("rnng_dy", "oracle", "clusters"):
        (other / package).symlink_to(CHECKOUT / package)
    [[_, first, *_], [*_, ratio, _]] = rows(benchmark(tmp_path, other, "--only", "score"))
    assert first == "other" and float(ratio)
    (other / "rnng_dy").unlink()
    (other / "rnng_dy").mkdir()
    (other / "rnng_dy" / "__init__.py").write_text("raise SystemExit('no DyNet')")
    assert "no DyNet" in benchmark(tmp_path, other, "--only", "score", code=1).stderr


def test_the_page_of_faithfulness_is_written_anew(shared):
    """Its numbers depend on the processor, but not its rows."""
    written = run(CHECKOUT, command=(sys.executable, "scripts/faithfulness")).stdout
    page = (CHECKOUT / "docs" / "faithfulness.md").read_text(encoding="utf-8")

    def cells(text):
        return [line.rpartition("| ")[0] for line in text.splitlines() if line.startswith("|")]

    assert cells(written) == cells(page)
