"""Runs the steps of gpu_check one after the other, each in a process of its own with a time limit and a log."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from scripts.gpu_numbers import COMPUTED

SCRIPT = Path(__file__).resolve().with_name("gpu_check")
REFERENCES = "references"
SANITIZER = ("compute-sanitizer", "--error-exitcode", "1")


class Limits(NamedTuple):
    """Seconds that a step may take, and a step under compute-sanitizer or one that measures speed."""

    usual: float = 60.0
    long: float = 150.0


STEPS = {
    "start": "the device starts and multiplies two matrices",
    "doctor": "rnng-dy doctor",
    **{name: f"{computed.what}, against the CPU" for name, computed in COMPUTED.items()},
    "dropout": "rate, scale and seed of dropout",
    "seeds": "2,000 new seeds take no memory",
    "growth": "memory pools grow, and the gradient is right",
    "memory": "too large a graph is MemoryError, and the next one fits",
    "sanitizer": "compute-sanitizer finds nothing in an update of tiny models",
    "speed": "sentences/s of both models in training",
}
LONG = ("sanitizer", "speed", REFERENCES)


def main() -> None:
    """Run all steps, or the one that `--step` names; exit code 1 where one failed."""
    options = _options()
    if options.step:
        from scripts.gpu_steps import run_step

        sys.exit(run_step(options))
    options.logs.mkdir(parents=True, exist_ok=True)
    if options.make_references:
        sys.exit(not _references(options, options.make_references.absolute()))
    if options.references is None:
        options.references = options.logs.absolute() / "references.npz"
        if not _references(options, options.references):
            print("without references, what is compared with the CPU fails")
    failed = [name for name in options.only or STEPS if not _done(options, name)]
    print(
        f"{len(failed)} failed{': ' if failed else ''}{', '.join(failed)}; logs in {options.logs}"
    )
    sys.exit(bool(failed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gpu_check",
        description="Check the CUDA backend on a machine with a GPU: what the models compute against references made "
        "on the CPU, random numbers, memory, and speed. Every step has a log and goes on after a failure. Runs on the "
        "same GPU differ in their last digits, since sums come together in any order: comparisons allow for that.",
    )
    add = parser.add_argument
    add("--device", default="cuda", help="cpu, cuda or cuda:N [default: cuda]")
    add("--references", type=Path, metavar="NPZ", help="[default: made first, on the CPU]")
    add("--make-references", type=Path, metavar="NPZ", help="write references and do nothing else")
    add("--logs", type=Path, default=Path("gpu-check"), help="folder [default: gpu-check]")
    add("--only", nargs="+", choices=list(STEPS), metavar="STEP", help=f"of {', '.join(STEPS)}")
    add("--quick", action="store_true", help="a few sentences where speed is measured")
    add("--seconds", type=float, default=Limits().usual, help="a step may take [default: 60]")
    add("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.logs = options.logs.absolute()
    return options


def _references(options: argparse.Namespace, place: Path) -> bool:
    """Have the references made on the CPU."""
    return _done(options, REFERENCES, device="cpu", references=place)


def _done(options: argparse.Namespace, name: str, **changed: object) -> bool:
    """Run a step and print how it ended."""
    settings = vars(options) | changed
    command = [sys.executable, str(SCRIPT), "--step", name, "--device", settings["device"]]
    command += ["--logs", str(options.logs), "--references", str(settings["references"])]
    command += ["--quick"] if options.quick else []
    if name == "sanitizer" and settings["device"] != "cpu":
        if shutil.which(SANITIZER[0]) is None:
            print(f"{name:<26}skipped: no {SANITIZER[0]} here")
            return True
        command = [*SANITIZER, *command]
    limit = max(options.seconds, Limits().long) if name in LONG else options.seconds
    log = options.logs / f"{name}.log"
    started = time.monotonic()
    code = _run(command, log, limit)
    verdict = {0: "ok", None: f"over {limit:.0f} s"}.get(code, "FAILED")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    print(f"{name:<26}{verdict:<10}{time.monotonic() - started:6.1f} s  {STEPS.get(name, '')}")
    # what a step has measured or found wrong
    shown = lines if code == 0 else lines[-3:]
    print("".join(f"    {line}\n" for line in shown), end="", flush=True)
    return code == 0


def _run(command: list[str], log: Path, limit: float) -> int | None:
    """The exit code of a command with its output in the log; None where it was ended at the limit."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # its own children too
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
