"""docs/ as a site, and its words."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import rnng_dy
from rnng_dy.cli import COMMANDS

from . import pages

USERS_PAGES = [pages.CHECKOUT / "README.md", *(pages.CHECKOUT / "docs").glob("*.md")]
AVOIDED = {
    r"\bby heart\b": "overfit",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(go|goes|went|gone) on\b(?! (a|the|your) )": "resume, continue",
    r"\bis told\b|\bare told\b": "is reported",
    r"\bso many\b": "a number",
    r"\bwhat there is not\b": "what is unavailable",
    r"(?<!\w )\b(A|a) sentence a line\b": "one sentence per line",
}
"""Words that a reader stumbles over, with better ones."""


@pytest.mark.parametrize("page", USERS_PAGES, ids=lambda page: page.name)
def test_the_pages_use_plain_words(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    met = {word: better for word, better in AVOIDED.items() if re.search(word, text)}
    assert not met, met


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "scripts/mkdocs.yml")
    done = subprocess.run(
        [*command, "-d", folder], cwd=pages.CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return folder


def test_the_site_needs_no_network(site):
    built = "".join(page.read_text(encoding="utf-8") for page in site.rglob("*.html"))
    assert not re.search(r'(src|<link [^>]*href)="https?://', built)


def test_the_reference_has_all_commands_and_options(site):
    page = (site / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    assert {f'id="{name}"' for name in COMMANDS} < set(re.findall(r'id="[^"]*"', page))
    for option in ("--hold-out SHARE", "--unknown-probability", "--analysis", "--words"):
        assert f"<code>{option}" in page
    assert page.count("<code>-h, --help") == 1


def test_the_reference_has_the_public_interface(site):
    page = (site / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    for name in {*rnng_dy.__all__} - {"__version__"}:
        assert re.search(rf"\b{name}\b", page), name
    assert "Return log q(tree" in page
