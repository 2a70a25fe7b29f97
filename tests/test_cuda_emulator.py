"""The emulator of CUDA finds planted bugs; a GPU shows wrong numbers, errors or nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .emulated import compile_program, run

PROGRAMS = Path(__file__).with_name("cuda_emulator")
ERROR_700, ERROR_719 = "error 700\n", "error 719\n"
FOUND = {
    "missing_barrier": ("shared memory of the block (reverse)", ERROR_719),
    "missing_grid_barrier": ("race: byte ", ERROR_719),
    "too_many_blocks": ("", "error 720\n"),
    "grid_cap": ("uninitialised: byte 262140 of an allocation of 262160 bytes", ERROR_719),
    "host_pointer": ("host pointer: a kernel touches memory of the host (scale)", ERROR_700),
    "forgotten_copy": ("host access: the host touches memory of the GPU, byte 124 ", ""),
    "late_copy": ("", ""),
    "stale_error": ("stale error: error 9 is of one_more, 1 launches ago", ""),
    "wrong_stream": ("race of streams: ", ERROR_719),
    "overlap": ("overlap: the source and the target of a copy overlap", "error 1\n"),
    "out_of_bounds": (
        "out of bounds: reads byte 400 of an allocation of 400 bytes (one_more)",
        ERROR_700,
    ),
    "reduction_race": ("race: byte 0 of an allocation of 4 bytes: thread ", ERROR_719),
    "leak": ("leak: 44 bytes were not freed", ""),
    "after_free": ("not allocated: ", ""),
    "short_set": ("uninitialised: byte ", ERROR_719),
    # a race of streams, or uninitialised where the kernel comes first
    "set_too_late": (" of an allocation of 4194304 bytes (add_one)", ERROR_719),
    "warp_sum": ("divergence: the lanes of a warp do not agree on the mask (sum)", ERROR_719),
}
"""For each program the message and the output if it has its bug."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of all programs."""
    folder = tmp_path_factory.mktemp("emulator")
    for name in FOUND:
        compile_program(PROGRAMS / f"{name}.cu", folder)
    return folder


@pytest.mark.parametrize("name", FOUND)
def test_a_planted_bug_is_found_and_the_program_without_it_is_right(compiled, name):
    for seed in (1, 2, 3):
        right = run(compiled / name, seed=seed)
        assert (right.returncode, right.stdout, right.stderr) == (0, "", ""), seed
    message, output = FOUND[name]
    for seed in (1, 2, 3):
        wrong = run(compiled / name, "bug", seed=seed)
        assert message in wrong.stderr and wrong.stdout == output, wrong.stderr
        assert wrong.returncode != 0 or name == "leak"


def test_a_finding_names_the_line_of_the_source(compiled):
    if shutil.which("addr2line"):
        assert "reduction_race.cu:5" in run(compiled / "reduction_race", "bug").stderr


def test_what_the_gpu_did_is_listed(compiled, tmp_path):
    trace = tmp_path / "trace"
    assert run(compiled / "reduction_race", trace=trace).returncode == 0
    kinds = [line.split("\t")[0] for line in trace.read_text().splitlines()]
    assert kinds == ["copy", "wait", "copy", "wait", "kernel", "copy", "wait"]
    (kernel,) = [line for line in trace.read_text().splitlines() if line.startswith("kernel")]
    # 512 threads read 512 numbers and the sum
    assert kernel.split("\t") == ["kernel", "add", "0", "512", "2052", "4", "0", "4096", "0"]
