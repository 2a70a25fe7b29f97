"""The builds of DyNet that go into a wheel of rnng_dy: from a ready wheel, from the cache, or new."""

from __future__ import annotations

import argparse
import functools
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rnng_dy.cpu_level import cpu_level, lower_levels
from rnng_dy.dynet_builds import FOLDER, name_of
from rnng_dy.engine import NEEDED

from .build import build_wheel
from .cache import RECIPE, cache_folder, cached_wheel, inputs
from .target import Compiler, Cuda, Python, Toolchain, report

CHECKOUT = RECIPE.parents[1]
READY = "RNNG_DY_WHEELS"
"""The environment variable that names a folder of ready wheels; `dist` of the checkout otherwise."""
NOTICE = "NOTICE.txt"
LEVELS = {"x86_64": ("x86-64-v2", "x86-64-v3", "x86-64-v4"), "aarch64": ("armv8-a",)}
"""The processors that a portable wheel has builds for, by machine."""


@dataclass(frozen=True)
class Builds:
    """Wheels with builds of DyNet, and the platform that they run on, as the name of a wheel has it."""

    wheels: dict[str, Path]
    platform: str

    def files(self) -> dict[str, bytes]:
        """Return the contents of all modules, and of their licences, by paths in site-packages."""
        # pip removes a folder only if a file lies in it directly
        found = {f"{FOLDER}/{NOTICE}": (CHECKOUT / "LICENSES" / NOTICE).read_bytes()}
        for level, wheel in self.wheels.items():
            found |= modules_of(wheel, level)
        return found


def modules_of(wheel: Path, level: str) -> dict[str, bytes]:
    """Return the contents of the modules in a wheel of DyNet or of rnng_dy by their paths in site-packages."""
    folder = f"{FOLDER}/{name_of(level)}/"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        inside = [name for name in names if name.startswith(folder)]
        modules = inside or [name for name in names if "/" not in name]
        return {folder + Path(name).name: archive.read(name) for name in modules}


def builds_for(chosen: argparse.Namespace) -> Builds:
    """Return what the options of the command line ask for; build it if need be.

    Raises RnngError, which says what to install, where a compiler or headers are missing.
    """
    python = Python.ask(chosen.python)
    if not (chosen.cuda or chosen.portable):
        ready = _ready(python)
        if ready:
            return Builds(ready, _tag(python.platform))
    chains = toolchains(chosen, python)
    cache = (chosen.cache or cache_folder()).absolute()
    cache.mkdir(parents=True, exist_ok=True)
    wheels = {}
    for chain in chains:
        build = functools.partial(build_wheel, chain, chosen.jobs, cache)
        wheels[chain.compiler.march] = cached_wheel(cache, inputs(chain), build)
    target = chains[0].compiler.target
    return Builds(wheels, manylinux(target) if target else _tag(python.platform))


def toolchains(chosen: argparse.Namespace, python: Python) -> Sequence[Toolchain]:
    """Return what to build with: one for this machine, or one for each processor of a portable wheel."""
    if chosen.portable:
        levels = LEVELS[chosen.portable]
        return [Toolchain(python, Compiler.zig(level, chosen.portable)) for level in levels]
    cuda = Cuda.find(chosen.cuda_arch) if chosen.cuda else None
    return [Toolchain(python, Compiler.find(), cuda)]


def manylinux(target: str) -> str:
    """Return the platform of a wheel whose modules zig compiles for a target.

    >>> manylinux("x86_64-linux-gnu.2.17")
    'manylinux_2_17_x86_64'
    """
    machine, _, libc = target.split("-")
    _, major, minor = libc.split(".")
    return f"manylinux_{major}_{minor}_{machine}"


def fits(wheel: str, python: Python) -> bool:
    """Return whether a wheel of this name has modules for this machine and C library."""
    tag = re.search(r"-abi3-manylinux_(\d+)_(\d+)_(\w+)\.whl$", wheel)
    libc = re.fullmatch(r"glibc (\d+)\.(\d+)", python.libc)
    if tag is None or libc is None or python.platform != f"linux-{tag[3]}":
        return False
    return (int(tag[1]), int(tag[2])) <= (int(libc[1]), int(libc[2]))


def _ready(python: Python) -> dict[str, Path]:
    """Return the builds of a ready wheel of rnng_dy that run here; empty without such a wheel."""
    folder = Path(os.environ.get(READY) or CHECKOUT / "dist")
    for wheel in sorted(folder.glob("rnng_dy-*.whl"), reverse=True):
        if not fits(wheel.name, python):
            continue
        with zipfile.ZipFile(wheel) as archive:
            found = [Path(name) for name in archive.namelist() if name.endswith("dynet_build.py")]
            current = all(f"{NEEDED!r}" in archive.read(str(name)).decode() for name in found)
        levels = [name.parent.name for name in found]
        if current and {*levels} & {*lower_levels(cpu_level())}:
            report(f"DyNet is taken from {wheel}")
            return dict.fromkeys(levels, wheel)
    return {}


def _tag(platform: str) -> str:
    return re.sub(r"[-.]", "_", platform)
