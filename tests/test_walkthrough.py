"""docs/walkthrough.md names files and names that exist, and few of them."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PAGE = (CHECKOUT / "docs" / "walkthrough.md").read_text(encoding="utf-8")
SECTIONS = {
    section.split(":")[0]: re.findall(
        r"^\d+\. `([\w/]+\.py)`(.*?)(?=^\d+\. |\Z|\n\n)", section, re.S | re.M
    )
    for section in re.split(r"^## ", PAGE, flags=re.M)[1:]
}
MOST = {"Training": 15, "Parsing": 20, "Perplexity": 18, "Surprisal": 18}


def test_every_name_is_in_its_file():
    """Paths in backticks exist; names in parentheses are defined in the file of their paragraph."""
    assert SECTIONS.keys() == MOST.keys()
    for steps in SECTIONS.values():
        for path, text in steps:
            code = (CHECKOUT / path).read_text(encoding="utf-8")
            for names in re.findall(r"\(((?:`\w+`(?:, )?)+)\)", text):
                for name in re.findall(r"`(\w+)`", names):
                    assert re.search(rf"^\s*(def|class) {name}\b", code, re.M), f"{name} in {path}"
    for path in re.findall(r"`([\w/]+\.py)`", PAGE):
        assert (CHECKOUT / path).is_file(), path


def test_the_way_is_short():
    for name, steps in SECTIONS.items():
        assert 5 < len(steps) <= MOST[name]
