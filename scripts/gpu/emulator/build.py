"""The emulated build of DyNet: a folder with its libraries and its wheel."""

import argparse
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from rnng_dy.engine import ANY, FOLDER, cpu_level
from scripts.dynet.build import build_wheel, cache_folder, cached_wheel, inputs, key, locked
from scripts.dynet.target import BuildError, Compiler, Cuda, Toolchain

HERE = Path(__file__).resolve().parent
RUNTIME = "libcudart.so.13"
# the driver's and the toolkit's other libraries are the same file
LINKS = ("libcublas.so.13", "libcurand.so.13", "libcuda.so.1")
DESCRIPTION = (
    "Run a command with DyNet's CUDA backend on an emulated GPU: `--device cuda` runs on the CPU, "
    "slowly, and finds races, wrong pointers, uninitialised memory and accesses out of bounds. The "
    "first run builds it."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `emulate`."""
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")


def main(options: argparse.Namespace) -> None:
    """Build the emulator if it is missing, and become the command; or else print the folder."""
    try:
        folder = emulated()
    except BuildError as error:
        sys.exit(f"gpu emulate: error: {error}")
    if not options.command:
        print(folder)
        return
    sys.stdout.flush()
    os.execvpe(options.command[0], options.command, {**os.environ, **environment(folder)})


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with which Python finds the emulated DyNet in a folder."""
    paths = {"PYTHONPATH": folder, "LD_LIBRARY_PATH": libraries(folder)}
    return {
        name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)]))
        for name, path in paths.items()
    }


def libraries(folder: Path) -> Path:
    """Return the folder where NVIDIA's packages would have their libraries."""
    return folder / "nvidia" / "cu13" / "lib"


def hashed(*names: str) -> str:
    """Return the hash of files and folders of the emulator."""
    paths = [path for name in names for path in (HERE / name, *sorted((HERE / name).rglob("*")))]
    content = b"".join(path.read_bytes() for path in paths if path.is_file())
    return hashlib.sha256(content).hexdigest()[:16]


def compile_runtime(folder: Path, compiler: str) -> None:
    """Compile the emulator's runtime into a folder, under the names of CUDA's libraries."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = map(str, sorted((HERE / "runtime").glob("*.cc")))
    command = [compiler, "-std=c++17", "-O2", "-fPIC", "-shared", f"-Wl,-soname,{RUNTIME}"]
    subprocess.run([*command, *sources, "-o", str(folder / RUNTIME)], check=True)
    for name in LINKS:
        (folder / name).symlink_to(RUNTIME)


def emulated() -> Path:
    """Return a folder with the emulated DyNet, built if the cache has none. Raises BuildError."""
    cache = cache_folder()
    compiler = Compiler.find()
    made_of = {"files": hashed("include", "runtime"), "by": compiler.version}
    runtime = cache / f"cuda-emulator-{key(made_of)}"
    with locked(runtime.with_suffix(".lock")):
        if not (libraries(runtime) / RUNTIME).exists():
            shutil.rmtree(runtime, ignore_errors=True)
            compile_runtime(libraries(runtime), compiler.program)
    # DyNet's own code is compiled anew only if the headers change
    both, version = str(HERE / "nvcc"), f"emulated {hashed('include', 'nvcc')}"
    cuda = Cuda(both, str(HERE), version, "90", str(runtime))
    os.environ["EMULATED_CXX"] = compiler.program
    chain = Toolchain(replace(compiler, program=both), cuda)
    os.environ["EMULATED_OBJECTS"] = str(cache / "emulated-objects")
    (cache / "emulated-objects").mkdir(exist_ok=True)
    wheel = cached_wheel(cache, inputs(chain), functools.partial(build_wheel, chain, cache))
    folder = wheel.parent / f"site-{runtime.name}"
    with locked(folder.with_suffix(".lock")):
        if not folder.is_dir():
            new = folder.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            # rnng_dy takes the first folder of builds on Python's path
            shutil.unpack_archive(wheel, new / FOLDER / (cpu_level() or ANY), "zip")
            shutil.copytree(runtime, new, symlinks=True, dirs_exist_ok=True)
            new.rename(folder)
    return folder
