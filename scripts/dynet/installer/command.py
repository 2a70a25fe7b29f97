"""The command line of scripts/install_dynet: find or build the wheel, install it, try it."""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from oracle.errors import RnngError

from . import environment
from .build import build_wheel
from .cache import cache_folder, cached_wheel, inputs
from .target import Compiler, Cuda, Python, Toolchain, report

DESCRIPTION = """\
Build DyNet 2.1.2 from the package index's source, with fixes, and install it into a Python 3.10 to
3.13. Needs that Python's headers, pip and a C++ compiler. The wheel is kept in $RNNG_DY_CACHE
(default ~/.cache/rnng_dy), so a second set-up takes seconds."""
ORIGIN = """
import importlib.metadata as metadata
try:
    print(metadata.distribution("dynet").read_text("direct_url.json") or "{}")
except metadata.PackageNotFoundError:
    print("{}")
"""
TRIAL = """
import dynet_config
dynet_config.set(mem="1,1,1,1", requested_gpus=0)
import dynet, numpy
left, right = numpy.arange(6.0).reshape(2, 3), numpy.arange(12.0).reshape(3, 4)
product = dynet.inputTensor(left) * dynet.inputTensor(right)
assert numpy.array_equal(product.npvalue(), left @ right), product.npvalue()
"""


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line, parsed."""
    parser = argparse.ArgumentParser(prog="install_dynet", description=DESCRIPTION)
    add = parser.add_argument
    add("--python", default=sys.executable, help="install into this Python (default: the one here)")
    add("--cuda", action="store_true", help="with the CUDA backend (needs the CUDA 13 toolkit)")
    add("--cuda-arch", metavar="80,90", help="GPU architectures (default: those of the cards here)")
    add("--cache", type=Path, help="folder for wheels")
    add("--jobs", type=int, help="compiles at a time (default: by processors and memory)")
    add("--wheel-only", action="store_true", help="print the wheel's path and do not install it")
    chosen = parser.parse_args(arguments)
    if chosen.cuda_arch and not chosen.cuda:
        parser.error("--cuda-arch goes with --cuda")
    if chosen.jobs is not None and chosen.jobs < 1:
        parser.error("--jobs is 1 or more")
    return chosen


def install(python: Python, wheel: Path) -> None:
    """Install the wheel unless this very one is there already."""
    if not python.has_pip:
        raise RnngError(f"no pip for {python.executable}: install the Debian package python3-pip")
    if _installed_sha256(python) == hashlib.sha256(wheel.read_bytes()).hexdigest():
        return
    pip = [python.executable, "-m", "pip", "install", "--quiet"]
    # the first brings what the wheel needs, the second replaces another build of the same version
    for command in ([*pip, str(wheel)], [*pip, "--force-reinstall", "--no-deps", str(wheel)]):
        if subprocess.run(command).returncode != 0:
            raise RnngError(f"pip could not install {wheel} into {python.executable}")


def try_out(python: Python) -> None:
    """Compute one matrix product in the target Python. Raises RnngError where that goes wrong."""
    tried = environment.run(python.executable, "-c", TRIAL, cwd="/")
    if tried.returncode != 0:
        reason = (tried.stderr.strip() or f"exit status {tried.returncode}").splitlines()[-1]
        raise RnngError(f"DyNet is installed into {python.executable} but does not work: {reason}")


def run(chosen: argparse.Namespace) -> None:
    """Do what the command line says. Raises RnngError, OSError."""
    python = Python.ask(chosen.python)
    cuda = Cuda.find(chosen.cuda_arch) if chosen.cuda else None
    chain = Toolchain(python, Compiler.find(), cuda)
    cache = (chosen.cache or cache_folder()).absolute()
    cache.mkdir(parents=True, exist_ok=True)
    build = functools.partial(build_wheel, chain, chosen.jobs, cache)
    wheel = cached_wheel(cache, inputs(chain), build)
    if chosen.wheel_only:
        print(wheel)
        return
    install(python, wheel)
    try_out(python)
    report(f"DyNet works in {python.executable}")


def main() -> None:
    """Run the command; an error is one line and exit code 2."""
    try:
        run(options())
    except RnngError as error:
        sys.exit(_failed(str(error)))
    except OSError as error:
        sys.exit(_failed(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except KeyboardInterrupt:
        sys.exit(130)


def _failed(message: str) -> int:
    report(f"error: {message}")
    return 2


def _installed_sha256(python: Python) -> str | None:
    """The checksum of the wheel file that DyNet was installed from (PEP 610)."""
    answer = environment.run(python.executable, "-c", ORIGIN, cwd="/").stdout
    record = json.loads(answer or "{}").get("archive_info", {})
    return record.get("hashes", {}).get("sha256") or record.get("hash", "=").partition("=")[2]
