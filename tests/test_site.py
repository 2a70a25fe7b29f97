"""docs/ as a site, and its words."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

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


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "scripts/mkdocs.yml")
    done = subprocess.run(
        [*command, "-d", tmp_path], cwd=pages.CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    built = "".join(page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html"))
    # read without network
    assert not re.search(r'(src|<link [^>]*href)="https?://', built)
