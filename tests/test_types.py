"""The types of the package, as mypy sees them in a user's program."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest

from . import pages


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


def test_the_page_of_the_python_interface_is_accepted(tmp_path):
    page = (pages.CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
    program = doctest.script_from_examples(page)
    assert program.count("rnng_dy.train(") > 3
    # mypy holds that unpacked integers may be any of the arguments
    settings = (
        "from typing import Any\nimport rnng_dy\n\nsmall: dict[str, Any]\nmine: rnng_dy.Parser\n"
    )
    assert found_in(tmp_path, settings + program) == []


@pytest.mark.parametrize("package", ["rnng_dy", "oracle", "clusters"])
def test_the_packages_say_that_they_have_types(package):
    assert (pages.CHECKOUT / package / "py.typed").exists()
