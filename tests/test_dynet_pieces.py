"""How the kernels for many arrays share the work: their code, run on the host."""

from __future__ import annotations

import subprocess

import pytest

from .installing import compiled


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled("pieces", tmp_path_factory.mktemp("pieces"))


@pytest.mark.parametrize(
    ("blocks", "threads", "lengths"),
    [
        (1, 1, [1, 2, 3]),
        (4, 128, [1, 511, 512, 513, 0, 10_000]),
        (3, 7, [5, 1_024, 5]),
        (100, 128, [32] * 20),
        # more than 65,535 blocks of 1,024 threads
        (65_535, 128, [68_000_000, 256]),
    ],
)
def test_every_element_of_every_array_is_met_once(program, blocks, threads, lengths):
    arguments = map(str, (blocks, threads, *lengths))
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    times, fits = done.stdout.rsplit(maxsplit=1)
    assert times == f"1:{sum(lengths)}"
    assert fits == "1"
