"""Builds the wheel of DyNet from the package index's source and patches; a cache keeps it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from .target import HEADERS, OLDEST_MACOS, ON_MAC, SYSTEM, BuildError, Compiler, Toolchain, report

RECIPE = Path(__file__).resolve().parent
NAMES = ["setup.py", "pyproject.toml", "sdist.txt", "versions.txt"]
BUILD_FILES = (*NAMES, *(f"{name}-requirements.txt" for name in ("build", "cuda", "zig")))
# bytes that the compile of the largest source file needs
MEMORY_PER_COMPILE, MEMORY_PER_CUDA_COMPILE = 1.2e9, 2e9
ARM = "armv8-a"
# variables that change where pip installs, and compilers' flags, which the cache's key lacks
DROPPED = re.compile(
    "PYTHON(PATH|HOME)|VIRTUAL_ENV|PIP_(TARGET|PREFIX|ROOT)|"
    "_?(PEP517|PYPROJECT_HOOKS)_.*|CC|CXX|LDSHARED|.*FLAGS"
)
FILE = re.compile(r"^--- a/.*\n\+\+\+ b/(.*)\n", re.MULTILINE)
# the start is that in the new file, which the hunks before it have made
HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*\n((?:[ +-].*\n)*)", re.MULTILINE)


def cache_folder() -> Path:
    """Return $RNNG_DY_CACHE, or `rnng_dy` in the user's cache folder; make it if it is missing."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rnng_dy")
    cache = Path(os.environ.get("RNNG_DY_CACHE") or home).absolute()
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def patches(recipe: Path = RECIPE) -> list[Path]:
    """Return the patches in the order in which they apply."""
    return sorted((recipe / "patches").glob("*.diff"))


def sources(recipe: Path = RECIPE) -> list[Path]:
    """Return our own sources, for the folder `python` (Cython's) or `dynet` of the tree."""
    return sorted((recipe / "sources").iterdir())


def inputs(chain: Toolchain, recipe: Path = RECIPE) -> dict[str, object]:
    """Return everything that decides a wheel; sdist.txt has the checksum of the sdist."""
    files = [*(recipe / name for name in BUILD_FILES), *patches(recipe), *sources(recipe)]
    compiler, cuda = chain.compiler, chain.cuda
    return {
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "system": compiler.target or list(SYSTEM),
        "compiler": [compiler.version, compiler.march],
        "cuda": [cuda.version, cuda.architectures] if cuda else None,
    }


def key(values: dict[str, object]) -> str:
    """Return a name for a set of inputs: equal for equal ones.

    >>> key({"march": "x86-64"}) == key({"march": "x86-64-v3"})
    False
    """
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; the system releases it when the process ends, however it ends."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cached_wheel(
    cache: Path, values: dict[str, object], build: Callable[[Path, Path], None]
) -> Path:
    """Return the wheel made from `values`, from the cache or by `build`.

    `build(work, out)` leaves the wheel in `out`.
    """
    folder = cache / f"dynet-{key(values)}"
    with locked(folder.with_suffix(".lock")):
        if wheels := list(folder.glob("*.whl")):
            report(f"wheel from the cache: {wheels[0]}")
            return wheels[0]
        work = folder.with_suffix(".build")
        # a build that was killed leaves it
        shutil.rmtree(work, ignore_errors=True)
        (work / "out").mkdir(parents=True)
        try:
            build(work, work / "out")
            (work / "out").rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return next(folder.glob("*.whl"))


def build_wheel(chain: Toolchain, cache: Path, work: Path, out: Path) -> None:
    """Build the wheel into `out`. Raises BuildError, which names the log, if the build fails."""
    if not (HEADERS / "Python.h").is_file():
        raise BuildError(
            f"no Python headers (Python.h) in {HEADERS}: install the Debian package python3-dev"
        )
    jobs = parallel_jobs(MEMORY_PER_CUDA_COMPILE if chain.cuda else MEMORY_PER_COMPILE)
    log, started = work.with_suffix(".log"), time.monotonic()
    log.unlink(missing_ok=True)
    minutes = "8" if chain.cuda else "4"
    report(f"building DyNet: {minutes} minutes of processor time, compiles at a time: {jobs}")
    report(f"log: {log}")
    tools = new_environment(work / "environment")
    pip(tools, log, "install", "-r", str(RECIPE / "build-requirements.txt"))
    if chain.compiler.target:
        pip(tools, log, "install", "-r", str(RECIPE / "zig-requirements.txt"))
        chain = replace(chain, compiler=_zig(tools, chain.compiler))
    if chain.cuda and chain.cuda.libraries:
        site = next((work / "environment" / "lib").glob("python*/site-packages"))
        shutil.copytree(chain.cuda.libraries, site, symlinks=True, dirs_exist_ok=True)
    elif chain.cuda:
        pip(tools, log, "install", "--no-deps", "-r", str(RECIPE / "cuda-requirements.txt"))
    tree = unpack(fetch_sdist(cache, tools, log), work)
    command = ("wheel", "-v", "--no-deps", "--no-build-isolation", "-w", str(out), str(tree))
    pip(tools, log, *command, **_settings(chain, jobs))
    report(f"built in {time.monotonic() - started:.0f} s")
    log.unlink()


def new_environment(folder: Path) -> Path:
    """Make a virtual environment of this Python; return its Python.

    Raises BuildError, with the package to install.
    """
    command = [sys.executable, "-m", "venv", "--clear", str(folder)]
    if subprocess.run(command, env=environ(), capture_output=True).returncode:
        shutil.rmtree(folder, ignore_errors=True)
        problem = f"{sys.executable} makes no virtual environment"
        raise BuildError(f"{problem}: install the Debian package python3-venv")
    return folder / "bin" / "python"


def fetch_sdist(cache: Path, tools: Path, log: Path) -> Path:
    """Return DyNet's sdist, from the cache or by pip, which checks its sum before it runs it."""
    folder = cache / "sdist"
    with locked(cache / "sdist.lock"), tempfile.TemporaryDirectory(dir=cache) as new:
        if not (sdists := list(folder.glob("*.tar.gz"))):
            command = ("download", "--no-deps", "--no-build-isolation", "--no-binary", "dyNET")
            hashes = ("--require-hashes", "-r", str(RECIPE / "sdist.txt"))
            pip(tools, log, *command, *hashes, "-d", new)
            folder.mkdir(exist_ok=True)
            sdists = [path.replace(folder / path.name) for path in Path(new).glob("*.tar.gz")]
        return sdists[0]


def unpack(sdist: Path, folder: Path) -> Path:
    """Return the source tree, patched, with our build files in it."""
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    tree = next(path for path in folder.iterdir() if (path / "PKG-INFO").exists())
    for patch in patches():
        apply_patch(patch, tree)
    # today's setuptools refuses its only line
    (tree / "setup.cfg").unlink()
    for name in BUILD_FILES:
        shutil.copy(RECIPE / name, tree)
    for source in sources():
        shutil.copy(source, tree / ("python" if source.suffix == ".pxi" else "dynet"))
    return tree


def apply_patch(patch: Path, tree: Path) -> None:
    """Apply a unified diff (paths `a/…`, `b/…`) to the files below `tree`.

    Unlike patch(1) it allows neither fuzz nor offset. Raises BuildError naming the line of the file
    where a hunk does not fit.
    """
    _, *parts = FILE.split(patch.read_bytes().decode())
    if not parts:
        raise BuildError(f"{patch}: no unified diff")
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        file = tree / name
        lines = file.read_bytes().decode().split("\n")
        for removed, start, added, body in HUNK.findall(text):
            hunk = body.removesuffix("\n").split("\n")
            old, new = ([line[1:] for line in hunk if line[0] in f" {sign}"] for sign in "-+")
            if (len(old), len(new)) != (int(removed or 1), int(added or 1)):
                raise BuildError(f"{patch}: the hunk of {name} at line {start} is cut short")
            at = int(start) - 1
            if lines[at : at + len(old)] != old:
                raise BuildError(f"{patch}: does not fit {name} at line {start}")
            lines[at : at + len(old)] = new
        file.write_bytes("\n".join(lines).encode())


def _zig(tools: Path, compiler: Compiler) -> Compiler:
    """Return the compiler with a program of one word, as setuptools needs; zig is a module."""
    program = tools.with_name("zig-c++")
    program.write_text(f'#!/bin/sh\nexec {tools} -m ziglang c++ {compiler.version} "$@"\n')
    program.chmod(0o755)
    return replace(compiler, program=str(program))


def _settings(chain: Toolchain, jobs: int) -> dict[str, str]:
    """Return the environment variables that the recipe's setup.py reads."""
    compiler, cuda = chain.compiler, chain.cuda
    # zig has another name for ARM's first level
    march = "generic" if compiler.target and compiler.march == ARM else compiler.march
    settings = {"CC": compiler.program, "CXX": compiler.program, "DYNET_MARCH": march}
    settings |= {"DYNET_JOBS": str(jobs), "DYNET_ZIG": compiler.target, "DYNET_CUDA_ARCH": ""}
    if ON_MAC:
        # build for one processor, even if Python itself is for two
        settings |= {"ARCHFLAGS": f"-arch {platform.machine()}", "_PYTHON_HOST_PLATFORM": SYSTEM[0]}
        settings["MACOSX_DEPLOYMENT_TARGET"] = OLDEST_MACOS
    if cuda:
        settings |= {
            "DYNET_CUDA_ARCH": cuda.architectures,
            "NVCC": cuda.nvcc,
            "CUDA_HOME": cuda.home,
        }
    return settings


def environ(**settings: str) -> dict[str, str]:
    """Return the environment for pip: the user's own, without the variables of DROPPED."""
    kept = {name: value for name, value in os.environ.items() if not DROPPED.fullmatch(name)}
    fixed = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    return {**kept, **fixed, **settings}


def pip(python: Path, log: Path, *arguments: str, **settings: str) -> None:
    """Run pip with its output in the log; report every tenth compile.

    Raises BuildError if pip fails.
    """
    command = [str(python), "-m", "pip", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    errors: list[str] = []
    with (
        log.open("ab") as record,
        subprocess.Popen(command, env=environ(**settings), **pipes) as process,
    ):
        for line in process.stdout:
            record.write(line)
            text = line.decode(errors="replace").strip()
            if progress := re.search(r"compiled \d+0 of \d+", text):
                report(progress[0])
            errors += [text] if re.search(r"\berror\b|ERROR", text) else []
    if process.returncode:
        raise BuildError(f"pip {arguments[0]} failed: {[*errors, ''][0]} (log: {log})")


def parallel_jobs(memory_each: float) -> int:
    """Return the number of parallel compiles that processors and memory allow, at least one."""
    if ON_MAC:
        return os.cpu_count() or 1
    free = re.search(r"^MemAvailable: +(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return max(1, min(len(os.sched_getaffinity(0)), int(int(free[1]) * 1024 // memory_each)))
