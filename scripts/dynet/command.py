"""The command line of scripts/install_dynet, whose options the build backend takes, too."""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

from .build import build_wheel, cache_folder, cached_wheel, inputs
from .target import (
    CHECKOUT,
    MACHINES,
    SYSTEM,
    BuildError,
    Compiler,
    Cuda,
    Toolchain,
    cpu_level,
    lower_levels,
    report,
)

READY = "RNNG_DY_WHEELS"
"""The environment variable that names a folder of wheels, in place of the checkout's `dist`."""
FOLDER = "rnng_dy.dynet"
"""The folder of builds in site-packages; one folder in it for each level of processors."""
DESCRIPTION = """\
Build DyNet 2.1.2 from the package index's source, with fixes, and install rnng_dy, with DyNet in
it, into the Python that runs this. `pip install` of the checkout does the same without showing
progress. Needs this Python's headers, pip and a C++ compiler. The folder $RNNG_DY_CACHE (default
~/.cache/rnng_dy) keeps the build."""


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="install_dynet", description=DESCRIPTION)
    add = parser.add_argument
    one = parser.add_mutually_exclusive_group().add_argument
    one("--cuda", action="store_true", help="with the CUDA backend (needs the CUDA 13 toolkit)")
    add("--cuda-arch", metavar="80,90", help="GPU architectures (default: those of the cards here)")
    one(
        "--portable",
        nargs="?",
        const="x86_64",
        choices=MACHINES,
        help="for any processor and system of a machine (default: %(const)s); zig compiles",
    )
    add("--editable", action="store_true", help="install the checkout itself, and its test tools")
    add("--wheel-only", action="store_true", help="print the paths of DyNet's wheels; no install")
    chosen = parser.parse_args(arguments)
    if chosen.cuda_arch and not chosen.cuda:
        parser.error("--cuda-arch goes with --cuda")
    return chosen


def builds_for(chosen: argparse.Namespace) -> tuple[dict[str, Path], str]:
    """Return the wheels with the builds that the options name, by level, and their platform.

    Builds those that are missing. Raises BuildError, which says what to install, if a compiler or
    headers are missing.
    """
    platform = re.sub(r"[-.]", "_", SYSTEM[0])
    if not (chosen.cuda or chosen.portable) and (ready := _ready()):
        return ready, platform
    if chosen.portable:
        machine = MACHINES[chosen.portable]
        chains = [Toolchain(Compiler.zig(level, machine)) for level in machine.levels]
        platform = machine.tag
    else:
        cuda = Cuda.find(chosen.cuda_arch) if chosen.cuda else None
        chains = [Toolchain(Compiler.find(), cuda)]
    cache = cache_folder()
    wheels = {}
    for chain in chains:
        build = functools.partial(build_wheel, chain, cache)
        wheels[chain.compiler.march] = cached_wheel(cache, inputs(chain), build)
    return wheels, platform


def modules_of(wheel: Path, level: str) -> dict[str, bytes]:
    """Return the modules in a wheel of DyNet or of rnng_dy by their paths in site-packages."""
    folder = f"{FOLDER}/{level or 'any'}/"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        inside = [name for name in names if name.startswith(folder)]
        modules = inside or [name for name in names if "/" not in name]
        return {folder + Path(name).name: archive.read(name) for name in modules}


def _ready() -> dict[str, Path]:
    """Return the builds of a ready wheel of rnng_dy that run here; empty without such a wheel."""
    folder = Path(os.environ.get(READY) or CHECKOUT / "dist")
    if os.environ.get(READY) and not any(folder.glob("rnng_dy-*.whl")):
        raise BuildError(f"{READY}={folder} has no wheel of rnng_dy: name another, or unset it")
    needed = (CHECKOUT / "scripts" / "dynet" / "versions.txt").read_text().split()[-2]
    machine = MACHINES.get(SYSTEM[0].removeprefix("linux-"))
    if machine is None or not SYSTEM[1].startswith("glibc"):
        return {}
    for wheel in sorted(folder.glob(f"rnng_dy-*-{machine.tag}.whl"), reverse=True):
        with zipfile.ZipFile(wheel) as archive:
            builds = [Path(name) for name in archive.namelist() if name.endswith("dynet_build.py")]
            is_current = all(repr(needed) in archive.read(str(name)).decode() for name in builds)
        levels = [name.parent.name for name in builds]
        if is_current and {*levels} & {*lower_levels(cpu_level())}:
            report(f"DyNet is taken from {wheel}")
            return dict.fromkeys(levels, wheel)
    return {}


def install(chosen: argparse.Namespace, flags: list[str]) -> None:
    """Install the checkout with pip, whose build backend finds DyNet in the cache."""
    extras = ["cuda"] * chosen.cuda + ["test"] * chosen.editable
    project = f"{CHECKOUT}[{','.join(extras)}]" if extras else str(CHECKOUT)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    what = ["--editable", project] if chosen.editable else [project]
    environ = {**os.environ, "DYNET_FLAGS": shlex.join(flags)}
    if subprocess.run([*pip, *what], env=environ).returncode:
        raise BuildError(f"pip could not install {project} into {sys.executable}")
    report(f"rnng_dy is installed into {sys.executable}")


def main() -> None:
    """Run the command; an error is one line and exit code 2."""
    chosen = options()
    try:
        wheels, _ = builds_for(chosen)
        if chosen.wheel_only:
            print(*dict.fromkeys(wheels.values()), sep="\n")
        else:
            install(chosen, sys.argv[1:])
    except (BuildError, OSError) as error:
        report(f"error: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
