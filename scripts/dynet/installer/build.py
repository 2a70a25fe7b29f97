"""Builds the DyNet wheel: source from the package index, patches, an isolated build."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from oracle.errors import RnngError
from rnng_dy.memory import GIGABYTE, available_memory

from . import environment
from .cache import BUILD_FILES, RECIPE, locked, patches, sources
from .patching import apply_patch
from .target import Compiler, Toolchain, report

# at the peak of the largest source file
MEMORY_PER_COMPILE = 1.2 * GIGABYTE
MEMORY_PER_CUDA_COMPILE = 2 * GIGABYTE
ARM = "armv8-a"


def checksum() -> str:
    """The sdist's sha256 in sdist.txt."""
    return re.search(r"sha256:([0-9a-f]{64})", (RECIPE / "sdist.txt").read_text())[1]


def fetch_sdist(cache: Path, tools: Path, log: Path) -> Path:
    """The sdist, from the cache or through pip, its checksum verified.

    Raises RnngError where pip does not bring it. pip checks the sum before it runs anything of it.
    """
    folder = cache / "sdist"
    with locked(cache / "sdist.lock"):
        for sdist in folder.glob("*.tar.gz"):
            if hashlib.sha256(sdist.read_bytes()).hexdigest() == checksum():
                return sdist
            sdist.unlink()
        with tempfile.TemporaryDirectory(dir=cache) as new:
            command = ("download", "--no-deps", "--no-build-isolation", "--no-binary", "dyNET")
            source = ("--require-hashes", "-r", str(RECIPE / "sdist.txt"), "-d", new)
            pip(tools, log, *command, *source)
            folder.mkdir(exist_ok=True)
            sdist = next(Path(new).glob("*.tar.gz"))
            return sdist.replace(folder / sdist.name)


def unpack(sdist: Path, folder: Path) -> Path:
    """The source tree, patched, with our build files in it."""
    with tarfile.open(sdist) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safely)
    tree = next(path for path in folder.iterdir() if (path / "PKG-INFO").exists())
    for patch in patches():
        apply_patch(patch, tree)
    # its only line is one that today's setuptools refuses
    (tree / "setup.cfg").unlink()
    for name in BUILD_FILES:
        shutil.copy(RECIPE / name, tree)
    for source in sources():
        shutil.copy(source, tree / ("python" if source.suffix == ".pxi" else "dynet"))
    return tree


def build_wheel(chain: Toolchain, jobs: int | None, cache: Path, work: Path, out: Path) -> None:
    """Build the wheel into `out`. Raises RnngError that names the log where the build fails."""
    chain.python.require_headers()
    each = MEMORY_PER_CUDA_COMPILE if chain.cuda else MEMORY_PER_COMPILE
    jobs = jobs or parallel_jobs(each)
    log = work.with_suffix(".log")
    log.unlink(missing_ok=True)
    started = time.monotonic()
    minutes = "8" if chain.cuda else "4"
    report(f"building DyNet: {minutes} minutes of processor time, compiles at a time: {jobs}")
    report(f"log: {log}")
    tools = environment.create(chain.python.executable, work / "environment")
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


def _zig(tools: Path, compiler: Compiler) -> Compiler:
    """The compiler with its program: setuptools wants one word, and zig is a package of Python."""
    program = tools.with_name("zig-c++")
    program.write_text(f'#!/bin/sh\nexec {tools} -m ziglang c++ {compiler.version} "$@"\n')
    program.chmod(0o755)
    return replace(compiler, program=str(program))


def _settings(chain: Toolchain, jobs: int) -> dict[str, str]:
    """The environment variables that the recipe's setup.py reads."""
    compiler, cuda = chain.compiler, chain.cuda
    settings = {"CC": compiler.program, "CXX": compiler.program, "DYNET_MARCH": compiler.march}
    settings |= {"DYNET_JOBS": str(jobs), "DYNET_ZIG": compiler.target}
    if compiler.target and compiler.march == ARM:
        # zig's name of it
        settings["DYNET_MARCH"] = "generic"
    if cuda:
        settings["DYNET_CUDA_ARCH"] = cuda.architectures
        settings |= {"NVCC": cuda.nvcc, "CUDA_HOME": cuda.home}
    return settings


def pip(python: Path, log: Path, *arguments: str, **settings: str) -> None:
    """Run pip with its output in the log; compiles are counted on standard error."""
    command = [str(python), "-m", "pip", *arguments]
    started, shown = time.monotonic(), 0.0
    with log.open("a", encoding="utf-8") as record:
        record.write(f"$ {' '.join(command)}\n")
        record.flush()
        process = subprocess.Popen(
            command,
            env=environment.clean_environ(**settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for line in process.stdout:
            record.write(line)
            progress = re.search(r"compiled \d+ of \d+", line)
            elapsed = time.monotonic() - started
            if progress and elapsed - shown >= 15:
                report(f"{progress[0]}, {elapsed:.0f} s")
                shown = elapsed
    if process.wait() != 0:
        raise RnngError(f"pip {arguments[0]} failed: {_reason(log)} (log: {log})")


def parallel_jobs(memory_each: float) -> int:
    """How many compiles the processors and the memory here carry at a time, at least one."""
    return max(1, min(len(os.sched_getaffinity(0)), int(available_memory() // memory_each)))


def _reason(log: Path) -> str:
    """The line of the log that most likely says what went wrong."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b|ERROR", line)]
    return (errors or lines)[0] if lines else "no output"
