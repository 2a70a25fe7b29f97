"""The types of the package, as mypy sees them in a user's program."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest

from . import pages

PROGRAM = """
import rnng_dy
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.evaluation.records import WordRecord


def bits(records: list[WordRecord]) -> float:
    return sum(record.surprisal for record in records)


def main(text: str) -> None:
    parser: rnng_dy.Parser = rnng_dy.train("discriminative", "a.trees", "b.trees", folder="p")
    model = rnng_dy.GenerativeModel.load("generator")
    for tree, records in zip(parser(text), model.surprisals_of(text, SearchOptions(beam=20))):
        print(tree.leaves(), bits(records), records[0].token)
    best, log_q = parser.nbest(["it", "works"], 2)[0]
    print(rnng_dy.load("lm")(text), best, log_q + 1, rnng_dy.LstmLanguageModel.load("lm").surprisals(text)[0].surprisal)
"""


def found_in(folder, program):
    """The complaints of `mypy --strict` about a program: pairs of line number and code."""
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(program, encoding="utf-8")
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-nltk.*]\nignore_missing_imports = True\n", encoding="utf-8"
    )
    # an installed package is searched for types, but nothing in it is reported
    command = (sys.executable, "-m", "mypy", "--follow-imports=silent", "program.py")
    environ = os.environ | {"MYPYPATH": str(pages.CHECKOUT)}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode in (0, 1) and not done.stderr, done.stdout + done.stderr
    return re.findall(r"^program.py:(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)


def test_a_typed_program_is_accepted(tmp_path):
    assert found_in(tmp_path, PROGRAM) == []


def test_the_page_of_the_python_interface_is_accepted(tmp_path):
    page = (pages.CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
    program = doctest.script_from_examples(page)
    assert program.count("rnng_dy.train(") > 3
    # mypy holds that unpacked integers may be any of the arguments
    settings = "from typing import Any\n\nsmall: dict[str, Any]\n"
    assert found_in(tmp_path, settings + program) == []


@pytest.mark.parametrize("package", ["rnng_dy", "oracle", "clusters"])
def test_the_packages_say_that_they_have_types(package):
    assert (pages.CHECKOUT / package / "py.typed").exists()
