"""Commands on a Python that has only what macOS has, too."""

from __future__ import annotations

import os
import sys

import pytest

from .commands import run
from .conftest import tiny_trees

HIDDEN = """\
import os, resource, sys

for name in ("sched_getaffinity", "posix_fallocate", "posix_fadvise"):
    delattr(os, name)


def hide(event, arguments):
    # on x86 alone, the processor's level is read from the kernel's list
    if event == "open" and str(arguments[0]).startswith("/proc/") and "cpuinfo" not in str(arguments[0]):
        raise FileNotFoundError(arguments[0])
    if event == "ctypes.dlsym" and arguments[1] == "prctl":
        raise AttributeError("prctl")


sys.addaudithook(hide)
"""


@pytest.fixture
def like_a_mac(tmp_path):
    """The environment of a Python from which the functions that macOS lacks are hidden, in all its processes."""
    folder = tmp_path / "hidden"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HIDDEN)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


def test_commands_need_nothing_that_only_linux_has(like_a_mac, tmp_path):
    (tmp_path / "some.trees").write_text(tiny_trees(0, 40))
    sizes = ("--epochs", 1, "--hidden", 8, "--batch-size", 8, "--jobs", 2)
    data = ("--trees", "some.trees", "--hold-out", 0.1)
    run(tmp_path, "train", "generative", *data, *sizes, "--model", "model", env=like_a_mac)
    answer = run(tmp_path, "parse", "--model", "english", "--text", "-", "--jobs", 2,
                 input="They met. They left.\n", env=like_a_mac)  # fmt: skip
    assert answer.stdout.count("(S (NP (PRP They))") == 2, answer.stdout
    said = run(tmp_path, "doctor", env=like_a_mac).stdout
    assert "GPUs " in said and "not equal" not in said
