"""Speed of training beside the original program, clab/rnng, which is built from the user's own checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import click

from scripts.benchmarks.data import SUFFIXES, write_data, write_first, write_trees
from scripts.benchmarks.measuring import KINDS, apart, in_turns, print_row
from scripts.benchmarks.models import train

FLAGS = "-O3 -march=native"
# the original's CMakeLists.txt overwrites CMAKE_CXX_FLAGS, but not the flags of a build type
BUILD = ("-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={FLAGS}")
# current versions of CMake refuse the version that it asks for
BUILD += ("-DCMAKE_POLICY_VERSION_MINIMUM=3.5",)
OPTIONS = {
    "discriminative": "nt-parser --cnn-mem 1700 -x -t -P -C dev.trees --lstm_input_dim 128 --hidden_dim 128 -D 0.2",
    "generative": "nt-parser-gen --cnn-mem 1700 -x -t --clusters clusters --input_dim 256 --lstm_input_dim 256 "
    "--hidden_dim 256 -D 0.3",
}
"""Programs and options of the original's README, at the paper's sizes."""
REPORT = re.compile(r"\[([\d.]+)ms per instance\]")
"""The original's report on 100 sentences of training."""
REPORTS = 3
ROW = "| {:42} | {:>8} | {:>5} |"


@click.command("original")
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--eigen", metavar="FOLDER", help="Headers of Eigen, if cmake does not find them.")
@click.option("--turns", default=3, show_default=True)
@click.option("--jobs", default=len(os.sched_getaffinity(0)), show_default="all processors")
@click.option("--tiny", is_flag=True, hidden=True)
def main(checkout: Path, eigen: str | None, turns: int, jobs: int, tiny: bool) -> None:
    """Speed of training beside the original program, of which CHECKOUT is a git checkout with its submodules.

    The original is built with native flags, outside of CHECKOUT; this needs cmake, Boost and Eigen. Both programs train
    on the same oracle at the paper's sizes, in turns, with nothing else running. The table has the median of the turns:
    milliseconds per sentence, and the original's divided by ours.
    """
    with tempfile.TemporaryDirectory() as folder:
        programs = built(checkout, Path(folder, "build"), eigen)
        print(apart(write_data, folder))
        write_inputs(Path(folder))
        print_row(ROW, "training, ms per sentence", "", "ratio")
        print_row(ROW, "---", "---", "---")
        for kind in KINDS:
            found = in_turns(works(kind, programs, folder, jobs, 20 if tiny else 400), turns)
            original, *ours = ((name, median(times)) for name, times in found.items())
            print_row(ROW, f"{kind}: {original[0]}", f"{original[1]:.2f}", "")
            for name, ms in ours:
                print_row(ROW, f"{kind}: {name}", f"{ms:.2f}", f"{original[1] / ms:.1f}")


def built(checkout: Path, build: Path, eigen: str | None) -> Path:
    """Build the original; return the folder of its programs. Raises ClickException if that fails."""
    if shutil.which("cmake") is None:
        raise click.ClickException("cmake is missing, which builds the original: install it")
    more = [f"-DEIGEN3_INCLUDE_DIR={eigen}"] if eigen else []
    _run("cmake", "-S", str(checkout.resolve()), "-B", str(build), *BUILD, *more)
    _run("cmake", "--build", str(build), "--parallel", "2")
    programs = build / "nt-parser"
    flags = [path.read_text() for path in programs.glob("CMakeFiles/*/flags.make")]
    if not flags or not all(FLAGS in of_target for of_target in flags):
        raise click.ClickException(f"{checkout}: its programs were not compiled with {FLAGS}")
    return programs


def write_inputs(folder: Path) -> None:
    """Write what the original needs besides the training oracles: clusters, and development data that it can read."""
    for suffix in SUFFIXES.values():
        # it ends at symbols that the training data lack
        write_first(2, folder / f"train.{suffix}", folder / f"dev.{suffix}")
    write_trees(folder / "dev.oracle", folder / "dev.trees")
    clusters = f"clusters train.{SUFFIXES['generative']} -c 140 -o clusters"
    _run(sys.executable, "-m", "rnng_dy", *clusters.split(), folder=folder)


def works(
    kind: str, programs: Path, folder: str, jobs: int, count: int
) -> dict[str, Callable[[], float]]:
    """Return functions by name that train for some sentences and return milliseconds per sentence."""
    here = {"one sentence per update": (1, 1), "16 per update": (16, 1)}
    if jobs > 1:
        here[f"16 per update, {jobs} processes"] = (16, jobs)
    ours = {name: partial(here_ms, kind, folder, *how, count) for name, how in here.items()}
    return {"original, one core": partial(original_ms, kind, programs, folder), **ours}


def here_ms(kind: str, folder: str, batch_size: int, jobs: int, count: int) -> float:
    """Return milliseconds per sentence of training here."""
    return 1000 / apart(train, folder, "cpu", kind, batch_size, jobs, count)["per_second"]


def original_ms(kind: str, programs: Path, folder: str) -> float:
    """Return milliseconds per sentence of training with the original, by its own reports."""
    program, *options = OPTIONS[kind].split()
    suffix = SUFFIXES[kind]
    command = [programs / program, "-T", f"train.{suffix}", "-d", f"dev.{suffix}", *options]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    times, lines = [], []
    with subprocess.Popen(command, cwd=folder, **pipes) as process:
        for line in process.stderr:
            lines.append(line)
            times += map(float, REPORT.findall(line))
            if len(times) == REPORTS:
                process.kill()
                return median(times)
    raise click.ClickException(
        f"{program} ended with exit code {process.returncode} before {REPORTS} reports:\n"
        + "".join(lines[-5:])
    )


def _run(*command: str, folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        last = done.stdout.decode(errors="replace").splitlines()[-10:]
        raise click.ClickException("\n".join([f"{' '.join(command)}: failed", *last]))
