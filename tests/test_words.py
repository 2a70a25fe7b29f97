"""Plain words in pages, docstrings, messages and help texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from . import pages

AVOIDED = {
    r"\bby heart\b": "overfit",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(go|goes|went|gone) on\b(?! (a|the|your) )": "resume, continue",
    r"\b(is|are|was|were) told\b": "is reported",
    r"\bso many\b": "a number",
    r"\bwhat there is not\b": "what is unavailable",
    r"\b(one|a|an|each) (?!list a )[\w-]+ an? (line|word|row|step|round|update)\b": "one sentence per line",
    r"\b(words|tokens|trees|sentences|samples|ms|s|MB) an? (sentence|word|second|update|batch)\b": "per",
    r"\banew\b": "again",
    r"\bone upon the other\b": "a chain",
    r"\b(has|have) not got\b": "lacks",
    r"\bfor want of\b": "because there is no",
    r"\bpassed over\b": "skipped",
    r"\bUNK class": "class of unknown words",
    r"\banalyses\b": "partial trees",
    r"(?m)(^|\. )What [^?]*?\.( |$)": "name the thing",
    r"(?m)(^|\. )Of (a|an|the|its|each|their) [^,]*\.( |$)": "name the thing",
}
"""Words that a reader stumbles over, with better ones."""
PAGES = [
    path
    for path in (
        *pages.CHECKOUT.glob("*.md"),
        *(pages.CHECKOUT / "docs").rglob("*.md"),
    )
    if path.name != "CHANGELOG.md"
]


def met(text: str) -> dict[str, str]:
    """The avoided words of a text, each with its place and a better one."""
    found = ((re.search(word, text), better) for word, better in AVOIDED.items())
    return {m.string[max(0, m.start() - 40) : m.end() + 40]: better for m, better in found if m}


def strings(source: str) -> Iterator[str]:
    """The texts of a module with more than one word: docstrings, messages, help texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield re.sub(r"\s+", " ", node.value)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_use_plain_words(page):
    assert not met(re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M))


@pytest.mark.parametrize("room", ["rnng_dy", "oracle", "clusters"])
def test_docstrings_and_messages_use_plain_words(room):
    found = {}
    for path in (pages.CHECKOUT / room).rglob("*.py"):
        for text in strings(path.read_text(encoding="utf-8")):
            if words := met(text):
                found[str(path.relative_to(pages.CHECKOUT))] = words
    assert not found
