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
from itertools import dropwhile
from pathlib import Path
from types import SimpleNamespace

from oracle.errors import RnngError
from rnng_dy.engine.cpu_level import LEVEL, cpu_level, lower_levels

FOLDER = "rnng_dy.dynet"
MODULES = ("dynet", "_dynet", "dynet_config")


def name_of(level: str) -> str:
    """Return the name of the folder with the build for a level of processors."""
    return level or "any"


def builds() -> dict[str, Path]:
    """Return the folder of each build by the name of its level; those of the first folder FOLDER on Python's path."""
    for place in (Path(__file__).parents[2], *map(Path, sys.path)):
        if (place / FOLDER).is_dir():
            return {path.name: path for path in sorted((place / FOLDER).iterdir()) if path.is_dir()}
    return {}


@cache
def build() -> Path | None:
    """Return the folder of the build that this process uses; None if there are no builds.

    It is the highest level that the processor has, or below the level that the environment variable RNNG_DY_CPU names,
    such as `v3`. Raises RnngError if no build is as low, or if RNNG_DY_CPU names no level of this processor.
    """
    found, own, wanted = builds(), lower_levels(cpu_level()), os.environ.get(LEVEL, "")
    levels = [*dropwhile(lambda level: not level.endswith(wanted), own)]
    for level in levels:
        if name_of(level) in found:
            return found[name_of(level)]
    if found:
        raise RnngError(
            f"DyNet was built for {', '.join(found)}, and this process uses {wanted or own[0] or 'any processor'}: "
            f"install rnng_dy again on this machine, or unset {LEVEL}"
        )
    return None


@cache
def details(folder: Path) -> SimpleNamespace:
    """Return VERSION, MARCH, COMPILER and CUDA_ARCH of a build."""
    return SimpleNamespace(**runpy.run_path(str(folder / "dynet_build.py")))


@contextmanager
def first_on_path() -> Iterator[None]:
    """Put the build first on Python's path during a block.

    Raises RnngError if another DyNet has been imported, since a process can have only one.
    """
    folder = str(build())
    for name in MODULES:
        place = getattr(sys.modules.get(name), "__file__", None)
        if place and os.path.dirname(place) != folder:
            raise RnngError(
                f"another DyNet has been imported: {place}; use that of `rnng_dy.engine` instead"
            )
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
