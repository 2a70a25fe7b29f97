"""DyNet: its builds, device, memory, seed and autobatching.

No other module finds, configures or imports it. Models write `from rnng_dy.engine import dy` and
use `dy` like the module `dynet`. DyNet reads its configuration once, at import. So the first use of
`dy` (or an explicit `start`) fixes the configuration for the process.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import runpy
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, wraps
from itertools import dropwhile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from oracle.common.errors import RnngError
from oracle.common.tables import is_whole_number
from rnng_dy.engine.cpu_level import LEVEL, cpu_level, lower_levels

P = ParamSpec("P")
T = TypeVar("T")

CPU = "cpu"
VISIBLE = "CUDA_VISIBLE_DEVICES"
NEEDED = "2.1.2+rnng.9"
"""The required version of DyNet with our patches: the last one in scripts/dynet/versions.txt."""
CUDA_BUILD = ".cu13"
"""The suffix that the version of a build with the CUDA backend has."""
INSTALL_HINT = "run `make setup` in a checkout, or install rnng_dy again with pip"
MEMORY = 128
"""MB of each of DyNet's four memory pools at first; they grow when they are full."""

_started: str | None = None
"""The device that DyNet has been started on."""


def installed_version() -> str | None:
    """Return the version of our build of DyNet, or None if it is not installed.

    NEEDED is the version without CUDA_BUILD. Raises RnngError as `build` does.
    """
    folder = build()
    return details(folder).VERSION if folder else None


def require_build() -> None:
    """Raise RnngError if DyNet is missing, or is another version than this package needs."""
    if (version := installed_version()) is None:
        raise RnngError(f"DyNet is not installed: {INSTALL_HINT}")
    if version.removesuffix(CUDA_BUILD) != NEEDED:
        needed = f"this rnng_dy needs {NEEDED}: {INSTALL_HINT}"
        raise RnngError(f"DyNet {version} is installed, and {needed}")


# cuInit reads CUDA_VISIBLE_DEVICES once per process, so this process must not call the driver
# before it is set
_COUNT = """
import ctypes
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
print(count.value)
"""


def cuda_device_count() -> int:
    """Return the number of GPUs that the NVIDIA driver shows, among CUDA_VISIBLE_DEVICES.

    A child process asks the driver, so that this process can still choose its GPU.
    """
    done = subprocess.run([sys.executable, "-c", _COUNT], capture_output=True, text=True)
    return int(done.stdout) if done.stdout.strip().isdigit() else 0


_graph_lock = threading.RLock()


def one_graph(function: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time build and read a graph: DyNet has one graph per process."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        with _graph_lock:
            return function(*args, **kwargs)

    return alone


# a forked process has only the forking thread: a lock held by another thread would never be
# released there
_release = _graph_lock.release
os.register_at_fork(before=_graph_lock.acquire, after_in_parent=_release, after_in_child=_release)


@one_graph
def start(device: str | None = None, memory: int = MEMORY) -> None:
    """Configure and import DyNet, unless it runs on the device already.

    Args: `device` is `cpu`, `cuda` or `cuda:N`; None is the device that it runs on, or else the
    CPU. `memory` is in MB per pool, for the start.
    Raises RnngError if DyNet, its CUDA backend or the GPU is missing, or if DyNet already runs on
    another device.
    """
    global _started
    if device == "cuda":
        device = "cuda:0"
    if _started is not None:
        if device not in (None, _started):
            raise RnngError(f"DyNet already runs on {_started}; it cannot change to {device}")
        return
    require_build()
    device = device or CPU
    gpu = gpu_number(device)
    with first_on_path(), nullcontext() if gpu is None else _visible(gpu):
        try:
            import dynet_config

            dynet_config.set(
                mem=",".join([str(memory)] * 4),
                # each caller seeds its own random draws (`reset_random_seed`); 0 would mean a
                # random seed here
                random_seed=1,
                autobatch=1,
                requested_gpus=0 if gpu is None else 1,
            )
            dy._load()
        except (RuntimeError, ValueError, MemoryError) as error:
            remedy = "" if gpu is None else "; use --device cpu"
            why = f"DyNet does not start on {device}: {error or 'out of memory'}"
            raise RnngError(f"{why}{remedy}") from error
    _started = device


@contextmanager
def _visible(gpu: int) -> Iterator[None]:
    """Show only one GPU to CUDA, which reads the variable once, while it starts in the block."""
    before = os.environ.get(VISIBLE)
    # the number counts in the user's list
    os.environ[VISIBLE] = str(gpu) if before is None else before.split(",")[gpu].strip()
    try:
        yield
    finally:
        del os.environ[VISIBLE]
        os.environ.update({} if before is None else {VISIBLE: before})


def device() -> str:
    """Return the device that DyNet runs on: `cpu` or `cuda:N`."""
    return _started or CPU


def gpu_number(device: str) -> int | None:
    """Return N of `cuda:N`, 0 for `cuda`, None for `cpu`. Raises RnngError for no such GPU."""
    if device == CPU:
        return None
    kind, _, number = device.partition(":")
    number = number or "0"
    if kind != "cuda" or not is_whole_number(number):
        raise RnngError(f"no device {device!r}: say cpu, cuda or cuda:N")
    if not (installed_version() or "").endswith(CUDA_BUILD):
        raise RnngError(
            "this DyNet has no CUDA backend: install rnng_dy with DYNET_FLAGS=--cuda "
            "(docs/gpu.md), or use --device cpu"
        )
    if int(number) >= (count := cuda_device_count()):
        raise RnngError(f"no GPU {number}: the NVIDIA driver shows {count}; use --device cpu")
    return int(number)


class _LazyDynet(types.ModuleType):
    """A stand-in for the module `dynet`, which it imports (through `start`) at the first use."""

    def __getattr__(self, name: str) -> Any:
        if _started is None and not name.startswith("__"):
            start()
            return getattr(self, name)
        raise AttributeError(f"module 'dynet' has no attribute {name!r}")

    def _load(self) -> None:
        """Import DyNet, without what its C++ code writes to standard error when it starts."""
        sys.stderr.flush()
        saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            module = importlib.import_module("dynet")
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(nowhere)
        self.__dict__.update({k: v for k, v in vars(module).items() if not k.startswith("__")})


if TYPE_CHECKING:
    import dynet

    # users import it from here, too
    dy = dynet
else:
    dy = _LazyDynet("dynet")


# our builds of DyNet, in a folder of their own beside the packages, which no other DyNet touches:
# one build for each level of processors, or ANY for those that have no levels

FOLDER, ANY = "rnng_dy.dynet", "any"
MODULES = ("dynet", "_dynet", "dynet_config")


def builds() -> dict[str, Path]:
    """Return the builds' folders by their levels, in the first FOLDER on Python's path."""
    for folder in (Path(__file__).parents[2] / FOLDER, *(Path(p, FOLDER) for p in sys.path)):
        if folder.is_dir():
            return {path.name: path for path in sorted(folder.iterdir()) if path.is_dir()}
    return {}


@cache
def build() -> Path | None:
    """Return the folder of the build that this process uses; None if there are no builds.

    It is the highest level that the processor has, at most the one that RNNG_DY_CPU names, such as
    `v3`. Raises RnngError if no build is as low, or if this processor has no such level.
    """
    folders, wanted = builds(), os.environ.get(LEVEL, "")
    levels = [level or ANY for level in lower_levels(cpu_level())]
    for level in dropwhile(lambda level: not level.endswith(wanted), levels):
        if level in folders:
            return folders[level]
    if folders:
        used = wanted or levels[0]
        raise RnngError(
            f"DyNet was built for {', '.join(folders)}, and this process uses {used}: "
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
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and os.path.dirname(file) != folder:
            raise RnngError(
                f"another DyNet has been imported: {file}; use that of `rnng_dy.engine` instead"
            )
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def versions() -> Iterator[tuple[str, str]]:
    """Yield names and versions of Python, packages, DyNet's build, and the hardware."""
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    if folder := build():
        about = details(folder)
        backend = f"CUDA build for sm_{about.CUDA_ARCH}" if about.CUDA_ARCH else "CPU build"
        made = f"{backend}, -march={about.MARCH or 'default'}, {about.COMPILER}"
        yield "dynet", f"{about.VERSION} ({made}) in {folder}"
    else:
        yield "dynet", "not installed"
    for package in ("numpy", "nltk", "click"):
        yield package, importlib.metadata.version(package)
    yield "CPU", cpu_level() or platform.machine()
    yield "GPUs", str(cuda_device_count())
