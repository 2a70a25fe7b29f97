"""What a wheel depends on besides the recipe: the Python, the compilers, the processor."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from oracle.errors import RnngError
from rnng_dy.cpu_level import cpu_level, lower_levels

PYTHONS = ((3, 10), (3, 14))
OLDEST_GLIBC = "2.17"
# zig takes -Ofast for -O2: without the second and third, sums are not vectorised; the last leaves out debug information
ZIG_FLAGS = ["-fno-sanitize=undefined", "-ffast-math", "-fomit-frame-pointer", "-Wl,-s"]
# clang halves vectors of 512 bits otherwise, and a tile of sources/products.h no longer fits the registers
X86_ZIG_FLAGS = ["-mprefer-vector-width=512"]
DESCRIBE = """
import json, platform, sys, sysconfig
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "implementation": sys.implementation.name + sys.abiflags,
    "platform": sysconfig.get_platform(),
    "libc": " ".join(platform.libc_ver()),
    "headers": sysconfig.get_path("include"),
    "has_pip": __import__("importlib.util").util.find_spec("pip") is not None,
}))
"""
TRIAL = "#include <optional>\n#include <vector>\nint main() { return std::vector<int>().size(); }\n"


@dataclass(frozen=True)
class Python:
    """The Python that the wheel is for."""

    executable: str
    version: tuple[int, int]
    platform: str
    libc: str
    headers: str
    has_pip: bool

    @classmethod
    def ask(cls, executable: str) -> Python:
        """Describe the Python at `executable`. Raises RnngError unless it is 3.10 to 3.14."""
        # made absolute but not resolved: a virtual environment's python is a link
        executable = os.path.abspath(shutil.which(executable) or executable)
        try:
            answer = subprocess.run(
                [executable, "-c", DESCRIBE],
                env={**os.environ, "PYTHONPATH": ""},
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(answer.stdout)
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            raise RnngError(f"{executable} is not a Python that runs: {error}") from error
        implementation = found.pop("implementation")
        version = found["version"] = tuple(found["version"])
        if not PYTHONS[0] <= version <= PYTHONS[1] or implementation != "cpython":
            raise RnngError(
                f"{executable} is {implementation} {version[0]}.{version[1]}: "
                "DyNet is built for CPython 3.10 to 3.14; choose another with --python"
            )
        return cls(executable, **found)

    def require_headers(self) -> None:
        """Raises RnngError, with the package to install, where Python.h is missing."""
        if not (Path(self.headers) / "Python.h").is_file():
            dotted = ".".join(map(str, self.version))
            raise RnngError(
                f"no Python headers (Python.h) in {self.headers}: "
                f"install the Debian package python3-dev (python{dotted}-dev for another Python)"
            )


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler and the -march value it gets.

    With a `target`, such as `x86_64-linux-gnu.2.17`, it is zig's, and `version` has its other arguments.
    """

    program: str
    version: str
    march: str
    target: str = ""

    @classmethod
    def zig(cls, march: str, machine: str) -> Compiler:
        """The C++ compiler of zig, which the build installs for itself, for another machine's glibc."""
        target = f"{machine}-linux-gnu.{OLDEST_GLIBC}"
        flags = ["-target", target, *ZIG_FLAGS, *X86_ZIG_FLAGS * (machine == "x86_64")]
        return cls("", shlex.join(flags), march, target)

    @classmethod
    def find(cls) -> Compiler:
        """$CXX, or g++. Raises RnngError, with the package to install, where that fails."""
        name = os.environ.get("CXX") or "g++"
        program = shutil.which(name)
        if program is None:
            raise RnngError(f"no C++ compiler ({name}): install the Debian package g++")
        # compilers before GCC 11 do not know these levels
        for march in lower_levels(cpu_level()):
            if _compiles(program, march):
                return cls(program, first_line([program, "--version"]), march)
        raise RnngError(
            f"{program} does not compile C++17: install the Debian package g++ (version 8 or later)"
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
        """nvcc of CUDA 13; without `architectures` those of the cards that the driver shows.

        Raises RnngError where either is missing.
        """
        home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        nvcc = shutil.which(os.environ.get("NVCC") or "nvcc") or shutil.which(f"{home}/bin/nvcc")
        if nvcc is None:
            raise RnngError("no CUDA compiler (nvcc): install the CUDA 13 toolkit, or set NVCC")
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
        release = re.search(r"release (\d+)\.\S+ (\S+)", text)
        if release is None or release[1] != "13":
            raise RnngError(f"{nvcc} is not of CUDA 13: install the CUDA 13 toolkit, or set NVCC")
        architectures = architectures or _cards()
        if not re.fullmatch(r"\d+(,\d+)*", architectures):
            raise RnngError(f"--cuda-arch {architectures!r}: numbers such as 90 or 80,90 go here")
        architectures = ",".join(sorted(set(architectures.split(",")), key=int))
        return cls(nvcc, _toolkit(nvcc), release[2], architectures)


@dataclass(frozen=True)
class Toolchain:
    """All that a wheel depends on besides the recipe; `cuda` is None for the CPU backend alone."""

    python: Python
    compiler: Compiler
    cuda: Cuda | None = None


def first_line(command: list[str]) -> str:
    """The first line of what a command prints."""
    return subprocess.run(command, capture_output=True, text=True).stdout.partition("\n")[0]


def report(message: str) -> None:
    """One line of progress on standard error."""
    print(f"install_dynet: {message}", file=sys.stderr, flush=True)


def _compiles(program: str, march: str) -> bool:
    flags = [f"-march={march}"] if march else []
    command = [program, "-std=c++17", *flags, "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=TRIAL, text=True, capture_output=True).returncode == 0


def _toolkit(nvcc: str) -> str:
    """The toolkit's folder as nvcc names it; nvcc's own place may be that of a wrapper."""
    trial = subprocess.run([nvcc, "--dryrun", "-E", "-x", "cu", os.devnull], capture_output=True)
    said = re.search(rb"^#\$ TOP=(.+)$", trial.stderr, re.MULTILINE)
    home = Path(os.fsdecode(said[1].strip()) if said else os.environ.get("CUDA_HOME", ""))
    if not (home / "include" / "crt" / "host_config.h").is_file():
        raise RnngError(f"{nvcc} comes without headers: install the CUDA 13 toolkit, or set NVCC")
    return str(home.resolve())


def _cards() -> str:
    """The architectures of the cards here, `90` say. Raises RnngError where there is none."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        answer = ""
    found = sorted(set(re.findall(r"\d+", answer.replace(".", ""))))
    if not found:
        raise RnngError("no GPU is seen here: say what to compile for, as in --cuda-arch 80,90")
    return ",".join(found)
