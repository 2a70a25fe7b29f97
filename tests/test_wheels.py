"""The wheel of rnng_dy: builds of DyNet go into it, are taken from a ready one, and one is chosen when loaded."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest

from oracle.common.errors import RnngError
from rnng_dy import engine
from scripts.dynet import backend, command, target
from scripts.dynet import wheels as trying
from scripts.dynet.backend import repack

from .commands import PYTHON, run
from .installing import write_wheel

MANYLINUX = "rnng_dy-0.3.0-cp310-abi3-manylinux_2_17_x86_64.whl"
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


def pure_wheel(folder: Path) -> Path:
    """A wheel as setuptools writes it."""
    wheel = folder / "rnng_dy-0.3.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("rnng_dy/__init__.py", "")
        info = "rnng_dy-0.3.0.dist-info"
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "rnng_dy/__init__.py,,\n")
    return wheel


def portable_wheel(folder: Path, version: str = engine.NEEDED, name: str = MANYLINUX) -> Path:
    """A wheel as `make wheels` writes it, with modules that only say which they are."""
    modules = {}
    for level in LEVELS:
        modules[f"rnng_dy.dynet/{level}/_dynet.abi3.so"] = level.encode()
        modules[f"rnng_dy.dynet/{level}/dynet_build.py"] = f"VERSION = {version!r}\n".encode()
    return repack(pure_wheel(folder), modules, name.partition("0.3.0-")[2].removesuffix(".whl"))


def test_files_are_added_to_a_wheel_whose_record_stays_true(tmp_path):
    files = {"rnng_dy.dynet/any/_dynet.abi3.so": b"code", "rnng_dy.dynet/NOTICE.txt": b"text"}
    wheel = repack(pure_wheel(tmp_path), files, "cp310-abi3-linux_x86_64")
    assert [path.name for path in tmp_path.iterdir()] == [wheel.name]
    assert wheel.name == "rnng_dy-0.3.0-cp310-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        record = archive.read("rnng_dy-0.3.0.dist-info/RECORD").decode()
        rows = {name: (digest, size) for name, digest, size in csv.reader(record.splitlines())}
        assert rows.keys() == set(archive.namelist())
        assert rows.pop("rnng_dy-0.3.0.dist-info/RECORD") == ("", "")
        for name, (digest, size) in rows.items():
            data = archive.read(name)
            urlsafe = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
            assert (digest, size) == (f"sha256={urlsafe.rstrip('=')}", str(len(data)))
        about = archive.read("rnng_dy-0.3.0.dist-info/WHEEL").decode()
        mode = archive.getinfo("rnng_dy.dynet/any/_dynet.abi3.so").external_attr >> 16
    assert "Root-Is-Purelib: false\nTag: cp310-abi3-linux_x86_64\n" in about
    assert mode == 0o755


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    """The folder of ready wheels, where nothing is compiled and setuptools' part is a stand-in."""
    monkeypatch.setenv("CXX", "/bin/false")
    monkeypatch.setenv("RNNG_DY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RNNG_DY_WHEELS", str(tmp_path / "wheels"))
    (tmp_path / "wheels").mkdir()
    for name in ("build_wheel", "build_editable"):
        monkeypatch.setattr(
            backend.build_meta, name, lambda folder, *settings: pure_wheel(Path(folder)).name
        )
    monkeypatch.setattr(command, "SYSTEM", ("linux-x86_64", "glibc 2.36"))
    return tmp_path / "wheels"


@pytest.mark.parametrize("hook", [backend.build_wheel, backend.build_editable])
def test_a_ready_wheel_spares_the_compiler(hook, no_compiler, monkeypatch, tmp_path):
    ready = portable_wheel(no_compiler)
    monkeypatch.setattr(command, "cpu_level", lambda: "x86-64-v3")
    name = hook(str(tmp_path))
    assert name == "rnng_dy-0.3.0-cp310-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(tmp_path / name) as made, zipfile.ZipFile(ready) as given:
        inside = [entry for entry in given.namelist() if entry.startswith("rnng_dy.dynet/")]
        assert len(inside) == 2 * len(LEVELS)
        assert all(made.read(entry) == given.read(entry) for entry in inside)
        assert b"Eigen" in made.read("rnng_dy.dynet/NOTICE.txt")


@pytest.mark.parametrize(
    ("name", "version", "level", "flags"),
    [
        (MANYLINUX, "2.1.2+rnng.0", "x86-64-v3", ""),
        (MANYLINUX.replace("2_17", "2_99"), engine.NEEDED, "x86-64-v3", ""),
        (MANYLINUX.replace("x86_64", "aarch64"), engine.NEEDED, "x86-64-v3", ""),
        (MANYLINUX.replace("manylinux_2_17", "linux"), engine.NEEDED, "x86-64-v3", ""),
        (MANYLINUX, engine.NEEDED, "x86-64", ""),
        (MANYLINUX, engine.NEEDED, "x86-64-v3", "--cuda --cuda-arch 90"),
    ],
)
def test_a_ready_wheel_that_does_not_fit_is_left(
    no_compiler, monkeypatch, tmp_path, name, version, level, flags
):
    portable_wheel(no_compiler, version, name)
    monkeypatch.setattr(command, "cpu_level", lambda: level)
    with pytest.raises(SystemExit, match=r"error: .*(does not compile C\+\+17|CUDA)"):
        backend.build_wheel(str(tmp_path), {"dynet": flags})


def test_a_folder_without_wheels_is_named(no_compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("RNNG_DY_WHEELS", str(tmp_path / "absent"))
    says = "RNNG_DY_WHEELS=.*absent has no wheel of rnng_dy"
    with pytest.raises(SystemExit, match=says):
        backend.build_wheel(str(tmp_path))


def test_flags_come_from_pip_or_from_the_environment(no_compiler, monkeypatch, tmp_path):
    asked = []

    def builds_for(chosen):
        asked.append((chosen.cuda, chosen.cuda_arch))
        raise target.BuildError("no")

    monkeypatch.setattr(backend, "builds_for", builds_for)
    monkeypatch.setenv("DYNET_FLAGS", "--cuda --cuda-arch 80,90")
    for settings in (None, {"dynet": "--portable"}, {"dynet": "--cuda"}):
        with pytest.raises(SystemExit, match="error: no"):
            backend.build_wheel(str(tmp_path), settings)
    assert asked == [(True, "80,90"), (False, None), (True, None)]


def test_a_portable_wheel_has_a_build_for_each_level(no_compiler, monkeypatch):
    monkeypatch.setattr(
        command, "build_wheel", lambda chain, cache, work, out: write_wheel(work, out)
    )
    wheels, platform = command.builds_for(command.options(["--portable"]))
    assert platform == "manylinux_2_17_x86_64"
    modules = {name for level, wheel in wheels.items() for name in command.modules_of(wheel, level)}
    names = ("_dynet.abi3.so", "dynet_build.py")
    assert modules == {f"rnng_dy.dynet/{level}/{name}" for level in LEVELS for name in names}


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Builds for all levels, and a processor of level 3."""
    for level in LEVELS:
        folder = tmp_path / "site" / "rnng_dy.dynet" / level
        folder.mkdir(parents=True)
        (folder / "dynet_build.py").write_text(
            f"VERSION, MARCH, COMPILER, CUDA_ARCH = {engine.NEEDED!r}, {level!r}, 'g++', ''\n"
        )
    (tmp_path / "site" / "rnng_dy.dynet" / "NOTICE.txt").touch()
    monkeypatch.setattr(engine, "cpu_level", lambda: "x86-64-v3")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    monkeypatch.setattr(engine, "__file__", str(tmp_path / "rnng_dy" / "engine" / "__init__.py"))
    monkeypatch.delenv("RNNG_DY_CPU", raising=False)
    engine.build.cache_clear()
    yield tmp_path / "site" / "rnng_dy.dynet"
    engine.build.cache_clear()


@pytest.mark.parametrize(
    ("name", "level"), [(None, "x86-64-v3"), ("v2", "x86-64-v2"), ("x86-64-v2", "x86-64-v2")]
)
def test_the_highest_level_of_the_processor_is_chosen_or_a_lower_one(
    installed, monkeypatch, name, level
):
    if name:
        monkeypatch.setenv("RNNG_DY_CPU", name)
    assert engine.build() == installed / level
    assert engine.installed_version() == engine.NEEDED
    assert f"-march={level}" in dict(engine.versions())["dynet"]


@pytest.mark.parametrize(
    ("processor", "name", "says"),
    [
        ("x86-64-v3", "v4", "uses v4: .* unset RNNG_DY_CPU"),
        ("x86-64-v3", "V2", "uses V2: .* unset RNNG_DY_CPU"),
        ("x86-64-v3", "haswell", "uses haswell: .* unset RNNG_DY_CPU"),
        ("x86-64", None, "built for x86-64-v2, .*, and this process uses x86-64: install"),
    ],
)
def test_builds_above_the_processor_are_refused(installed, monkeypatch, processor, name, says):
    monkeypatch.setattr(engine, "cpu_level", lambda: processor)
    if name:
        monkeypatch.setenv("RNNG_DY_CPU", name)
    with pytest.raises(RnngError, match=says):
        engine.build()


OURS = """
import os, sys
before = sys.path[:], dict(os.environ)
from rnng_dy.engine import dy
dy.renew_cg()
assert (sys.path, dict(os.environ)) == before
print(sys.modules["dynet_config"].__file__)
"""
OTHER_FIRST = """
import dynet_config
import rnng_dy
from rnng_dy import engine
try:
    engine.start()
except rnng_dy.RnngError as error:
    print(error)
"""


@pytest.fixture
def other_first(tmp_path):
    """The environment of a Python that would find another DyNet first."""
    (tmp_path / "dynet_config.py").touch()
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}


def test_dynet_is_ours_and_python_finds_what_it_found_before(other_first):
    done = run(None, OURS, command=PYTHON, env=other_first)
    assert Path(done.stdout.strip()) == engine.build() / "dynet_config.py"


def test_a_dynet_that_was_imported_before_is_named_with_what_to_do(other_first, tmp_path):
    said = run(None, OTHER_FIRST, command=PYTHON, env=other_first).stdout
    assert said == (
        f"another DyNet has been imported: {tmp_path / 'dynet_config.py'}; "
        "use that of `rnng_dy.engine` instead\n"
    )


def test_numbers_of_processors_may_differ_in_the_fifth_digit(capsys):
    trying.compare("v3", [-20.0, -3.0001], [-20.001, -3.0])
    assert "v3: relative difference of log probabilities 5.0e-05" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="over 1e-04"):
        trying.compare("v3", [-20.0, -3.001], [-20.0, -3.0])


def test_the_newest_wheel_for_a_machine_is_tried(tmp_path):
    for name in (MANYLINUX, "rnng_dy-0.3.0-cp310-abi3-manylinux_2_17_aarch64.whl"):
        (tmp_path / name).touch()
    assert trying.newest(tmp_path, "x86_64").name == MANYLINUX
    with pytest.raises(SystemExit, match="run `make wheels MACHINE=macos-arm64` first"):
        trying.newest(tmp_path, "macos-arm64")
