"""What tests/conftest.py gives every test."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from .conftest import CHECKOUT, LIMIT, limited

# no package of the environment is seen with -S, however it is installed
FOUND = "from importlib.util import find_spec; print(find_spec('{}').origin)"


@pytest.mark.parametrize("package", ["oracle", "clusters", "rnng_dy"])
def test_processes_run_this_checkout(package, tmp_path):
    command = [sys.executable, "-S", "-c", FOUND.format(package)]
    found = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert found.strip() == str(CHECKOUT / package / "__init__.py")


def test_a_wait_that_has_no_end_is_ended():
    with (
        subprocess.Popen(["sleep", "60"]) as process,
        pytest.raises(TimeoutError, match=r"no end after 0\.2 seconds"),
    ):
        try:
            with limited(0.2):
                process.wait()
        finally:
            process.kill()


def test_every_test_has_a_limit():
    seconds, _ = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < seconds <= LIMIT
