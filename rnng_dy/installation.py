"""Installed versions, how DyNet was built, and the machine's hardware."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rnng_dy import __version__, dynet_builds, engine
from rnng_dy.cpu_level import cpu_level
from rnng_dy.memory import GIGABYTE, total_memory

NOT_THERE = "not installed"


def versions() -> Iterator[tuple[str, str]]:
    """Yield each package with its version; the entry of DyNet also says how it was built."""
    yield "rnng_dy", __version__
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    folder = dynet_builds.build()
    yield "dynet", _described(folder) if folder else NOT_THERE
    for other in dynet_builds.unused():
        yield "", f"not used: {other}"
    for package in ("numpy", "nltk", "click"):
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield package, NOT_THERE


def machine() -> Iterator[tuple[str, str]]:
    """Yield processor, GPUs and memory. Raises RnngError as `dynet_builds.build` does."""
    level, folder = cpu_level() or platform.machine(), dynet_builds.build()
    fit = ""
    if folder and folder.name == level:
        fit = ", as DyNet uses it"
    elif folder:
        fit = f", of which DyNet uses {folder.name}"
    yield "CPU", f"{_cpu_name()}, {_cores()} cores, {level}{fit}"
    yield "GPUs", str(engine.cuda_device_count())
    yield "memory", f"{total_memory() / GIGABYTE:.1f} GB"


def _described(folder: Path) -> str:
    """Return a build's version, backend, processor, compiler and folder."""
    build = dynet_builds.details(folder)
    parts = ["CUDA build" if build.CUDA_ARCH else "CPU build"]
    parts += [f"sm_{number}" for number in build.CUDA_ARCH.split(",") if number]
    parts += [f"-march={build.MARCH or 'default'}", build.COMPILER]
    others = [name for name in dynet_builds.builds() if name != folder.name]
    also = f"; also there: {', '.join(others)}" if others else ""
    return f"{build.VERSION} ({', '.join(parts)}) in {folder}{also}"


def _cores() -> int:
    """Return the number of processors that this process may use; macOS tells those of the machine alone."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_name() -> str:
    """Return the processor's name, or the machine type if the system does not report a name."""
    command = ["sysctl", "machdep.cpu.brand_string"] if sys.platform == "darwin" else ["lscpu"]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
        ).stdout
    except OSError:
        return platform.machine()
    named = re.search(r"^(?:Model name|machdep.cpu.brand_string):\s*(.+)$", said, re.MULTILINE)
    return named[1] if named else platform.machine()
