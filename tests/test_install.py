"""The installation: the recipe's key and cache, its prerequisites, Makefile."""

from __future__ import annotations

import dataclasses
import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from rnng_dy import engine
from scripts.dynet import build, command, target
from scripts.dynet.target import BuildError

from .commands import run
from .conftest import CHECKOUT, needs_proc
from .installing import write_wheel

COMPILER = target.Compiler("/usr/bin/g++", "g++ 12.2.0", "x86-64-v3")
CUDA = target.Cuda("/usr/bin/nvcc", "/usr/local/cuda", "V13.0.88", "90")
CHAIN = target.Toolchain(COMPILER)


def test_every_difference_of_the_tool_chain_gives_another_key():
    change, zig, machines = dataclasses.replace, target.Compiler.zig, target.MACHINES
    compilers = [COMPILER, change(COMPILER, version="g++ 14.2.0"), change(COMPILER, march="x86-64")]
    compilers += [zig("x86-64-v3", machines["x86_64"]), zig("x86-64", machines["x86_64"])]
    compilers.append(zig("x86-64-v3", machines["aarch64"]))
    cuda = [CUDA, change(CUDA, architectures="80,90"), change(CUDA, version="V13.1.1")]
    chains = [*map(target.Toolchain, compilers), *(target.Toolchain(COMPILER, of) for of in cuda)]
    assert len({build.key(build.inputs(chain)) for chain in chains}) == len(chains)


def test_a_system_changes_the_key_and_the_place_of_a_compiler_does_not(monkeypatch):
    before = build.key(build.inputs(CHAIN))
    moved = target.Toolchain(dataclasses.replace(COMPILER, program="/elsewhere/g++"))
    assert build.key(build.inputs(moved)) == before
    monkeypatch.setattr(build, "SYSTEM", ("linux-x86_64", "glibc 9.9"))
    assert build.key(build.inputs(CHAIN)) != before


@pytest.mark.parametrize("name", [*build.BUILD_FILES, *(p.name for p in build.patches())])
def test_every_file_of_the_recipe_is_in_the_key(name, tmp_path):
    shutil.copytree(build.RECIPE, tmp_path / "recipe")
    before = build.key(build.inputs(CHAIN, tmp_path / "recipe"))
    file = next((tmp_path / "recipe").rglob(name))
    file.write_text(file.read_text() + "\n")
    assert build.key(build.inputs(CHAIN, tmp_path / "recipe")) != before


def test_another_recipe_has_another_version():
    """versions.txt: each version of the wheel, and the checksum of the recipe that it is built from."""
    lines = (build.RECIPE / "versions.txt").read_text().splitlines()
    versions, checksums = zip(*map(str.split, lines), strict=True)
    assert versions == tuple(f"2.1.2+rnng.{n}" for n in range(1, len(lines) + 1))
    assert len(set(checksums)) == len(checksums)
    files = build.inputs(CHAIN)["files"]
    del files["versions.txt"]
    line = f"2.1.2+rnng.{len(lines) + 1} {build.key(files)}"
    assert checksums[-1] == build.key(files), f"add this line to versions.txt: {line}"
    assert versions[-1] == engine.NEEDED


def test_a_wheel_is_built_once_whatever_a_failed_or_killed_build_left(tmp_path):
    def fail(work: Path, out: Path) -> None:
        (out / "half.whl").write_bytes(b"PK")
        raise BuildError("no")

    with pytest.raises(BuildError, match="no"):
        build.cached_wheel(tmp_path, {}, fail)
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
    out = tmp_path / f"dynet-{build.key({})}.build" / "out"
    out.mkdir(parents=True)
    (out / "half.whl").write_bytes(b"PK")
    wheel = build.cached_wheel(tmp_path, {}, write_wheel)
    assert [path.name for path in wheel.parent.glob("*.whl")] == [wheel.name]
    assert build.cached_wheel(tmp_path, {}, fail) == wheel
    assert not list(tmp_path.glob("*.build"))


def test_the_cache_lies_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("RNNG_DY_CACHE", raising=False)
    assert build.cache_folder() == tmp_path / "xdg" / "rnng_dy"
    monkeypatch.setenv("RNNG_DY_CACHE", str(tmp_path / "own"))
    assert build.cache_folder() == tmp_path / "own"


@pytest.fixture(autouse=True)
def no_ready_wheel(monkeypatch, tmp_path_factory):
    """A ready wheel in dist/ would spare the compiler."""
    folder = tmp_path_factory.mktemp("wheels")
    (folder / "rnng_dy-0-py3-none-any.whl").touch()
    monkeypatch.setenv("RNNG_DY_WHEELS", str(folder))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (None, "no C++ compiler (g++): install the Debian package g++"),
        ("--cuda", "no CUDA compiler (nvcc): install the CUDA 13 toolkit, or set NVCC"),
    ],
)
def test_a_missing_compiler_is_named_with_what_to_install(tmp_path, option, says):
    names = ("RNNG_DY_CACHE", "PATH", "CUDA_HOME")
    environ = {**os.environ, **dict.fromkeys(names, str(tmp_path)), "CXX": "", "NVCC": ""}
    script = (sys.executable, CHECKOUT / "scripts" / "install_dynet")
    done = run(None, *filter(None, [option]), code=2, command=script, env=environ)
    assert done.stderr == f"install_dynet: error: {says}\n"


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Puts a shell script in place of the compiler that a variable names."""

    def write(variable: str, script: str) -> None:
        program = tmp_path / "compiler"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv(variable, str(program))

    return write


def test_a_compiler_that_compiles_nothing_is_named_with_its_package(compiler):
    compiler("CXX", "exit 1")
    with pytest.raises(BuildError, match=r"does not compile C\+\+17 .* package g\+\+"):
        target.Compiler.find()


def test_a_compiler_that_does_not_know_the_cpu_level_compiles_for_the_plain_one(
    compiler, monkeypatch
):
    compiler("CXX", 'case "$*" in *64-v*) exit 1;; esac\necho g++ 10')
    monkeypatch.setattr(target, "cpu_level", lambda: "x86-64-v3")
    assert target.Compiler.find().march == "x86-64"


def test_missing_headers_are_named_with_their_package(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "HEADERS", tmp_path)
    with pytest.raises(BuildError, match=r"Python\.h.*python3-dev"):
        build.build_wheel(CHAIN, tmp_path, tmp_path / "work", tmp_path / "out")


def test_a_cuda_toolkit_is_of_version_13_has_headers_and_cards_in_any_order(compiler, tmp_path):
    compiler("NVCC", "echo 'Cuda tools, release 12.4, V12.4.99'")
    with pytest.raises(BuildError, match="not of CUDA 13"):
        target.Cuda.find("90")
    compiler("NVCC", f"echo 'tools, release 13.0, V13.0.88'\necho '#$ TOP={tmp_path}' >&2")
    with pytest.raises(BuildError, match="comes without headers"):
        target.Cuda.find("90")
    (tmp_path / "include" / "crt").mkdir(parents=True)
    (tmp_path / "include" / "crt" / "host_config.h").touch()
    assert target.Cuda.find("90,80,90") == target.Cuda.find("80,90")
    with pytest.raises(BuildError, match="numbers such as 90"):
        target.Cuda.find("sm_90")


def test_an_old_python_is_told_plainly(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 8, 20, "final", 0))
    with pytest.raises(SystemExit, match=r"needs Python 3\.10 to 3\.14.* 3\.8"):
        runpy.run_path(str(CHECKOUT / "scripts" / "script_start.py"))


@pytest.mark.parametrize("arguments", [["--cuda-arch", "90"], ["--cuda", "--portable"]])
def test_options_that_make_no_sense(arguments):
    with pytest.raises(SystemExit) as left:
        command.options(arguments)
    assert left.value.code == 2


@needs_proc
def test_compiles_at_a_time_are_bounded_by_memory_and_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(4)))
    assert build.parallel_jobs(1.0) == 4
    assert build.parallel_jobs(1e18) == 1


def test_a_build_that_fails_names_its_log(tmp_path):
    log = tmp_path / "pip.log"
    with pytest.raises(BuildError, match=r"pip install failed: ERROR: .*pip\.log"):
        build.pip(Path(sys.executable), log, "install", "--no-index", str(tmp_path / "none.whl"))
    assert "none.whl" in log.read_text()


def test_a_broken_virtual_environment_is_made_again(tmp_path):
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / "bin" / "python").symlink_to(tmp_path / "gone")
    make = ("make", "-C", CHECKOUT, "setup", f"VENV={folder}", f"PYTHON={sys.executable}")
    # without the installation, which comes next
    run(None, command=(*make, "MAKE=true"))
    (folder / "kept").touch()
    run(None, command=(*make, "MAKE=true"))
    assert {"bin", "kept", "pyvenv.cfg"} <= {path.name for path in folder.iterdir()}


def test_the_backend_imports_nothing_of_the_package_that_it_builds():
    program = "import sys, scripts.dynet.backend; print(*sys.modules)"
    loaded = run(CHECKOUT, program, command=(sys.executable, "-c")).stdout.split()
    assert "setuptools" in loaded
    assert not {"rnng_dy", "oracle", "clusters"} & {*loaded}


@pytest.mark.parametrize(
    "name", ["_PYPROJECT_HOOKS_BACKEND_PATH", "PEP517_BUILD_BACKEND", "CXXFLAGS", "PYTHONPATH"]
)
def test_an_inner_pip_does_not_inherit_what_leads_it_elsewhere(name, monkeypatch):
    monkeypatch.setenv(name, "scripts/dynet")
    assert name not in build.environ()
