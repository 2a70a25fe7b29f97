"""Scripts run, on the package's own trees where NLTK's sample is not there."""

from __future__ import annotations

import shutil
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


ORIGINAL = """cmake_minimum_required(VERSION 2.8 FATAL_ERROR)
project(cnn)
set(CMAKE_CXX_FLAGS "-Wall -std=c++11 -O3 -g")
add_subdirectory(nt-parser)
"""
# it trains as the original does: on a file that can be read, with a line for each 100 sentences
PROGRAM = r"""
#include <fstream>
#include <iostream>
#include <string>
int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string option = argv[i];
    const bool is_file = option == "-T" || option == "-d" || option == "-C" || option == "--clusters";
    if (is_file && std::ifstream(argv[i + 1]).peek() == EOF) return 3;
  }
  for (int n = 0; n < 9; ++n)
    std::cerr << "update #" << n << " (epoch 0.1) per-action-ppl: 2 err: 0.5 [" << 20 + n << ".5ms per instance]\n";
  return 4;
}
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is missing")
def test_the_benchmark_builds_the_original_and_trains_beside_it(tmp_path):
    """A program that is built, called and heard like the original."""
    programs = tmp_path / "original" / "nt-parser"
    programs.mkdir(parents=True)
    (tmp_path / "original" / "CMakeLists.txt").write_text(ORIGINAL)
    targets = [f"add_executable({name} program.cc)\n" for name in ("nt-parser", "nt-parser-gen")]
    (programs / "CMakeLists.txt").write_text("".join(targets))
    (programs / "program.cc").write_text(PROGRAM)
    arguments = ("--original", programs.parent, "--only", "train generative --batch-size 1")
    found = rows(benchmark(tmp_path, *arguments))
    assert len(found) == 3
    for _, original, ours, _, ratio in found:
        assert float(original) == 21.5
        assert float(ratio) == pytest.approx(21.5 / float(ours), abs=0.06, rel=0.05)


def test_the_small_treebank_is_drawn_anew():
    printed = run(CHECKOUT, command=(str(CHECKOUT / "scripts" / "make_tiny_treebank"),)).stdout
    assert printed == (CHECKOUT / "oracle/data/tiny.trees").read_text(encoding="utf-8")
