"""Commands on a Python that has only what macOS has, too; and how doctor names a processor."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from rnng_dy import installation

from .commands import run
from .conftest import TINY

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
    trees = "".join(TINY.read_text().splitlines(keepends=True)[:40])
    (tmp_path / "some.trees").write_text(trees)
    sizes = ("--epochs", 1, "--hidden", 8, "--batch-size", 8, "--jobs", 2)
    data = ("--trees", "some.trees", "--hold-out", 0.1)
    run(tmp_path, "train", "generative", *data, *sizes, "--model", "model", env=like_a_mac)
    answer = run(tmp_path, "parse", "--model", "english", "--text", "-", "--jobs", 2,
                 input="They met. They left.\n", env=like_a_mac)  # fmt: skip
    assert answer.stdout.count("(S (NP (PRP They))") == 2, answer.stdout
    said = run(tmp_path, "doctor", env=like_a_mac).stdout
    assert "memory " in said and "not equal" not in said


@pytest.mark.parametrize(
    ("system", "said", "name"),
    [
        ("linux", "Architecture: aarch64\nModel name:   Neoverse-N1\nModel: 1\n", "Neoverse-N1"),
        ("darwin", "machdep.cpu.brand_string: Apple M1\n", "Apple M1"),
        ("linux", "Architecture: aarch64\n", platform.machine()),
    ],
)
def test_doctor_names_the_processor(monkeypatch, system, said, name):
    ask = subprocess.run
    command = ["sysctl", "machdep.cpu.brand_string"] if system == "darwin" else ["lscpu"]

    def answer(asked, **settings):
        if asked == command:
            return subprocess.CompletedProcess(asked, 0, said)
        return ask(asked, **settings)

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(subprocess, "run", answer)
    assert dict(installation.machine())["CPU"].startswith(f"{name}, ")
