"""`python3 -m scripts.wheels [WHEEL]`: install a wheel where there is no compiler, and try it on each processor."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import scripts.script_start  # noqa: F401
from rnng_dy.cpu_level import LEVEL, cpu_level, lower_levels, required_flags
from scripts.checkout import CHECKOUT

LARGEST = 25_000_000
DIGITS = 1e-4
"""The largest relative difference of log probabilities between processors: four digits agree."""
EMULATOR = ("qemu-x86_64", "qemu-x86_64-static")
# qemu translates no AVX-512, so Skylake-Server stands for a processor of level 3 there
PROCESSORS = {"Nehalem": "x86-64-v2", "Haswell": "x86-64-v3", "Skylake-Server": "x86-64-v3"}
TREES = CHECKOUT / "oracle" / "data" / "tiny.trees"
TRAINED_ON = 20


def main() -> None:
    """Try the wheel; the exit code is 1 if something fails."""
    parser = argparse.ArgumentParser(prog="scripts.wheels", description=__doc__)
    parser.add_argument("wheel", nargs="?", type=Path, help="[default: the newest of dist/]")
    wheel = parser.parse_args().wheel or newest(CHECKOUT / "dist")
    with tempfile.TemporaryDirectory() as folder:
        try:
            check_file(wheel, Path(folder))
            check_runs(install(wheel, Path(folder)), Path(folder))
        except subprocess.CalledProcessError as error:
            sys.exit(f"failed: {' '.join(map(str, error.cmd))}\n{error.stdout}{error.stderr or ''}")


def newest(folder: Path) -> Path:
    """Return the portable wheel of a folder that was written last."""
    wheels = sorted(folder.glob("rnng_dy-*-manylinux_*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"error: no portable wheel in {folder}: run `make wheels` first")
    return wheels[-1]


def check_file(wheel: Path, folder: Path) -> None:
    """Check the size, and with auditwheel the libraries and symbols that the modules need."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB", flush=True)
    if size > LARGEST:
        sys.exit(f"error: over {LARGEST / 1e6:.0f} MB")
    tools = new_environment(folder / "tools")
    called([tools, "-m", "pip", "install", "--quiet", "auditwheel"])
    said = called([tools, "-m", "auditwheel", "show", str(wheel)])
    print(" ".join(said.split()), flush=True)
    if f'platform tag: "{wheel.stem.rpartition("-")[2]}"' not in " ".join(said.split()):
        sys.exit("error: auditwheel finds another platform than the name of the wheel says")


def new_environment(folder: Path) -> str:
    """Make a virtual environment and return its Python."""
    called([sys.executable, "-m", "venv", str(folder)])
    return str(folder / "bin" / "python")


def install(wheel: Path, folder: Path) -> str:
    """Install the wheel without network and compiler; only its dependencies are fetched before. Return the Python."""
    python = new_environment(folder / "new")
    fetched = str(folder / "fetched")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    called([*pip, "download", "-q", "--only-binary", ":all:", "-d", fetched, str(wheel)])
    # no compiler is on this path
    environ = {"PATH": os.path.dirname(python), "CC": "/bin/false", "CXX": "/bin/false"}
    offline = ["--no-index", "--find-links", fetched]
    called([*pip, "install", "-q", "--isolated", *offline, str(wheel)], environ)
    return python


def check_runs(python: str, folder: Path) -> None:
    """Run the trial with each build that runs here, and emulated; compare its numbers."""
    trees = folder / "some.trees"
    trees.write_text("".join(TREES.read_text().splitlines(keepends=True)[:TRAINED_ON]))
    print(called([python, "-m", "rnng_dy", "doctor"], {}), flush=True)
    reference = None
    for level in lower_levels(cpu_level())[:-1]:
        numbers = trial([python], trees, folder / level, {LEVEL: level})
        reference = reference or numbers
        compare(level, numbers, reference)
    emulator = next(filter(None, map(shutil.which, EMULATOR)), None)
    if emulator is None:
        sys.exit("error: no qemu-x86_64: install the Debian package qemu-user-static")
    for name, level in PROCESSORS.items():
        root = folder / f"{name}.root"
        (root / "proc").mkdir(parents=True)
        (root / "proc" / "cpuinfo").write_text(
            f"flags : {' '.join(sorted(required_flags(level)))}\n"
        )
        emulated = [emulator, "-cpu", name, "-L", str(root), os.path.realpath(python)]
        environ = {"PYTHONPATH": site_packages(python)}
        said = called([*emulated, "-m", "rnng_dy", "doctor"], environ)
        if f"{level})" not in said and f"/{level}" not in said:
            sys.exit(f"error: doctor under {name} does not use {level}:\n{said}")
        compare(f"{name}, emulated", trial(emulated, trees, folder / name, environ), reference)


def site_packages(python: str) -> str:
    """Return the folder of an environment's packages: the emulator runs the Python that the environment links to."""
    program = "import sysconfig; print(sysconfig.get_path('platlib'))"
    return called([python, "-c", program]).strip()


def trial(python: list[str], trees: Path, folder: Path, environ: dict[str, str]) -> list[float]:
    """Return the numbers that the trial prints."""
    program = str(Path(__file__).with_name("trial.py"))
    said = called([*python, program, str(trees), str(folder)], environ)
    return [float(line) for line in said.splitlines()]


def compare(name: str, numbers: list[float], reference: list[float]) -> None:
    """Print the largest relative difference of the numbers; end if it is too large."""
    pairs = zip(numbers, reference, strict=True)
    largest = max(abs(number - expected) / abs(expected) for number, expected in pairs)
    print(f"{name}: relative difference of log probabilities {largest:.1e}", flush=True)
    if not largest <= DIGITS:
        sys.exit(f"error: over {DIGITS:.0e}")


def called(command: list[str], environ: dict[str, str] | None = None) -> str:
    """Return what a command prints. Raises CalledProcessError; `environ` replaces this process's environment."""
    done = subprocess.run(command, env=environ, cwd="/", capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
