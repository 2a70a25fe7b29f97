"""The scripts that measure run, on the package's own trees where NLTK's sample is not there."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .commands import run

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).resolve().parent.parent


def lines_of(folder, benchmark, *arguments):
    environment = {"PATH": "/usr/bin:/bin", "NLTK_DATA": str(folder), "PYTHONPATH": str(CHECKOUT)}
    command = (sys.executable, "-m", "scripts.benchmarks", benchmark)
    return run(folder, *arguments, command=command, env=environment).stdout.splitlines()


def test_profile(tmp_path):
    arguments = ("generative", "--sentences", "6", "--batch-size", "3")
    lines = lines_of(tmp_path, "profile", *arguments)
    shares = [float(line.split()[-1][:-1]) for line in lines[2:9]]
    assert abs(sum(shares[:-1]) - 100) < 0.5
    assert shares[-1] == 100
    assert any(line.startswith("BWD coupled_lstm_forest") for line in lines)


def test_the_benchmark_of_models_measures_everything_and_compares(tmp_path):
    old = {"parse": {"per_second": 2.0}, "gone": {"per_second": 1.0}}
    (tmp_path / "old.json").write_text(json.dumps({"rows": old}))
    lines = lines_of(tmp_path, "models", "--tiny", "--compare", "old.json")
    rows = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert {name.split()[0] for name in rows} == {"train", "parse", "sample", "surprisal,", "score"}
    for row in rows.values():
        assert set(row) == {"per_second", "us_per_state", "peak_mb"}
        assert all(value > 0 for value in row.values())
    [parse] = (line.split() for line in lines if line.startswith("parse "))
    assert float(parse[-1]) == pytest.approx(rows["parse"]["per_second"] / 2, abs=0.006)
    assert len(lines) == 2 + len(rows)


def test_the_benchmark_of_growth_draws_each_curve_with_its_exponent(tmp_path):
    lines = lines_of(tmp_path, "growth", "--tiny", "-o", "drawn.svg")
    fitted = dict(line.split(" exponent ") for line in lines if " exponent " in line)
    assert len(fitted) == 9
    drawn = ElementTree.parse(tmp_path / "drawn.svg").getroot()
    tag = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in drawn.iter(f"{tag}text") if "exponent" in text.text]
    names = {name.split(",")[0].strip() for name in fitted}
    assert [float(text.split()[-1]) for text in texts] == [
        float(slope) for slope in fitted.values()
    ]
    assert {text.split(":")[0] for text in texts} == names
    points = [title.text for circle in drawn.iter(f"{tag}circle") for title in circle]
    assert len(points) == 2 * len(fitted)


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_the_benchmark_of_systems_has_a_row_for_each_part_of_a_system(tmp_path, kind):
    rows = lines_of(tmp_path, "systems", kind, "--turns", "1")[2:]
    names = [row[:40].split(", ") for row in rows]
    assert len(names) == 9 and len(names[0]) == 3
    assert rows[0].startswith("corrected, full, top-down ") and rows[0].split()[4] == "1.00"
    for part in ("buggy", "gated-attention", "stack", "history", "in-order"):
        assert any(part in (cell.strip() for cell in name) for name in names), part
    assert all(float(cell) > 0 for row in rows for cell in row.split()[3:])


def test_the_benchmark_of_mpi_measures_ranks_and_predicts_more(tmp_path):
    lines = lines_of(tmp_path, "mpi", "--tiny", "--rounds", "1")
    [ranks] = (line for line in lines if line.startswith("  2 ranks, TCP"))
    assert all(float(figure) > 0 for figure in ranks.split()[3:])
    speeds = [float(line.split()[2]) for line in lines if "sentences/s, " in line and "%" in line]
    assert len(speeds) == 5
    assert speeds == sorted(speeds)


def test_the_benchmark_of_clusters_measures_a_corpus(tmp_path):
    (tmp_path / "corpus").write_text("a b c d\na b c e\n" * 20)
    head, row = lines_of(tmp_path, "clusters", "corpus", "--classes", "3")
    assert head.startswith("   types      tokens      pairs  classes")
    assert row.split()[:2] == ["5", "160"] and row.split()[3] == "3"


def test_the_benchmark_against_another_checkout_has_ratios(tmp_path):
    other = tmp_path / "other"
    python = other / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # a link would not be the Python of the environment with the packages
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    for package in ("rnng_dy", "oracle", "clusters"):
        (other / package).symlink_to(CHECKOUT / package)
    arguments = (str(other), "--turns", "1", "--only", "score")
    row = lines_of(tmp_path, "against", *arguments)[-1].split()
    assert row[0] == "score" and len(row) == 7
    processor, ratio, *_, memory, of_memory = map(float, row[1:])
    assert processor > 0 and ratio > 0 and memory > 50
    assert of_memory == pytest.approx(1, abs=0.3)


def test_the_benchmark_against_another_checkout_names_a_command_that_fails(tmp_path):
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho no DyNet >&2; exit 3\n")
    python.chmod(0o755)
    command = (sys.executable, "-m", "scripts.benchmarks", "against", str(tmp_path))
    environment = {"PATH": "/usr/bin:/bin", "NLTK_DATA": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    failed = run(tmp_path, command=command, env=environment, code=1)
    assert "exit code 3" in failed.stderr and "no DyNet" in failed.stderr


def test_the_benchmark_against_a_folder_without_environment_says_what_to_do(tmp_path):
    command = (sys.executable, "-m", "scripts.benchmarks", "against", str(tmp_path))
    refused = run(tmp_path, command=command, env={"PYTHONPATH": str(CHECKOUT)}, code=2)
    assert "has no .venv/bin/python: run `make setup` there" in " ".join(refused.stderr.split())


def test_the_page_of_faithfulness_is_written_anew(shared):
    """Its numbers depend on the processor, but not its rows."""
    written = run(CHECKOUT, command=(sys.executable, "scripts/faithfulness")).stdout
    page = (CHECKOUT / "docs" / "faithfulness.md").read_text(encoding="utf-8")

    def rows(text):
        return [line.rpartition("| ")[0] for line in text.splitlines() if line.startswith("|")]

    assert rows(written) == rows(page)


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
  for (int n = 0; n < REPORTS; ++n)
    std::cerr << "update #" << n << " (epoch 0.1) per-action-ppl: 2 err: 0.5 [" << 20 + n << ".5ms per instance]\n";
  return 4;
}
"""


def original_in(folder, reports=9):
    """Write a program that is built, called and heard like the original."""
    programs = folder / "original" / "nt-parser"
    programs.mkdir(parents=True)
    (folder / "original" / "CMakeLists.txt").write_text(ORIGINAL)
    names = ("nt-parser", "nt-parser-gen")
    targets = [f"add_executable({name} program.cc)" for name in names]
    defined = f"add_definitions(-DREPORTS={reports})"
    (programs / "CMakeLists.txt").write_text("\n".join([defined, *targets]) + "\n")
    (programs / "program.cc").write_text(PROGRAM)
    return str(folder / "original")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is missing")
def test_the_benchmark_beside_the_original_builds_and_hears_it(tmp_path):
    arguments = (original_in(tmp_path), "--turns", "1", "--jobs", "2", "--tiny")
    rows = [line.split("|") for line in lines_of(tmp_path, "original", *arguments)[3:]]
    assert len(rows) == 2 * 4
    for original, *ours in (rows[:4], rows[4:]):
        assert float(original[2]) == 21.5
        for row in ours:
            assert float(row[3]) == pytest.approx(21.5 / float(row[2]), abs=0.06)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is missing")
def test_the_benchmark_beside_the_original_says_why_it_fails(tmp_path):
    command = (sys.executable, "-m", "scripts.benchmarks", "original")
    environment = {"PATH": "/usr/bin:/bin", "NLTK_DATA": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    failures = {
        "exit code 4 before 3 reports:": original_in(tmp_path / "short", reports=2),
        "error: #error broken": original_in(tmp_path / "broken"),
        "not compiled with -O3 -march=native": original_in(tmp_path / "slow"),
    }
    with Path(failures["not compiled with -O3 -march=native"], "CMakeLists.txt").open(
        "r+"
    ) as lines:
        lines.write(ORIGINAL.replace("-g", '-g")\nset(CMAKE_CXX_FLAGS_RELEASE "-O2'))
    Path(failures["error: #error broken"], "nt-parser", "program.cc").write_text("#error broken\n")
    for message, checkout in failures.items():
        failed = run(tmp_path, checkout, "--tiny", command=command, env=environment, code=1)
        assert message in failed.stderr and "Traceback" not in failed.stderr


def test_the_small_treebank_is_drawn_anew():
    printed = run(CHECKOUT, command=(str(CHECKOUT / "scripts" / "make_tiny_treebank"),)).stdout
    assert printed == (CHECKOUT / "oracle/data/tiny.trees").read_text(encoding="utf-8")
