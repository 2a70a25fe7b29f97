"""The check for machines with a GPU runs here on the CPU; the bundle for such a machine."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from scripts.gpu import bundle, relinking
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
    assert "over 0 s" in gpu_check(tmp_path, *given, code=1).stdout


def test_what_is_not_a_number_is_far_from_everything():
    assert difference(np.array([1.0, np.nan]), np.ones(2), exceptions=0.5) == np.inf
    assert difference(np.ones(2), np.ones(3)) == np.inf


def test_what_a_build_did_becomes_a_ninja_file_for_another_machine(tmp_path):
    tree = tmp_path / "dyNET"
    site = tmp_path / "environment" / "lib" / "python3.12" / "site-packages"
    eigen, nvidia = site / "cmeel.prefix/include/eigen3", site / "nvidia/cu13"
    for name in (eigen, nvidia, *relinking.COPIED, "build/o", "build/lib.x"):
        (tree / name).mkdir(parents=True)
    (tree / "dynet" / "tensor.cc").write_text("int main() {}\n")
    (tree / "dynet" / "tensor.h").touch()
    (tree / "gen" / "merged0.cu").write_text('#include "dynet/tensor.cc"\n')
    (tree / "build/o/merged0.o").touch()
    (tree / "build/lib.x/_dynet.so").touch()
    library, path = f"{nvidia}/lib/libcublas.so.13", "-Wl,-rpath,$ORIGIN/x"
    commands = [
        f"/opt/nvcc -I{nvidia}/include -I{eigen} -c gen/merged0.cu -o build/o/merged0.o".split(),
        f"/opt/c++ build/o/merged0.o {library} {path} -o {tree}/build/lib.x/_dynet.so".split(),
    ]
    (tree / "commands.json").write_text(json.dumps(commands))
    chain = types.SimpleNamespace(
        cuda=types.SimpleNamespace(nvcc="/opt/nvcc", home="/opt/cuda"),
        compiler=types.SimpleNamespace(program="/opt/c++"),
    )
    relinking.write_relinking(tree, chain, tmp_path / "build", "../site")
    text = (tmp_path / "build" / "build.ninja").read_text()
    assert text.endswith("""
build build/o/merged0.o: run gen/merged0.cu | dynet/tensor.cc dynet/tensor.h
  command = $nvcc -I$cuda/include -Ieigen3 -c gen/merged0.cu -o build/o/merged0.o
build ../site/_dynet.so: run build/o/merged0.o
  command = $cxx build/o/merged0.o $cuda_libraries/libcublas.so.13 '-Wl,-rpath,$$ORIGIN/x' \
-o ../site/_dynet.so
""")
    assert [path.name for path in tmp_path.glob("build/build/*/*")] == ["merged0.o"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no CUDA compiler")
def test_a_checkout_with_16_mb_more_runs_the_check_and_links_a_mended_source(tmp_path, shared):
    parser = argparse.ArgumentParser()
    bundle.add_options(parser)
    options = parser.parse_args([])
    chain, cached = bundle.toolchain(options)
    pythons = [*Path.home().glob(".pyenv/versions/3.12.*/bin/python")]
    if not (any(cached.glob("out/*.whl")) and pythons):
        pytest.skip("needs Python 3.12, and in the cache what `make gpu-bundle` compiles")
    bundle.bundle(options, tmp_path / "rnng-dy-gpu.tar.xz")
    assert (tmp_path / "rnng-dy-gpu.tar.xz").stat().st_size <= 16_000_000
    run(tmp_path, "-m", "venv", "env", command=pythons[:1])
    tools = tmp_path / "env" / "bin"
    run(None, "install", "-q", "numpy", "click", "ninja", command=(tools / "pip",))
    # without the archives of models
    for name in ("clusters", "oracle", "rnng_dy", "scripts"):
        ignored = shutil.ignore_patterns("shipped", "__pycache__")
        shutil.copytree(CHECKOUT / name, tmp_path / name, ignore=ignored)
    (cuda,) = cached.glob("environment/lib/python*/site-packages/nvidia/cu13")
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": tools / "python", "CUDA_HOME": cuda}
    environment["CPATH"] = f"{chain.cuda.home}/include"
    check = ("sh", "scripts/gpu/run.sh", "--device", "cpu", "--quick")
    done = run(tmp_path, command=check, env=environment)
    assert "0 failed; " in done.stdout and done.stderr == ""
    unpacked = tmp_path / "rnng-dy-gpu"
    with (unpacked / "build" / "dynet" / "dict.cc").open("a") as source:
        source.write('extern "C" int mended() { return 1; }\n')
    run(unpacked / "build", command=(tools / "ninja",), env=environment)
    assert b"mended" in next(unpacked.glob("site/rnng_dy.dynet/*/_dynet*.so")).read_bytes()
    run(tmp_path, "--only", "start", command=check, env=environment)
