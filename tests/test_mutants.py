"""`scripts.mutants` notices what tests notice, in copies of the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.mutants.changes import Mutant, mutants_of
from scripts.mutants.runs import chosen

CHECKOUT = Path(__file__).resolve().parents[1]
MUTANTS = [sys.executable, "-m", "scripts.mutants"]
MODULE = """
def larger(a: int, b: int = 2) -> int:
    return a if a > b else b
"""
# the second one notices by a process of its own
TESTS = """
import subprocess, sys
from pack.larger import larger

def test_equal():
    assert larger(1, 1) == 1

def test_in_a_process():
    program = "from pack.larger import larger; print(larger(3))"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"3\\n"
"""
FAILS = "def test_that_never_passes(): assert False\n"


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    files = {"pack/larger.py": MODULE, "tests/test_larger.py": TESTS, "tests/test_fails.py": FAILS}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)
    return folder


def mutants(checkout, *arguments, code=0):
    command = [*MUTANTS, "pack", "--checkout", str(checkout), "--out", "found.jsonl", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    environment["RNNG_DY_SHARED"] = "." if code == 0 else ""
    done = subprocess.run(
        command, cwd=checkout.parent, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_change_that_a_test_notices_is_killed_and_an_equal_program_survives(checkout):
    done = mutants(checkout)
    lines = (checkout.parent / "found.jsonl").read_text().splitlines()
    found = {(r["kind"], r["after"]): r["result"] for r in map(json.loads, lines)}
    assert found == {
        ("comparison", "(a >= b)"): "survived",
        ("condition", "(not a > b)"): "killed",
        ("constant", "(3)"): "survived",
    }
    assert done.stdout.splitlines()[1:3] == [
        f"{n:24}{3:11}{1:11}{0:11}{2:11}" for n in ("pack", "all")
    ]
    assert "pack/larger.py:3: comparison: a > b -> (a >= b)" in done.stdout
    assert "tests/test_fails.py does not pass and is left out" in done.stderr
    assert (checkout / "pack" / "larger.py").read_text() == MODULE
    # what is done is not done again, and a better test is asked again
    assert "0 to try" in mutants(checkout).stderr
    (checkout / "tests" / "test_larger.py").write_text(TESTS + "    assert larger(1) == 2\n")
    again = mutants(checkout, "--again")
    assert "2 to try" in again.stderr
    assert again.stdout.splitlines()[2].split() == ["all", "3", "2", "0", "1"]


def test_the_reference_data_is_asked_for(checkout):
    assert "RNNG_DY_SHARED" in mutants(checkout, code=2).stderr


def test_every_kind_of_change_gives_a_program(tmp_path):
    source = """
@cache(1)
def f(x: Literal[2], y=-3) -> Literal[4]:
    if TYPE_CHECKING: x = 5
    x += "ä"; x += 1.5
    call(x, f"{6}", strict=True)
    if a and min(x): raise Error(7)
    return [n for n in x if n]
"""
    (tmp_path / "m.py").write_text(source, encoding="utf-8")
    found = set()
    for mutant in mutants_of(tmp_path, "m.py"):
        compile(mutant.applied(source.encode()), "m.py", "exec")
        found.add((mutant.line, mutant.kind, mutant.before, mutant.after))
    assert found == {
        (3, "sign", "-3", "(3)"),
        (3, "constant", "3", "(4)"),
        (5, "arithmetic", "x += 1.5", "x -= 1.5"),
        (5, "constant", "1.5", "(3.0)"),
        (6, "call left out", 'call(x, f"{6}", strict=True)', "pass"),
        (7, "and, or", "a and min(x)", "(a or min(x))"),
        (7, "condition", "a and min(x)", "(not (a and min(x)))"),
        (7, "function", "min(x)", "(max(x))"),
        (8, "condition", "n", "(not n)"),
    }


def recorded(test, seconds, lines, module="a/b/m.py"):
    return {"test": test, "seconds": seconds, "lines": {module: lines}}


def test_tests_of_the_room_come_first_then_the_quickest_and_no_more_than_there_is_time_for():
    records = [
        recorded("tests/test_quick.py", 1, [7, 8]),
        recorded("tests/a/b/test_slow.py", 5, [6, 7]),
        recorded("tests/a/b/test_other.py", 1, [5]),
        recorded("tests/a/test_long.py", 9, [7]),
        recorded("tests/a/test_none.py", 1, [7], "a/n.py"),
    ]

    def names(line, seconds):
        mutant = Mutant("a/b/m.py", "", line, line + 1, "constant", 0, 1, "1", "2")
        some, left_out = chosen(mutant, records, seconds)
        return [Path(r["test"]).stem for r in some], left_out

    assert names(7, 20) == (["test_slow", "test_quick", "test_long"], 0)
    assert names(7, 6) == (["test_slow", "test_quick"], 1)
    assert names(7, 1) == (["test_slow"], 2)
    # nothing is seen to run the line
    assert names(20, 20) == (["test_other", "test_slow", "test_quick", "test_long"], 0)
