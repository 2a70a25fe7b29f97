"""The kernels, compiled without DyNet for the emulated GPU, compute what plain loops do."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.dynet import build as cache

from .emulated import compile_program, run

PROGRAM = Path(__file__).with_name("gpu_kernels") / "lstm_levels.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    # the kernels' own includes begin with dynet/
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "dynet").symlink_to(cache.RECIPE / "sources")
    return compile_program(PROGRAM, folder, f"-I{folder}")


@pytest.mark.parametrize("given", ["0", "1"])
@pytest.mark.parametrize("hidden", ["1", "5", "37"])
@pytest.mark.parametrize("seed", [1, 2])
def test_levels_of_an_lstm_have_the_derivatives_of_their_loss(program, hidden, given, seed):
    done = run(program, hidden, given, seed=seed)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 10 + int(given) and all(line.startswith("right") for line in lines), lines
