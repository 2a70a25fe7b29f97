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


def test_the_benchmark_measures_a_command_alone_and_beside_another_checkout(tmp_path):
    [[name, processor, wall, memory, ratio]] = rows(benchmark(tmp_path, "--only", "parse"))
    assert (name, ratio) == ("parse", "")
    assert float(memory) > 50 > abs(float(processor)) + abs(float(wall))
    other = tmp_path / "other"
    other.mkdir()
    for package in ("rnng_dy", "oracle", "clusters"):
        (other / package).symlink_to(CHECKOUT / package)
    [[*_, memory, ratio]] = rows(benchmark(tmp_path, other, "--only", "score"))
    assert float(memory) > 50 and float(ratio)
    (other / "rnng_dy").unlink()
    (other / "rnng_dy").mkdir()
    (other / "rnng_dy" / "__init__.py").write_text("raise SystemExit('no DyNet')")
    assert "no DyNet" in benchmark(tmp_path, other, code=1).stderr


def test_the_page_of_faithfulness_is_written_anew(shared):
    """Its numbers depend on the processor, but not its rows."""
    written = run(CHECKOUT, command=(sys.executable, "scripts/faithfulness")).stdout
    page = (CHECKOUT / "docs" / "faithfulness.md").read_text(encoding="utf-8")

    def cells(text):
        return [line.rpartition("| ")[0] for line in text.splitlines() if line.startswith("|")]

    assert cells(written) == cells(page)
