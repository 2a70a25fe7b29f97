"""The recipe's setup.py: which sources of DyNet are compiled together, and with which flags."""

from __future__ import annotations

import re
import runpy
import sys
import types
from pathlib import Path

import pytest

from scripts.dynet import build

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def recipe(monkeypatch):
    """What setup.py defines, without the packages of the build environment."""
    stubs = {
        "Cython": {},
        "Cython.Build": {"cythonize": None},
        "setuptools": {"Extension": None, "setup": None},
        "setuptools.command": {},
        "setuptools.command.build_ext": {"build_ext": object},
    }
    for name, attributes in stubs.items():
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**attributes))
    # it is run in its own folder
    monkeypatch.chdir(build.RECIPE)
    return runpy.run_path("setup.py")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """DyNet's sources, patched."""
    sdists = list((build.cache_folder() / "sdist").glob("*.tar.gz"))
    if not sdists:
        pytest.skip("no DyNet sdist in the cache: `make setup` brings it when it builds the wheel")
    return build.unpack(sdists[0], tmp_path_factory.mktemp("dynet"))


def test_gpus_that_come_later_compile_ptx(recipe):
    pairs = (("80", "sm_80"), ("90", "sm_90"), ("90", "compute_90"))
    expected = [f"-gencode=arch=compute_{arch},code={code}" for arch, code in pairs]
    assert recipe["gencode"]("90,80") == expected


def test_every_source_is_in_one_unit(recipe, tree, monkeypatch):
    monkeypatch.chdir(tree)
    Path("gen").mkdir(exist_ok=True)
    sources = {path.stem: str(path) for path in sorted(Path("dynet").glob("*.cc"))}
    units = [unit for part in recipe["cpu_units"](sources) for unit in part]
    included = re.findall('#include "(.*)"', "".join(Path(unit).read_text() for unit in units))
    assert sorted(included) == sorted(sources.values())


def test_what_is_left_out_is_there_to_leave_out(recipe, tree):
    assert recipe["LEFT_OUT"] <= {path.stem for path in (tree / "dynet").glob("*.cc")}


def test_models_have_no_node_that_is_not_compiled_for_speed(recipe, tree):
    headers = [tree / "dynet" / f"nodes-{name}.h" for name in recipe["LIGHT_NODES"]]
    nodes = {
        node for path in headers for node in re.findall(r"^struct (\w+)", path.read_text(), re.M)
    }
    expressions = (tree / "dynet" / "expr.cc").read_text()
    function = r"^Expression (\w+)\((?:(?!^Expression).)*?add_function<(\w+)>"
    made = re.findall(function, expressions, re.M | re.S)
    slow = {function for function, node in made if node in nodes}
    assert {"argmax", "filter1d_narrow"} <= slow
    models = "".join(path.read_text() for path in (CHECKOUT / "rnng_dy").rglob("*.py"))
    assert not slow & set(re.findall(r"\bdy\.(\w+)", models))
