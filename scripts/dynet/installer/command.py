"""The command line of scripts/install_dynet, whose options the build backend takes, too."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from oracle.errors import RnngError

from .builds import CHECKOUT, LEVELS, builds_for
from .target import Python, report

DESCRIPTION = """\
Build DyNet 2.1.2 from the package index's source, with fixes, and install rnng_dy, which it is a part of, into a
Python 3.10 to 3.14. `pip install` of the checkout does the same without showing progress. Needs that Python's
headers, pip and a C++ compiler. The build is kept in $RNNG_DY_CACHE (default ~/.cache/rnng_dy), so a second set-up
takes seconds."""


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line, parsed."""
    parser = argparse.ArgumentParser(prog="install_dynet", description=DESCRIPTION)
    add = parser.add_argument
    add("--python", default=sys.executable, help="install into this Python (default: the one here)")
    add("--cuda", action="store_true", help="with the CUDA backend (needs the CUDA 13 toolkit)")
    add("--cuda-arch", metavar="80,90", help="GPU architectures (default: those of the cards here)")
    add(
        "--portable",
        nargs="?",
        const="x86_64",
        choices=LEVELS,
        help="for any processor and system of a machine (default: %(const)s); zig compiles",
    )
    add("--cache", type=Path, help="folder for builds")
    add("--jobs", type=int, help="compiles at a time (default: by processors and memory)")
    add("--editable", action="store_true", help="install the checkout itself, and its test tools")
    add("--wheel-only", action="store_true", help="print the paths of DyNet's wheels; no install")
    chosen = parser.parse_args(arguments)
    if chosen.cuda_arch and not chosen.cuda:
        parser.error("--cuda-arch goes with --cuda")
    if chosen.cuda and chosen.portable:
        parser.error("--portable and --cuda exclude each other")
    if chosen.jobs is not None and chosen.jobs < 1:
        parser.error("--jobs is 1 or more")
    return chosen


def install(chosen: argparse.Namespace, flags: list[str]) -> None:
    """Install the checkout with pip, whose build backend finds DyNet in the cache."""
    python = Python.ask(chosen.python)
    if not python.has_pip:
        raise RnngError(f"no pip for {python.executable}: install the Debian package python3-pip")
    # the backend runs in another folder
    flags = [*flags, "--python", python.executable]
    if chosen.cache:
        flags += ["--cache", str(chosen.cache.absolute())]
    extras = ["cuda"] * chosen.cuda + ["test"] * chosen.editable
    project = f"{CHECKOUT}[{','.join(extras)}]" if extras else str(CHECKOUT)
    pip = [python.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    what = ["--editable", project] if chosen.editable else [project]
    environ = {**os.environ, "DYNET_FLAGS": shlex.join(flags)}
    if subprocess.run([*pip, *what], env=environ).returncode != 0:
        raise RnngError(f"pip could not install {project} into {python.executable}")
    report(f"rnng_dy is installed into {python.executable}")


def main() -> None:
    """Run the command; an error is one line and exit code 2."""
    chosen = options()
    try:
        builds = builds_for(chosen)
        if chosen.wheel_only:
            print(*dict.fromkeys(builds.wheels.values()), sep="\n")
        else:
            install(chosen, sys.argv[1:])
    except RnngError as error:
        sys.exit(_failed(str(error)))
    except OSError as error:
        sys.exit(_failed(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except KeyboardInterrupt:
        sys.exit(130)


def _failed(message: str) -> int:
    report(f"error: {message}")
    return 2
