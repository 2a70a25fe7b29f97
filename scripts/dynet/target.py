"""The system, the compilers and the processor that a build is for."""

from __future__ import annotations

import os
import platform
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
# the package itself cannot be imported while it is built
_LEVELS = runpy.run_path(str(CHECKOUT / "rnng_dy" / "engine" / "cpu_level.py"))
cpu_level, lower_levels = _LEVELS["cpu_level"], _LEVELS["lower_levels"]
ON_MAC = sys.platform == "darwin"
OLDEST_MACOS = "11.0"
SYSTEM = (sysconfig.get_platform(), " ".join(platform.libc_ver()))
"""The system that a module is compiled for, such as linux-x86_64 and glibc 2.36."""
if ON_MAC:
    # a Python for both of Apple's processors names itself universal2
    SYSTEM = (f"macosx-{OLDEST_MACOS}-{platform.machine()}", "")
GET_COMPILER = "run `xcode-select --install`" if ON_MAC else "install the Debian package g++"
HEADERS = Path(sysconfig.get_path("include"))
# zig reads -Ofast as -O2: without the second and third flag it does not vectorise sums; the last
# flag omits debug information
ZIG_FLAGS = ["-fno-sanitize=undefined", "-ffast-math", "-fomit-frame-pointer", "-Wl,-s"]
TRIAL = "#include <optional>\n#include <vector>\nint main() { return std::vector<int>().size(); }\n"


class Machine(NamedTuple):
    """A kind of machines that a portable wheel is for."""

    target: str
    """zig's name of it."""
    tag: str
    """The wheel's platform tag."""
    levels: tuple[str, ...]
    """The processors that the wheel has a build for, as -march names them."""
    flags: tuple[str, ...] = ()


MACHINES = {
    "x86_64": Machine(
        "x86_64-linux-gnu.2.17",
        "manylinux_2_17_x86_64",
        ("x86-64-v2", "x86-64-v3", "x86-64-v4"),
        # clang would halve vectors of 512 bits, and tiles of sources/products.h not fit registers
        ("-mprefer-vector-width=512",),
    ),
    "aarch64": Machine("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", ("armv8-a",)),
    "macos-arm64": Machine(
        f"aarch64-macos.{OLDEST_MACOS}",
        "macosx_11_0_arm64",
        ("armv8-a",),
        # macOS merges visible functions of the same name in all modules of a process
        ("-fvisibility=hidden", "-fvisibility-inlines-hidden", "-Wl,-undefined,dynamic_lookup"),
    ),
}
"""The machines that portable wheels are made for."""


class BuildError(Exception):
    """The reason why DyNet cannot be built here, and what to do."""


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler and its -march.

    With a `target`, such as `x86_64-linux-gnu.2.17`, it is zig, and `version` has its other
    arguments.
    """

    program: str
    version: str
    march: str
    target: str = ""

    @classmethod
    def zig(cls, march: str, machine: Machine) -> Compiler:
        """Return zig's C++ compiler for another machine; the build installs zig for itself."""
        flags = ["-target", machine.target, *ZIG_FLAGS, *machine.flags]
        return cls("", shlex.join(flags), march, machine.target)

    @classmethod
    def find(cls) -> Compiler:
        """Return $CXX or g++.

        Raises BuildError, with the package to install, if it is missing or too old.
        """
        name = os.environ.get("CXX") or "g++"
        program = shutil.which(name)
        if program is None:
            raise BuildError(f"no C++ compiler ({name}): {GET_COMPILER}")
        # compilers before GCC 11 do not know these levels
        for march in lower_levels(cpu_level()):
            flags = ["-std=c++17", *([f"-march={march}"] if march else [])]
            command = [program, *flags, "-x", "c++", "-fsyntax-only", "-"]
            if not subprocess.run(command, input=TRIAL, text=True, capture_output=True).returncode:
                said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
                return cls(program, said.partition("\n")[0], march)
        raise BuildError(
            f"{program} does not compile C++17 (g++ does from version 8 on): {GET_COMPILER}"
        )


@dataclass(frozen=True)
class Cuda:
    """The CUDA compiler and the architectures to compile for, such as `80,90`."""

    nvcc: str
    home: str
    version: str
    architectures: str
    libraries: str | None = None
    """A folder for site-packages that has CUDA's libraries; NVIDIA's packages if None."""

    @classmethod
    def find(cls, architectures: str | None) -> Cuda:
        """Return nvcc of CUDA 13; without `architectures` those of the cards that the driver shows.

        Raises BuildError if either is missing.
        """
        home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        nvcc = shutil.which(os.environ.get("NVCC") or "nvcc") or shutil.which(f"{home}/bin/nvcc")
        if nvcc is None:
            raise BuildError("no CUDA compiler (nvcc): install the CUDA 13 toolkit, or set NVCC")
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
        release = re.search(r"release (\d+)\.\S+ (\S+)", text)
        if release is None or release[1] != "13":
            raise BuildError(f"{nvcc} is not of CUDA 13: install the CUDA 13 toolkit, or set NVCC")
        numbers = architectures or _cards()
        if not re.fullmatch(r"\d+(,\d+)*", numbers):
            raise BuildError(f"--cuda-arch {numbers!r}: numbers such as 90 or 80,90 go here")
        numbers = ",".join(sorted(set(numbers.split(",")), key=int))
        return cls(nvcc, _toolkit(nvcc), release[2], numbers)


@dataclass(frozen=True)
class Toolchain:
    """The compilers of a build; `cuda` is None for the CPU backend alone."""

    compiler: Compiler
    cuda: Cuda | None = None


def report(message: str) -> None:
    """Print a line of progress on standard error."""
    print(f"install_dynet: {message}", file=sys.stderr, flush=True)


def _toolkit(nvcc: str) -> str:
    """Return the toolkit's folder as nvcc names it; nvcc itself may be a wrapper elsewhere."""
    trial = subprocess.run([nvcc, "--dryrun", "-E", "-x", "cu", os.devnull], capture_output=True)
    said = re.search(rb"^#\$ TOP=(.+)$", trial.stderr, re.MULTILINE)
    home = Path(os.fsdecode(said[1].strip()) if said else os.environ.get("CUDA_HOME", ""))
    if not (home / "include" / "crt" / "host_config.h").is_file():
        raise BuildError(f"{nvcc} comes without headers: install the CUDA 13 toolkit, or set NVCC")
    return str(home.resolve())


def _cards() -> str:
    """Return the architectures of the cards here, such as `90`."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise BuildError(
            "no GPU is seen here: say what to compile for, as in --cuda-arch 80,90"
        ) from None
    return ",".join(re.findall(r"\d+", answer.replace(".", "")))
