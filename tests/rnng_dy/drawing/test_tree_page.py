"""The page of trees, as text and as a browser shows it."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from oracle.brackets import parse_line
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import DrawnTree, compared, section

from ...conftest import browse

GOLD = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
WORSE = "(S (NP (DT The) (NN cat)) (VBD sat) (. .))"
WORST = "(X (DT The) (NN cat) (VBD sat) (. .))"
ODD = "(S (X </script><script>alert</script>) (Y <!--) (Z \"'&amp;) (中 中文) (B \x01))"


def sections(*systems):
    gold, *trees = map(parse_line, [GOLD, *systems])
    return [compared(i, gold, tree) for i, tree in enumerate(trees, 1)]


def page(found):
    return "".join(parts("trees.html", sections=found, title="Trees of <x>", description="a & b"))


def test_a_sentence_has_its_score_and_gold_first():
    text = page(sections(GOLD, WORSE))
    assert '<section id="s1" data-errors="0" data-f1="100.00">' in text
    assert '<section id="s2" data-errors="1" data-f1="80.00">' in text
    assert "F1 80.00, 0 wrong, 1 missed" in text
    assert re.findall("<figcaption>(.*?)</figcaption>", text) == ["gold", "system"]
    [wrong] = re.findall('<text class="wrong"[^>]*>([^<]*)<', text)
    assert wrong == "VP"


@pytest.mark.parametrize(
    "found", [[], [section(1, [])], [section(1, [DrawnTree(parse_line("(S a)"))])]]
)
def test_there_may_be_little_to_show(found):
    assert '<form id="tools"' not in page(found)


FRAME = """<body><iframe id="f" src="{page}" style="width:{width}px;height:900px;border:0"></iframe>
<script>onload = () => {{
  const w = document.getElementById("f").contentWindow, d = w.document, seen = [];
  const ids = () => [...d.querySelectorAll("section")].filter((s) => !s.hidden).map((s) => s.id);
  const choose = (name, value) => {{
    const e = d.getElementById("tools").elements[name];
    e[value === true || value === false ? "checked" : "value"] = value;
    for (const kind of ["input", "change"]) e.dispatchEvent(new w.Event(kind, {{ bubbles: true }}));
    return ids(); }};
  const find = (text) => choose("find", text);
  requestAnimationFrame(() => setTimeout(() => {{
    {script}
    const textContent = JSON.stringify(seen);
    document.body.append(Object.assign(document.createElement("p"), {{ id: "seen", textContent }}));
  }}, 200));
}}</script>"""


def in_browser(chromium, folder, found, script, width=1200):
    """What a script in a page around the page has put into `seen`."""
    path, frame = folder / "page.html", folder / "frame.html"
    path.write_text(page(found), encoding="utf-8")
    frame.write_text(FRAME.format(page=path.as_uri(), script=script, width=width), encoding="utf-8")
    options = "--allow-file-access-from-files", "--virtual-time-budget=5000", "--dump-dom"
    # on a busy machine the browser's time may be over before the page is there
    for attempt in range(3):
        dom = browse(chromium, folder / f"profile{attempt}", *options, frame.as_uri())
        if seen := re.search(r'<p id="seen">(.*?)</p>', dom, re.DOTALL):
            break
    return json.loads(unescape(seen[1]))


def test_search_filter_and_order(chromium, tmp_path):
    found = [*sections(GOLD, WORST, WORSE), section(4, [DrawnTree(parse_line(ODD))])]
    script = """seen.push(ids(), find("cat"), find(" (NP  (dt"), find("中文"), find(""));
    seen.push(choose("errors", true), choose("errors", false), choose("order", "f1"), choose("order", ""));
    seen.push(d.getElementById("tools").elements.count.value);"""
    everything = ["s1", "s2", "s3", "s4"]
    assert in_browser(chromium, tmp_path, found, script) == [
        everything,
        ["s1", "s2", "s3"],
        # gold beside the system's is found, too
        ["s1", "s2", "s3"],
        ["s4"],
        everything,
        ["s2", "s3", "s4"],
        everything,
        ["s4", "s2", "s3", "s1"],
        everything,
        "4 of 4 sentences",
    ]
