"""A stand-in for DyNet's build, and what setup.py declares."""

from __future__ import annotations

import runpy
import sys
import types
import zipfile
from pathlib import Path

from rnng_dy import engine

CHECKOUT = Path(__file__).resolve().parent.parent


def write_wheel(work: Path, out: Path) -> None:
    """A stand-in for a build."""
    with zipfile.ZipFile(out / "dynet-2.1.2-cp310-abi3-linux_x86_64.whl", "w") as archive:
        archive.writestr("_dynet.abi3.so", b"code" * 1000)
        archive.writestr("dynet_build.py", f"VERSION = {engine.NEEDED!r}\n")
        archive.writestr("dynet-2.1.2.dist-info/METADATA", "Name: dyNET\n")


def run_setup(monkeypatch) -> dict[str, object]:
    """What setup.py hands to setuptools."""
    given: dict[str, object] = {}
    stub = types.SimpleNamespace(setup=given.update, find_packages=lambda include: include)
    monkeypatch.setitem(sys.modules, "setuptools", stub)
    runpy.run_path(str(CHECKOUT / "setup.py"))
    return given
