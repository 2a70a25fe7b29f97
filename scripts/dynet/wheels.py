"""`python3 -m scripts.dynet.wheels`: check the newest wheel of dist/ for a machine.

This machine's wheel runs without a compiler, with each of its builds that this processor can run.
That of ARM Linux runs emulated, on Debian's Python. Of that of a Mac, only the file is checked.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import scripts.script_start  # noqa: F401
from rnng_dy.engine import LEVEL, cpu_level, lower_levels
from scripts.dynet.build import new_environment
from scripts.dynet.target import CHECKOUT, MACHINES

LARGEST = 90_000_000
"""The most bytes of a wheel."""
DIGITS = 1e-4
"""The largest relative difference of log probabilities between processors: four digits agree."""
TREES = CHECKOUT / "oracle" / "data" / "tiny.trees"
PYTHON = "3.11"
"""The version of Debian 12, whose packages are fetched."""
PACKAGES = [f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib", "libstdc++6", "zlib1g"]
PLATFORMS = ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "manylinux_2_28_aarch64"]


def main() -> None:
    """Try the wheel; the exit code is 1 if something fails."""
    here = platform.machine()
    parser = argparse.ArgumentParser(prog="scripts.dynet.wheels", description=__doc__)
    parser.add_argument("--machine", choices=MACHINES, default=here, help="[default: %(default)s]")
    machine = parser.parse_args().machine
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            wheel = newest(CHECKOUT / "dist", machine)
            check_file(wheel, folder)
            if machine == here:
                check_runs(install(wheel, folder), folder)
            if machine in (here, "macos-arm64"):
                return
            program, environ = install_emulated(wheel, folder)
            print(called([program, "-m", "rnng_dy", "doctor"], environ), flush=True)
            numbers = trial([program], folder / machine, environ)
            reference = trial([sys.executable], folder / here, {})
            compare(f"{machine}, emulated", numbers, reference)
        except subprocess.CalledProcessError as error:
            sys.exit(f"failed: {' '.join(map(str, error.cmd))}\n{error.stdout}{error.stderr or ''}")


def newest(folder: Path, machine: str) -> Path:
    """Return the portable wheel for a machine that was written last."""
    wheels = folder.glob(f"rnng_dy-*-{MACHINES[machine].tag}.whl")
    if (wheel := max(wheels, key=lambda path: path.stat().st_mtime, default=None)) is None:
        sys.exit(f"error: no wheel for it in {folder}: run `make wheels MACHINE={machine}` first")
    return wheel


def check_file(wheel: Path, folder: Path) -> None:
    """Check the size, and which functions the modules need."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB", flush=True)
    if size > LARGEST:
        sys.exit(f"error: over {LARGEST / 1e6:.0f} MB")
    tools = new_environment(folder / "tools")
    called([tools, "-m", "pip", "install", "--quiet", "abi3audit", "auditwheel"])
    called([tools, "-m", "abi3audit", "--strict", str(wheel)])
    if "-manylinux" in wheel.name:
        said = " ".join(called([tools, "-m", "auditwheel", "show", str(wheel)]).split())
        print(said, flush=True)
        if f'platform tag: "{wheel.stem.rpartition("-")[2]}"' not in said:
            sys.exit("error: auditwheel finds another platform than the name of the wheel says")


def install(wheel: Path, folder: Path) -> Path:
    """Fetch the wheel's dependencies, then install it offline and without compiler.

    Returns the environment's Python.
    """
    python = new_environment(folder / "new")
    fetched = str(folder / "fetched")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    called([*pip, "download", "-q", "--only-binary", ":all:", "-d", fetched, str(wheel)])
    # no compiler is on this path
    environ = {"PATH": os.path.dirname(python), "CC": "/bin/false", "CXX": "/bin/false"}
    offline = ["--no-index", "--find-links", fetched]
    called([*pip, "install", "-q", "--isolated", *offline, str(wheel)], environ)
    return python


def check_runs(python: Path, folder: Path) -> None:
    """Run the trial with each build that runs here; compare their numbers."""
    print(called([python, "-m", "rnng_dy", "doctor"], {}), flush=True)
    reference: list[float] = []
    for level in MACHINES[platform.machine()].levels[::-1]:
        if level in lower_levels(cpu_level()):
            numbers = trial([python], folder / level, {LEVEL: level})
            reference = reference or numbers
            compare(level, numbers, reference)


def trial(python: list[str | Path], folder: Path, environ: dict[str, str]) -> list[float]:
    """Return the numbers that the trial prints."""
    program = str(Path(__file__).with_name("trial.py"))
    said = called([*python, program, str(TREES), str(folder)], environ)
    return [float(line) for line in said.splitlines()]


def compare(name: str, numbers: list[float], reference: list[float]) -> None:
    """Print the largest relative difference of the numbers; end if it is too large."""
    pairs = zip(numbers, reference, strict=True)
    largest = max(abs(number - expected) / abs(expected) for number, expected in pairs)
    print(f"{name}: relative difference of log probabilities {largest:.1e}", flush=True)
    if not largest <= DIGITS:
        sys.exit(f"error: over {DIGITS:.0e}")


# ARM, emulated


def install_emulated(wheel: Path, folder: Path) -> tuple[str, dict[str, str]]:
    """Install the wheel for Debian's Python of ARM, in a folder.

    Returns the program that runs it by qemu, and the environment in which it finds the wheel's
    packages.
    """
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None:
        sys.exit("error: no qemu-aarch64: install the Debian package qemu-user-static")
    root, site = folder / "aarch64.root", folder / "aarch64.site"
    for package in _debian_packages(folder / "apt"):
        called(["dpkg-deb", "-x", str(package), str(root)])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    only = ["--python-version", PYTHON, "--only-binary", ":all:", "--target", str(site)]
    called([*pip, *platforms, *only, str(wheel)])
    command = f"{emulator} -L {root} {root}/usr/bin/python{PYTHON}"
    program = folder / "aarch64.python"
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    # the kernel cannot start Python for ARM: processes of it start by the emulator, too
    (site / "sitecustomize.py").write_text(f"import sys\nsys.executable = {str(program)!r}\n")
    return str(program), {"PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr")}


def _debian_packages(folder: Path) -> list[Path]:
    """Fetch Python for ARM with its dependencies; apt's lists of this system do not change."""
    (folder / "lists").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    (folder / "status").touch()
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache::archives": folder / "archives",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    called([*apt, "update"])
    called([*apt, "install", "--yes", "--download-only", "--no-install-recommends", *PACKAGES])
    return sorted((folder / "archives").glob("*.deb"))


# other programs


def called(command: list[str | Path], environ: dict[str, str] | None = None) -> str:
    """Return what a command prints, by default in this environment. Raises CalledProcessError."""
    done = subprocess.run(command, env=environ, cwd="/", capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
