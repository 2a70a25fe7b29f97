"""What a release needs: metadata for a package index, and `make release`, in a small checkout of its own."""

from __future__ import annotations

import re
import shutil
from datetime import date

import pytest

from rnng_dy import __version__

from . import pages
from .commands import run
from .installing import run_setup

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


def test_an_unreleased_version_has_not_the_name_of_one_that_is():
    headings = re.findall(r"^## (\S+)", (pages.CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert (headings[0] == "Unreleased") == (__version__ not in headings)
    assert __version__ in run(None, "--version").stdout


def commit(folder):
    run(folder, "add", "--all", command=GIT)
    run(folder, "commit", "--quiet", "--message", "Ready", command=GIT)


def test_the_metadata_name_files_that_are_there(monkeypatch):
    given = run_setup(monkeypatch)
    licences = {path.name for name in given["license_files"] for path in pages.CHECKOUT.glob(name)}
    assert {"LICENSE", "DyNet-Apache-2.0.txt", "Eigen-MPL-2.0.txt", "NOTICE.txt"} == licences
    assert given["long_description"].startswith("# rnng_dy\n")
    assert "Typing :: Typed" in given["classifiers"]
    readme = given["long_description"]
    assert all(url in readme for url in given["project_urls"].values())


def test_the_container_gets_all_that_the_build_reads_and_little_else():
    """.dockerignore excludes all but the named parts of the checkout."""
    text = (pages.CHECKOUT / ".dockerignore").read_text("utf-8")
    ignored, *parts = [line for line in text.splitlines() if line and line[0] != "#"]
    named = {part[1:] for part in parts if part[0] == "!"}
    packages = {"oracle", "clusters", "rnng_dy", "scripts"}
    assert ignored == "*"
    assert named >= packages | {"setup.py", "pyproject.toml", "README.md", "LICENSE", "LICENSES"}
    assert not named & {"tests", "docs", "dist", "build", ".git", ".venv"}
