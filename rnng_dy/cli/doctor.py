"""`rnng-dy doctor`: what is installed, what the machine has, and whether the numbers are right."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import sys

import click

from oracle.errors import RnngError
from rnng_dy import __version__, engine, plugins
from rnng_dy.cli.options import device_option
from rnng_dy.cpu_level import CPUINFO, cpu_level, runs_here
from rnng_dy.execution.memory import GIGABYTE, available_memory, total_memory

NOT_THERE = "not installed"


@click.command()
@device_option
def doctor(device: str) -> None:
    """Print versions, backend, devices and memory, and check the numerics.

    Ends with 0 where all is well, 1 where a number is wrong, 2 where DyNet cannot be used.

    Example: rnng-dy doctor --device cuda
    """
    _print_versions()
    _print_plugins()
    march = _march()
    _print_machine(march)
    engine.require_build()
    if not runs_here(march):
        raise RnngError(
            f"DyNet was built for {march} and this processor is {cpu_level()}: build it anew with "
            f"`scripts/install_dynet --python {sys.executable}`"
        )
    if not _selfcheck(device):
        sys.exit(1)


def _row(name: str, value: str) -> None:
    click.echo(f"{name:<11}{value}")


def _print_versions() -> None:
    """One line for each package; DyNet's says how it was built."""
    _row("rnng_dy", __version__)
    _row("Python", f"{platform.python_version()} ({sys.executable})")
    version = engine.installed_version()
    if version is None:
        _row("dynet", NOT_THERE)
    else:
        backend = "CUDA build" if engine.has_cuda_build() else "CPU build"
        _row("dynet", ", ".join([f"{version} ({backend}", *_build_details()]) + ")")
    for package in ("numpy", "nltk", "click"):
        try:
            _row(package, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            _row(package, NOT_THERE)


def _print_plugins() -> None:
    for plugin in plugins.loaded():
        _row("plugin", f"{plugin.name} (sha256 {plugin.sha256}) of {plugin.path}")


def _print_machine(march: str) -> None:
    """Processor, cards and memory."""
    if not march:
        fit = ""
    elif not runs_here(march):
        fit = f", too old for the installed DyNet ({march})"
    elif march != cpu_level():
        fit = f", the installed DyNet uses {march} only"
    else:
        fit = ", as the installed DyNet uses it"
    level = cpu_level() or platform.machine()
    _row("CPU", f"{_cpu_name()}, {len(os.sched_getaffinity(0))} cores, {level}{fit}")
    _row("GPUs", str(engine.cuda_device_count()))
    total, available = (size / GIGABYTE for size in (total_memory(), available_memory()))
    _row("memory", f"{total:.1f} GB, {available:.1f} GB available")


def _selfcheck(device: str) -> bool:
    """Run the self-check on a device and print it; whether all of it passed."""
    try:
        if device != engine.CPU:
            engine.start(device)
        from rnng_dy import selfcheck

        checks = selfcheck.run()
    except ImportError as error:
        raise RnngError(f"DyNet does not load ({error}): {engine.INSTALL_HINT}") from error
    click.echo(f"self-check on {device}:")
    for check in checks:
        verdict = "ok" if check.passed else "FAILED"
        click.echo(f"  {check.name:<34}{verdict:<8}{check.seen}")
    return all(check.passed for check in checks)


def _march() -> str:
    """What processor the installed DyNet was built for, empty where that is not recorded."""
    try:
        return importlib.import_module("dynet_build").MARCH
    except ImportError:
        return ""


def _build_details() -> list[str]:
    try:
        build = importlib.import_module("dynet_build")
    except ImportError:
        return []
    cards = [f"sm_{number}" for number in build.CUDA_ARCH.split(",") if number]
    return [*cards, f"-march={build.MARCH or 'default'}", build.COMPILER]


def _cpu_name() -> str:
    """The processor's name, where the system tells it."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", CPUINFO.read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()
