"""What a machine with a GPU is checked with runs here on the CPU; what is packed for such a machine."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from scripts.gpu import relinking
from scripts.gpu.numbers import difference
from scripts.gpu.steps import CHECKED

from .commands import run

CHECKOUT = Path(__file__).resolve().parent.parent
SPEEDS = ("discriminative, batches of 2", "generative, batches of 2")


def gpu_check(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    check = (sys.executable, "-m", "scripts.gpu", "check", "--device", "cpu")
    environment = {"PATH": "/usr/bin:/bin", "NLTK_DATA": str(folder), "PYTHONPATH": str(CHECKOUT)}
    return run(folder, *arguments, code=code, command=check, env=environment)


@pytest.fixture(scope="module")
def references(tmp_path_factory) -> Path:
    """Made on the CPU, once."""
    folder = tmp_path_factory.mktemp("references")
    gpu_check(folder, "--make-references", "references.npz")
    return folder / "references.npz"


def test_every_step_is_done_on_the_cpu_and_has_a_log(references, tmp_path):
    done = gpu_check(tmp_path, "--quick", "--references", str(references))
    assert done.stderr == "", done.stdout
    verdicts = [line.split()[:2] for line in done.stdout.splitlines() if line[0] != " "]
    assert verdicts[:-1] == [[name, "ok"] for name in CHECKED]
    assert all(f"{speed}: " in done.stdout for speed in SPEEDS)
    logs = {path.stem for path in (tmp_path / "gpu-check").glob("*.log")}
    assert logs == set(CHECKED)


def test_a_wrong_number_a_missing_one_and_a_step_that_takes_too_long_fail(references, tmp_path):
    with np.load(references) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["scores/log p"][3] += 0.1
    arrays["sgd-generative/new"] = np.zeros(3)
    np.savez(tmp_path / "wrong.npz", **arrays)
    steps = ("scores", "sgd-generative", "start")
    done = gpu_check(tmp_path, "--references", "wrong.npz", "--only", *steps, code=1)
    assert "2 failed: scores, sgd-generative;" in done.stdout
    assert "log p" in done.stdout and "inf new" in done.stdout
    given = ("--references", "wrong.npz", "--only", "start", "--seconds", "0.1")
    late = gpu_check(tmp_path, *given, code=1)
    assert "over 0 s" in late.stdout


def test_what_is_not_a_number_is_far_from_everything():
    assert difference(np.array([1.0, np.nan]), np.ones(2), exceptions=0.5) == np.inf
    assert difference(np.ones(2), np.ones(3)) == np.inf


def test_what_a_build_did_becomes_a_ninja_file_for_another_machine(tmp_path):
    tree = tmp_path / "dyNET"
    site = tmp_path / "environment" / "lib" / "python3.12" / "site-packages"
    eigen, nvidia = site / "cmeel.prefix/include/eigen3", site / "nvidia/cu13"
    for folder in (eigen, nvidia, *(tree / name for name in (*relinking.SOURCES, "o"))):
        folder.mkdir(parents=True)
    (tree / "dynet" / "tensor.cc").write_text("int main() {}\n")
    (tree / "dynet" / "tensor.h").touch()
    (tree / "gen" / "merged0.cu").write_text('#include "dynet/tensor.cc"\n')
    (tree / "o" / "merged0.cu.o").touch()
    (tree / "o" / "_dynet.so").touch()
    library, path = f"{nvidia}/lib/libcublas.so.13", "-Wl,-rpath,$ORIGIN/x"
    commands = [
        f"/opt/nvcc -I{nvidia}/include -I{eigen} -c gen/merged0.cu -o o/merged0.cu.o".split(),
        f"/opt/c++ o/merged0.cu.o {library} {path} -o {tree}/o/_dynet.so".split(),
    ]
    (tree / "commands.json").write_text(json.dumps(commands))
    chain = types.SimpleNamespace(
        cuda=types.SimpleNamespace(nvcc="/opt/nvcc", home="/opt/cuda"),
        compiler=types.SimpleNamespace(program="/opt/c++"),
    )
    relinking.write_relinking(tree, chain, tmp_path / "build")
    text = (tmp_path / "build" / "build.ninja").read_text()
    assert text.endswith("""
build o/merged0.cu.o: run gen/merged0.cu | dynet/tensor.cc dynet/tensor.h
  command = $nvcc -I$cuda/include -Ieigen3 -c gen/merged0.cu -o o/merged0.cu.o
build o/_dynet.so: run o/merged0.cu.o
  command = $cxx o/merged0.cu.o $cuda_libraries/libcublas.so.13 '-Wl,-rpath,$$ORIGIN/x' -o o/_dynet.so
""")
    assert (tmp_path / "build" / "o" / "merged0.cu.o").exists()
