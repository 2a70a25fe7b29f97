"""Programs for GPUs, compiled for the emulator of CUDA."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from scripts.gpu.emulator import build


def compile_program(source: Path, folder: Path, *arguments: str) -> Path:
    """Compile a program by the stand-in for nvcc, with the emulator's runtime in the folder."""
    compiler = shutil.which(os.environ.get("CXX") or "g++")
    if not (folder / build.RUNTIME).exists():
        build.compile_runtime(folder, compiler)
    target = folder / f"{source.stem}.o"
    command = [str(build.HERE / "nvcc"), "-x", "cu", "-std=c++17", *arguments, "-c", str(source)]
    subprocess.run([*command, "-o", str(target)], check=True)
    command = [compiler, target, str(folder / build.RUNTIME), f"-Wl,-rpath,{folder}"]
    subprocess.run([*command, "-o", str(target.with_suffix(""))], check=True)
    return target.with_suffix("")


def run(program: Path, *arguments: str, seed: int = 1, trace: Path | None = None):
    settings = {"PATH": os.environ["PATH"], "CUDA_EMULATOR_LEAKS": str(int(program.name == "leak"))}
    settings["CUDA_EMULATOR_SEED"] = str(seed)
    if trace:
        settings["CUDA_EMULATOR_TRACE"] = str(trace)
    # an earlier test of this process may have limited its memory, and the emulated GPU reserves
    # address space
    command = ["prlimit", "--data=unlimited", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=settings)
