"""The build backend that pyproject.toml names (PEP 517 and 660): setuptools' own, with builds of DyNet in each wheel.

`-C dynet="--cuda"`, or the environment variable DYNET_FLAGS, gives the options that scripts/install_dynet has.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

import scripts.script_start  # noqa: F401
from oracle.errors import RnngError

from . import command
from .builds import CHECKOUT, builds_for
from .repacking import repack

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, str] | None
STABLE_ABI = "cp310-abi3"
"""Builds of DyNet load into Python 3.10 and later."""


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Write the wheel into a folder and return its name. Ends with a message where DyNet cannot be built."""
    return _with_dynet(build_meta.build_wheel, folder, settings, metadata)


def build_editable(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Write the wheel of an editable install: DyNet is in it, the packages stay in the checkout."""
    return _with_dynet(build_meta.build_editable, folder, settings, metadata)


def _with_dynet(
    build: Callable[..., str], folder: str, settings: Settings, metadata: str | None
) -> str:
    flags = (settings or {}).get("dynet") or os.environ.get("DYNET_FLAGS", "")
    try:
        builds = builds_for(command.options(shlex.split(flags)))
    except RnngError as error:
        sys.exit(f"error: {error}")
    # setuptools would take modules that are gone from an earlier build
    shutil.rmtree(CHECKOUT / "build" / "lib", ignore_errors=True)
    wheel = Path(folder) / build(folder, settings, metadata)
    return repack(wheel, builds.files(), f"{STABLE_ABI}-{builds.platform}").name
