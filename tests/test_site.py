"""docs/ as a site."""

from __future__ import annotations

import re
import sys

import pytest

import rnng_dy
from rnng_dy.cli import COMMANDS
from scripts import command_reference

from . import pages
from .commands import PYTHON, run


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "scripts/mkdocs.yml")
    done = run(pages.CHECKOUT, "-d", folder, command=command)
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_the_site_needs_no_network(site):
    built = "".join(page.read_text(encoding="utf-8") for page in site.rglob("*.html"))
    assert not re.search(r'(src|<link [^>]*href)="https?://', built)


@pytest.mark.parametrize("name", ["cli.md", "python.md"])
def test_the_reference_is_what_make_docs_writes(name):
    page = (command_reference.PAGES / name).read_text(encoding="utf-8")
    # click keeps a command's help option, which another test may have made
    code = (
        "import sys; from scripts.command_reference import filled; print(filled(sys.stdin.read()))"
    )
    assert run(pages.CHECKOUT, code, command=PYTHON, input=page).stdout == f"{page}\n"


def test_the_reference_has_all_commands_and_options(site):
    page = (site / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    assert {f'id="{name}"' for name in COMMANDS} < set(re.findall(r'id="[^"]*"', page))
    for option in ("--hold-out SHARE", "--set", "--next-word"):
        assert f"\n  {option}" in page


def test_the_papers_of_all_pages_are_references():
    docs = pages.CHECKOUT / "docs"
    others = [page for page in docs.glob("*.md") if page.stem != "references"]
    text = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in others)
    more = r"(?:,? (?:et al\.|(?:and )?[A-Z][a-zé]+))*"
    named = re.findall(rf"([A-Z][a-zé]+){more} \(?((?:19|20)\d\d)\b", text)
    listed = (docs / "references.md").read_text(encoding="utf-8")
    missing = [
        f"{author} {year}"
        for author, year in dict.fromkeys(named)
        if not re.search(rf"^- (van )?{author}\b.* \({year}\)", listed, re.MULTILINE)
    ]
    assert len(named) > 20 and missing == []


def test_the_reference_has_the_public_interface(site):
    page = (site / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    for name in {*rnng_dy.__all__} - {"__version__"}:
        assert re.search(rf"\b{name}\b", page), name
    assert "Return log q(tree" in page
