"""`rnng-dy doctor`: it tells a sound set-up from a broken one."""

import importlib.metadata

import numpy as np
import pytest

from rnng_dy import __version__, engine
from rnng_dy.cli import checks
from tests.commands import invoke, run

needs_dynet = pytest.mark.skipif(engine.installed_version() is None, reason="DyNet is missing")
V2 = "flags : fpu sse2 cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3\n"
V3 = V2.replace("\n", " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave\n")
V4 = V3.replace("\n", " avx512f avx512bw avx512cd avx512dq avx512vl\n")


@needs_dynet
def test_a_sound_set_up_passes():
    done = run(None, "doctor")
    assert done.stderr == ""
    for name in ("rnng_dy", "Python", "dynet", "numpy", "nltk", "click", "CPU", "GPUs"):
        assert f"\n{name} " in "\n" + done.stdout
    assert done.stdout.count(" ok ") == 3


@needs_dynet
@pytest.mark.parametrize("difference", [2e-4, np.nan])
def test_a_wrong_number_ends_with_one(monkeypatch, difference):
    monkeypatch.setattr(checks, "growth_difference", lambda: difference)
    assert "FAILED" in invoke("doctor", code=1).output


@needs_dynet
def test_the_version_is_that_of_the_code_that_runs(monkeypatch):
    """A checkout may run without being installed, or beside another version that is."""
    of_package = importlib.metadata.version

    def version(name):
        return "9.9" if name == "rnng_dy" else of_package(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert f"rnng_dy    {__version__}\n" in invoke("doctor").output


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Puts a build in place of the installed one."""

    def install(version, level):
        (tmp_path / level).mkdir()
        (tmp_path / level / "dynet_build.py").write_text(
            f"VERSION, MARCH, COMPILER, CUDA_ARCH = {version!r}, {level!r}, 'g++ 12', ''\n"
        )

    def found():
        return {path.name: path for path in tmp_path.iterdir()}

    monkeypatch.setattr(engine, "builds", found)
    engine.build.cache_clear()
    yield install
    engine.build.cache_clear()


def test_a_missing_dynet_is_told_with_how_to_install_it(build):
    done = invoke("doctor", code=2)
    assert "not installed" in done.output
    assert engine.INSTALL_HINT in done.output


def test_another_build_of_dynet_is_named_with_the_one_that_is_needed(build):
    build("2.1.2+rnng.0", engine.cpu_level())
    done = invoke("doctor", code=2)
    assert "2.1.2+rnng.0 (CPU build" in done.output
    assert f"this rnng_dy needs {engine.NEEDED}" in done.output
    assert engine.INSTALL_HINT in done.output


class SwappedGates:
    """A cell that takes its input gate's parameters for those of the output gate."""

    def __init__(self, parameters):
        order = [*parameters[4:8], *parameters[:4], *parameters[8:]]
        self.step = engine.dy.RightCell(order).step


class NoGradient:
    """A cell with the right values, through which no gradient comes back."""

    def __init__(self, parameters):
        self._cell = engine.dy.RightCell(parameters)

    def step(self, x, before=None, dropout=0.0):
        return engine.dy.nobackprop(self._cell.step(x, before, dropout))


@needs_dynet
@pytest.mark.parametrize(
    ("broken", "row"), [(SwappedGates, "LSTM steps, values"), (NoGradient, "LSTM steps, gradients")]
)
def test_a_wrong_lstm_cell_is_noticed(monkeypatch, broken, row):
    """The cell that models use, not DyNet's own."""
    monkeypatch.setattr(engine.dy, "RightCell", vars(engine.dy)["CoupledLSTMCell"], raising=False)
    monkeypatch.setitem(vars(engine.dy), "CoupledLSTMCell", broken)
    monkeypatch.setattr(checks, "growth_difference", lambda: 0.0)
    done = invoke("doctor", code=1)
    assert any(row in line and "FAILED" in line for line in done.output.splitlines())


@pytest.mark.parametrize(
    ("machine", "flags", "level"),
    [
        ("x86_64", V4, "x86-64-v4"),
        ("x86_64", V4.replace(" fma", ""), "x86-64-v2"),
        ("x86_64", V3, "x86-64-v3"),
        ("x86_64", V3.replace(" popcnt", ""), "x86-64"),
        ("x86_64", "", "x86-64"),
        ("aarch64", "", "armv8-a"),
        ("riscv64", "", ""),
    ],
)
def test_the_level_of_a_processor(tmp_path, machine, flags, level):
    (tmp_path / "cpuinfo").write_text("processor : 0\n" + flags)
    assert engine.cpu_level(machine, tmp_path / "cpuinfo") == level
