"""What tests/conftest.py gives every test."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import CHECKOUT

# no package of the environment is seen with -S, however it is installed
FOUND = "from importlib.util import find_spec; print(find_spec('{}').origin)"


@pytest.mark.parametrize("package", ["oracle", "clusters", "rnng_dy"])
def test_processes_run_this_checkout(package, tmp_path):
    command = [sys.executable, "-S", "-c", FOUND.format(package)]
    found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert found.strip() == str(CHECKOUT / package / "__init__.py")


def chosen(expression, *files):
    """The files whose tests `-m` leaves."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-m", expression, *files]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True).stdout
    return {
        line.rpartition("/")[2].partition(".py")[0] for line in listed.splitlines() if ".py" in line
    }


def test_what_needs_the_reference_data_is_marked():
    files = ["tests/clusters/test_wcluster.py", "tests/clusters/test_unseen.py"]
    assert chosen("reference", *files) == {"test_wcluster"}
    assert chosen("not reference", *files) >= {"test_unseen"}


def test_make_test_leaves_out_the_slow_ones_and_the_whole_check_nothing():
    def pytest_of(target):
        command = ["make", "--dry-run", "--no-print-directory", target]
        said = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True).stdout
        return next(line for line in said.splitlines() if "-m pytest" in line)

    assert "-m 'not slow'" in pytest_of("test")
    assert "slow" not in pytest_of("test-all")
    assert "make test-all\n" in (CHECKOUT / ".ci" / "run").read_text()
    files = ["tests/rnng_dy/reproduce/test_reproduce.py", "tests/rnng_dy/reproduce/test_stages.py"]
    assert chosen("not slow", *files) == {"test_stages"}
