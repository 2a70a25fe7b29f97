"""The runner of steps, each in a process of its own with a time limit and a log."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from scripts.gpu.steps import CHECKED, REFERENCES, STEPS, run_step

SANITIZER = ("compute-sanitizer", "--error-exitcode", "1")
USUAL, LONG = 60.0, 150.0
"""Time limits of steps in seconds; LONG is for compute-sanitizer and speed measurements."""
DESCRIPTION = (
    "Check the CUDA backend on a machine with a GPU: the models' numbers against references made "
    "on the CPU, random numbers, memory, and speed. Every step has a log, and the check continues "
    "after a failure. Runs on the same GPU differ in their last digits, since their sums have no "
    "fixed order; comparisons allow for that."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `check`."""
    add = parser.add_argument
    add("--device", default="cuda", help="cpu, cuda or cuda:N [default: cuda]")
    add("--references", type=Path, metavar="NPZ", help="[default: made first, on the CPU]")
    add("--make-references", type=Path, metavar="NPZ", help="write references and do nothing else")
    add("--logs", type=Path, default=Path("gpu-check"), help="folder [default: gpu-check]")
    add("--only", nargs="+", choices=CHECKED, metavar="STEP", help=f"of {', '.join(CHECKED)}")
    add("--quick", action="store_true", help="a few sentences where speed is measured")
    add("--seconds", type=float, default=USUAL, help="a step may take [default: 60]")
    add("--step", help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> None:
    """Run all steps, or the one that `--step` names; the exit code is 1 if one failed."""
    if options.step:
        sys.exit(run_step(options))
    options.logs = options.logs.absolute()
    options.logs.mkdir(parents=True, exist_ok=True)
    if options.make_references:
        sys.exit(not _references(options, options.make_references.absolute()))
    if options.references is None:
        options.references = options.logs / "references.npz"
        if not _references(options, options.references):
            print("there are no references, so the comparisons with the CPU fail")
    failed = [name for name in options.only or CHECKED if not _done(options, name)]
    names = f": {', '.join(failed)}" if failed else ""
    print(f"{len(failed)} failed{names}; logs in {options.logs}")
    sys.exit(bool(failed))


def _references(options: argparse.Namespace, path: Path) -> bool:
    """Compute the references on the CPU; return whether that succeeded."""
    return _done(options, REFERENCES, device="cpu", references=path)


def _done(options: argparse.Namespace, name: str, **changed: object) -> bool:
    """Run a step, print how it ended, and return whether it succeeded."""
    settings = vars(options) | changed
    command = [sys.executable, "-m", "scripts.gpu", "check", "--step", name]
    command += ["--device", settings["device"], "--references", str(settings["references"])]
    command += ["--quick"] if options.quick else []
    if name == "sanitizer" and settings["device"] != "cpu":
        if shutil.which(SANITIZER[0]) is None:
            print(f"{name:<26}skipped: no {SANITIZER[0]} here")
            return True
        command = [*SANITIZER, *command]
    limit = max(options.seconds, LONG) if STEPS[name].is_long else options.seconds
    log = options.logs / f"{name}.log"
    started = time.monotonic()
    given = {"stderr": subprocess.STDOUT, "start_new_session": True}
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, **given) as process:
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
    verdict = {0: "ok", None: f"over {limit:.0f} s"}.get(code, "FAILED")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    print(f"{name:<26}{verdict:<10}{time.monotonic() - started:6.1f} s  {STEPS[name].what}")
    # the measurements or errors of a step
    shown = lines if code == 0 else lines[-3:]
    print("".join(f"    {line}\n" for line in shown), end="", flush=True)
    return code == 0
