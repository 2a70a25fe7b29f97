"""A wheel of ARM Linux on Debian's Python for it, in a folder, run by qemu."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .programs import called

PYTHON = "3.11"
"""Of Debian 12, whose packages are fetched."""
PACKAGES = [f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib", "libstdc++6", "zlib1g"]
PLATFORMS = ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "manylinux_2_28_aarch64"]


def emulator() -> str:
    """Return the path of qemu's emulator; ends with the package to install where it is absent."""
    found = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    return found or sys.exit("error: no qemu-aarch64: install the Debian package qemu-user-static")


def install(wheel: Path, folder: Path) -> tuple[str, dict[str, str]]:
    """Return the program that runs Debian's Python, and the environment in which it finds the wheel's packages."""
    root, site = folder / "aarch64.root", folder / "aarch64.site"
    for package in _debian_packages(folder / "apt"):
        called(["dpkg-deb", "-x", str(package), str(root)])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    only = ["--python-version", PYTHON, "--only-binary", ":all:", "--target", str(site)]
    called([*pip, *platforms, *only, str(wheel)])
    command = f"{emulator()} -L {root} {root}/usr/bin/python{PYTHON}"
    program = folder / "aarch64.python"
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    # the kernel cannot start Python for ARM: processes of it start by the emulator, too
    (site / "sitecustomize.py").write_text(f"import sys\nsys.executable = {str(program)!r}\n")
    return str(program), {"PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr")}


def _debian_packages(folder: Path) -> list[Path]:
    """Fetch Python for ARM with what it needs, by lists of packages of its own: this system stays as it is."""
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
