"""A stand-in for DyNet's build, and programs with its sources."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from rnng_dy import engine
from scripts.dynet.build import RECIPE


def write_wheel(work: Path, out: Path) -> None:
    """A stand-in for a build."""
    with zipfile.ZipFile(out / "dynet-2.1.2-cp310-abi3-linux_x86_64.whl", "w") as archive:
        archive.writestr("_dynet.abi3.so", b"code" * 1000)
        archive.writestr("dynet_build.py", f"VERSION = {engine.NEEDED!r}\n")
        archive.writestr("dynet-2.1.2.dist-info/METADATA", "Name: dyNET\n")


def compiled(name: str, folder: Path, *flags: str) -> Path:
    """A program of the folder `dynet_programs`, compiled with the recipe's sources."""
    source, program = Path(__file__).with_name("dynet_programs") / f"{name}.cc", folder / name
    command = ["c++", "-std=c++17", "-O2", f"-I{RECIPE / 'sources'}", *flags, source, "-o", program]
    subprocess.run(command, check=True)
    return program
