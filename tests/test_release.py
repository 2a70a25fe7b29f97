"""What a release needs: metadata for a package index, and `make release`, in a small checkout of its own."""

from __future__ import annotations

import shutil
import sys
from datetime import date

import pytest

from rnng_dy import __version__

from . import pages
from .commands import run
from .installing import run_setup

NAMES = ("rnng_dy/__init__.py", "CHANGELOG.md", "CITATION.cff", "scripts/release.py")
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture
def checkout(tmp_path):
    """A checkout of a version whose changes are dated today."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(pages.CHECKOUT / name, tmp_path / name)
    heading = f"## {__version__} ({date.today().isoformat()})"
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n", encoding="utf-8")
    (tmp_path / "rnng_dy" / "__init__.py").write_text(f'__version__ = "{__version__}"\n')
    run(tmp_path, "init", "--quiet", command=("git",))
    commit(tmp_path)
    return tmp_path


def commit(folder):
    run(folder, "add", "--all", command=GIT)
    run(folder, "commit", "--quiet", "--message", "Ready", command=GIT)


def dry(folder, code=0):
    return run(folder, "--dry", command=(sys.executable, "-B", "-m", "scripts.release"), code=code)


def test_a_dry_release_prints_all_steps_and_the_upload_and_makes_nothing(checkout):
    before = sorted(checkout.rglob("*"))
    steps = dry(checkout).stdout.splitlines()
    assert sorted(path for path in checkout.rglob("*") if ".git" not in path.parts) == [
        path for path in before if ".git" not in path.parts
    ]
    for part in ("make lint", "make test-all", "build --sdist", "make wheels", "check --strict"):
        assert sum(part in step for step in steps) == 1, part
    assert steps[-1] == f"twine upload dist/rnng_dy-{__version__}*"


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("CHANGELOG.md", date.today().isoformat(), "2020-01-01", "is dated 2020-01-01"),
        ("CHANGELOG.md", f"## {__version__}", "## 0.0.1", "CHANGELOG.md begins with 0.0.1, not"),
        ("CHANGELOG.md", "## ", "", "CHANGELOG.md has no heading `## VERSION (DATE)`"),
        ("CITATION.cff", f": {__version__}", ": 9", "CITATION.cff has version 9, not"),
    ],
)
def test_versions_and_dates_must_agree(checkout, name, old, new, problem):
    text = (checkout / name).read_text(encoding="utf-8")
    assert old in text
    (checkout / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    commit(checkout)
    refused = dry(checkout, code=2)
    assert problem in refused.stderr and refused.stdout == ""


def test_a_changed_checkout_is_refused(checkout):
    (checkout / "new.txt").touch()
    assert "not committed: ?? new.txt" in dry(checkout, code=2).stderr


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
    ignored, *parts = [
        line
        for line in (pages.CHECKOUT / ".dockerignore").read_text("utf-8").splitlines()
        if line and line[0] != "#"
    ]
    named = {part[1:] for part in parts if part[0] == "!"}
    packages = {"oracle", "clusters", "rnng_dy", "scripts"}
    assert ignored == "*"
    assert named >= packages | {"setup.py", "pyproject.toml", "README.md", "LICENSE", "LICENSES"}
    assert not named & {"tests", "docs", "dist", "build", ".git", ".venv"}
