"""Our builds of DyNet, in a folder of their own beside the packages, which no other DyNet touches.

The folder has one build for each level of processors. The engine imports DyNet from the fitting one.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from oracle.errors import RnngError
from rnng_dy.cpu_level import LEVEL, cpu_level, lower_levels

FOLDER = "rnng_dy.dynet"
MODULES = ("dynet", "_dynet", "dynet_config")


def name_of(level: str) -> str:
    """Return the name of the folder with the build for a level of processors."""
    return level or "any"


def builds() -> dict[str, Path]:
    """Return the folder of each build by the name of its level; those of the first folder FOLDER on Python's path."""
    for place in (Path(__file__).parents[1], *map(Path, sys.path)):
        if (place / FOLDER).is_dir():
            return {path.name: path for path in sorted((place / FOLDER).iterdir()) if path.is_dir()}
    return {}


@cache
def build() -> Path | None:
    """Return the folder of the build that this process uses; None if there are no builds.

    It is the highest level that the processor has and that the environment variable RNNG_DY_CPU allows.
    Raises RnngError if no build is as low, or if RNNG_DY_CPU names no level of this processor.
    """
    found = builds()
    levels = lower_levels(allowed_level())
    for level in levels:
        if name_of(level) in found:
            return found[name_of(level)]
    if found:
        raise RnngError(
            f"DyNet was built for {', '.join(found)} and this process uses {levels[0] or 'any processor'}: "
            f"install rnng_dy again on this machine, or unset {LEVEL}"
        )
    return None


@cache
def details(folder: Path) -> SimpleNamespace:
    """Return VERSION, MARCH, COMPILER and CUDA_ARCH of a build."""
    return SimpleNamespace(**runpy.run_path(str(folder / "dynet_build.py")))


def allowed_level() -> str:
    """Return the level of this processor, or the lower one that RNNG_DY_CPU names, such as `v3`.

    Raises RnngError if RNNG_DY_CPU names another level.
    """
    own, wanted = cpu_level(), os.environ.get(LEVEL)
    if not wanted:
        return own
    for level in lower_levels(own):
        if level and wanted in (level, level.removeprefix("x86-64-")):
            return level
    raise RnngError(
        f"{LEVEL} is {wanted}, and this processor has {', '.join(lower_levels(own)) or 'no levels'}: "
        "name one of these, or unset it"
    )


@contextmanager
def first_on_path() -> Iterator[None]:
    """Put the build first on Python's path during a block."""
    place = str(build())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def require_own() -> None:
    """Raise RnngError if another DyNet has been imported, since a process can have only one."""
    for name in MODULES:
        place = getattr(sys.modules.get(name), "__file__", None)
        if place and Path(place).parent != build():
            raise RnngError(
                f"another DyNet has been imported: {place}; use that of `rnng_dy.engine` instead"
            )
