"""Installed versions, how DyNet was built, and the machine's hardware."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterator
from types import ModuleType

from rnng_dy import __version__, engine
from rnng_dy.cpu_level import CPUINFO, cpu_level, runs_here
from rnng_dy.execution.memory import GIGABYTE, available_memory, total_memory

NOT_THERE = "not installed"


def versions() -> Iterator[tuple[str, str]]:
    """Yield each package with its version; the entry of DyNet also says how it was built."""
    yield "rnng_dy", __version__
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    version = engine.installed_version()
    if version is None:
        yield "dynet", NOT_THERE
    else:
        backend = "CUDA build" if engine.has_cuda_build() else "CPU build"
        yield "dynet", ", ".join([f"{version} ({backend}", *_build_details()]) + ")"
    for package in ("numpy", "nltk", "click"):
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield package, NOT_THERE


def machine(march: str) -> Iterator[tuple[str, str]]:
    """Yield processor, GPUs and memory; `march` is the processor that DyNet was built for."""
    if not march:
        fit = ""
    elif not runs_here(march):
        fit = f", too old for the installed DyNet ({march})"
    elif march != cpu_level():
        fit = f", the installed DyNet uses {march} only"
    else:
        fit = ", as the installed DyNet uses it"
    level = cpu_level() or platform.machine()
    yield "CPU", f"{_cpu_name()}, {len(os.sched_getaffinity(0))} cores, {level}{fit}"
    yield "GPUs", str(engine.cuda_device_count())
    total, available = (size / GIGABYTE for size in (total_memory(), available_memory()))
    yield "memory", f"{total:.1f} GB, {available:.1f} GB available"


def march() -> str:
    """Return the processor that the installed DyNet was built for; empty if that is not recorded."""
    build = _build()
    return build.MARCH if build else ""


def _build() -> ModuleType | None:
    try:
        return importlib.import_module("dynet_build")
    except ImportError:
        return None


def _build_details() -> list[str]:
    build = _build()
    if build is None:
        return []
    cards = [f"sm_{number}" for number in build.CUDA_ARCH.split(",") if number]
    return [*cards, f"-march={build.MARCH or 'default'}", build.COMPILER]


def _cpu_name() -> str:
    """Return the processor's name, or the machine type if the system does not report a name."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()
