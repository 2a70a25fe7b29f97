"""What a release needs: metadata for a package index, and `make release`, in a small checkout of its own."""

from __future__ import annotations

import pkgutil
import re
import shutil
from datetime import date

import pytest

from rnng_dy import __version__
from scripts.dynet import build

from . import pages
from .commands import run

GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("CHANGELOG.md", str(date.today()), "2020-01-01"),
        ("CHANGELOG.md", f"## {__version__}", "## 0.0.1"),
        ("CITATION.cff", f"version: {__version__}", "version: 9"),
    ],
)
def test_a_release_ends_where_versions_or_dates_differ(tmp_path, name, old, new):
    for file in ("Makefile", "CITATION.cff", "rnng_dy/__init__.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(pages.CHECKOUT / file, tmp_path / file)
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} ({date.today()})\n")
    release = ("make", "release", "MAKE=echo make", "VENV=absent")
    run(tmp_path, "init", "--quiet", command=("git",))
    commit(tmp_path)
    # it comes to the tools, which are not here
    assert "make test-all" in run(tmp_path, command=release, code=2).stdout
    text = (tmp_path / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    assert "make lint" not in run(tmp_path, command=release, code=2).stdout
    commit(tmp_path)
    assert "make lint" not in run(tmp_path, command=release, code=2).stdout


def test_make_alone_lists_what_there_is_to_make():
    [goals] = re.findall(r"^\.PHONY: (.*)", (pages.CHECKOUT / "Makefile").read_text("utf-8"), re.M)
    said = run(pages.CHECKOUT, command=("make",)).stdout
    listed = {*re.findall(r"^make (\S+)", said, re.M)}
    assert listed == {*goals.split()} - {"help", "parts", "again"}


def test_an_unreleased_version_has_not_the_name_of_one_that_is():
    headings = re.findall(r"^## (\S+)", (pages.CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert (headings[0] == "Unreleased") == (__version__ not in headings)
    assert __version__ in run(None, "--version").stdout


def commit(folder):
    run(folder, "add", "--all", command=GIT)
    run(folder, "commit", "--quiet", "--message", "Ready", command=GIT)


def test_the_metadata_name_what_is_there():
    tomllib = pytest.importorskip("tomllib")
    declared = tomllib.loads((pages.CHECKOUT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    licences = {
        path.name for name in project["license-files"] for path in pages.CHECKOUT.glob(name)
    }
    assert {"LICENSE", "DyNet-Apache-2.0.txt", "Eigen-MPL-2.0.txt", "NOTICE.txt"} == licences
    readme = (pages.CHECKOUT / project["readme"]).read_text("utf-8")
    assert all(url in readme for url in project["urls"].values())
    assert "Typing :: Typed" in project["classifiers"] and readme.startswith("# rnng_dy\n")
    # DyNet is part of the wheel
    assert project["dependencies"] == ["numpy>=1.22", "nltk", "click", "filelock"]
    found = declared["tool"]["setuptools"]["packages"]["find"]["include"]
    assert (project["name"], found) == ("rnng_dy", ["oracle*", "clusters*", "rnng_dy*"])
    assert callable(pkgutil.resolve_name(project["scripts"]["rnng-dy"]))
    for package, patterns in declared["tool"]["setuptools"]["package-data"].items():
        folder = pages.CHECKOUT / package.replace(".", "/")
        assert package == "*" or all(any(folder.glob(pattern)) for pattern in patterns), package
    libraries = (build.RECIPE / "cuda-requirements.txt").read_text("utf-8").split("\n")
    needed = {line for line in libraries if line.startswith("nvidia") and "cccl" not in line}
    assert {*project["optional-dependencies"]["cuda"]} == needed


def test_the_container_gets_all_that_the_build_reads_and_little_else():
    """.dockerignore excludes all but the named parts of the checkout."""
    text = (pages.CHECKOUT / ".dockerignore").read_text("utf-8")
    ignored, *parts = [line for line in text.splitlines() if line and line[0] != "#"]
    named = {part[1:] for part in parts if part[0] == "!"}
    packages = {"oracle", "clusters", "rnng_dy", "scripts"}
    assert ignored == "*"
    assert named >= packages | {"pyproject.toml", "README.md", "LICENSE", "LICENSES"}
    assert not named & {"tests", "docs", "dist", "build", ".git", ".venv"}
