"""The page of word-by-word surprisals, as text and as a browser shows it."""

from __future__ import annotations

import json
import math
import re
from html import unescape

import pytest
from markupsafe import escape

from oracle.transitions import TOP_DOWN
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.records import Analysis, WordRecord

from ...conftest import browse


def beam(*derivations):
    return tuple(Analysis(-float(i), text.split()) for i, text in enumerate(derivations))


def sentence(verb):
    """Three words and the end, with two analyses after each word but the first."""
    the, cat = "NT(S) NT(NP) SHIFT", "NT(S) NT(NP) SHIFT SHIFT"
    saw = f"{cat} REDUCE NT(VP) SHIFT"
    return [
        WordRecord("The", "The", 2.5, None, 0.5, 2.0, 0.4, 1.9, 3, 20, 0.0, 0.0, 2, beam(the)),
        WordRecord(
            "c\U0001f600t",
            "UNK",
            10.0,
            syntactic=1.0,
            lexical=9.0,
            entropy=0.84,
            entropy_delta=0.84,
            open=2,
            beam=beam(cat, "NT(S) NT(NP) NT(NP) SHIFT SHIFT"),
        ),
        WordRecord(
            verb, verb, 23.0, beam=beam(saw, f"{cat} NT(VP) SHIFT"), open=2, standard_error=0.25
        ),
        WordRecord(None, None, math.inf, beam=beam(f"{saw} REDUCE REDUCE")),
    ]


ODD = ["<script>alert(1)</script>", "\"q\" & 'r'", "-LRB-", "中文", "caf\udce9", "</li>", "a b\tc"]
PAIR = [sentence("sat"), sentence("(sings)")]


def odd_records():
    analysis = ["NT(S)"]
    records = []
    for i, token in enumerate(ODD):
        analysis = [*analysis, "SHIFT"]
        records.append(WordRecord(token, None, float(i), beam=(Analysis(-1.0, analysis),)))
    return records


def page(*arguments):
    return "".join(surprisal_page(*arguments))


def embedded(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_nothing_is_fetched_and_all_text_is_escaped():
    text = page([odd_records()], "A <title> & more", "model <b>")
    text.encode("utf-8")
    assert not re.search(
        r"""src\s*=|href\s*=|url\(|@import|https?://(?!www.w3.org/2000/svg)""", text
    )
    assert text.count("<script") == 2 and "<b>" not in text and "<title> " not in text
    shown = [unescape(found) for found in re.findall("<bdi>(.*?)</bdi>", text, re.DOTALL)]
    assert shown == [token.replace("\udce9", "\\udce9") for token in ODD]
    assert all(escape(token) in text for token in ODD[:4])


def test_bars_share_one_scale_and_infinite_ones_are_cut():
    text = page(PAIR, "", "")
    # the highest finite value is 23 bits, so the scale goes to 25
    ticks = re.findall(r'bottom:([\d.]+)%">(\d+)</u>', text)
    assert [int(bits) for _, bits in ticks] == [0, 5, 10, 15, 20, 25]
    assert [float(place) for place, _ in ticks] == [0, 20, 40, 60, 80, 100]
    assert text.count('class="lexical" style="bottom:0.00%;height:36.00%"') == 2
    assert text.count('class="syntactic" style="bottom:36.00%;height:4.00%"') == 2
    assert text.count('class="total" style="bottom:0.00%;height:92.00%"') == 2
    assert text.count("∞</b>") == text.count('class="total cut"') == 2
    assert "1: 3 words (1 unknown), ∞ bits" in text


def test_a_tooltip_has_the_numbers():
    text = page(PAIR[:1], "", "")
    titles = [unescape(title) for title in re.findall(r'<li [^>]*title="(.*?)"', text, re.DOTALL)]
    assert titles[:3] == [
        "The\n2.50 bits\n0.50 syntactic + 2.00 lexical\nbest analysis: 0.40 + 1.90\n"
        "entropy 0.00 bits (+0.00)\nopen constituents: 2\n3 rounds, 20 actions",
        "c\U0001f600t\n10.00 bits\n1.00 syntactic + 9.00 lexical\nentropy 0.84 bits (+0.84)\n"
        "open constituents: 2\nread as UNK",
        "sat\n23.00 ± 0.25 bits\nopen constituents: 2",
    ]


def test_shares_are_of_the_whole_beam_and_what_is_left_out_is_said():
    analyses = tuple(Analysis(math.log(20 - i), ["NT(S)", "SHIFT"]) for i in range(20))
    [[word]] = embedded(page([[WordRecord("a", "a", 1.0, beam=analyses)]], "", ""))
    # 20, 19, ... of 210; the last ten have 55 of 210
    assert word["shares"][:3] == ["9.5 %", "9.0 %", "8.6 %"]
    assert (len(word["texts"]), word["more"]) == (10, "10 more have 26 %")


def test_long_sentences_make_no_huge_page(monkeypatch):
    actions, records = ["NT(S)"], []
    for i in range(400):
        actions = [*actions, "NT(NP)", "SHIFT", "REDUCE"]
        records.append(WordRecord(f"word{i}", "UNK", 5.0, beam=(Analysis(-i, actions[:-1]),) * 3))
    text = page([records], "", "")
    assert len(text) < 250_000
    for in_all, expected in ((1_000, 2), (100, 1)):
        monkeypatch.setattr("rnng_dy.drawing.surprisal_page.ANALYSES_IN_ALL", in_all)
        [found] = embedded(page([records], "", ""))
        assert {len(word["texts"]) for word in found} == {expected}


@pytest.mark.parametrize("sentences", [[], [[]], [[WordRecord("a", "a", math.inf)]]])
def test_there_may_be_little_to_show(sentences):
    text = page(sentences, "", "an LSTM")
    assert 'class="total"' in text
    assert '<aside id="panel" class="none">' in text and "syntactic<" not in text


def test_a_browser_shows_bars_and_the_tree_of_a_word(chromium, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page([*PAIR, odd_records()], "Pairs", "a model"), encoding="utf-8")
    profile = tmp_path / "profile"
    dom = browse(chromium, profile, "--dump-dom", f"{path.as_uri()}#1.3-2.3")
    assert dom.count("<li ") == 4 + 4 + len(ODD)
    # an axis for each row of words, and the one that they are copied from
    assert dom.count('class="axis"') >= 4
    assert dom.count('class="shown"') == 2
    panel = dom[dom.index("<aside") : dom.index("</aside>")]
    first, second = panel.split("</article>")[:2]
    assert re.findall('class="leaf">(.*?)<', first) == ["The", "c\U0001f600t", "sat"]
    assert re.findall('class="leaf">(.*?)<', second)[2] == "-LRB-sings-RRB-"
    assert re.findall('class="label">(.*?)<', first) == ["NP", "VP", "S"]
    # S and VP are open: a dashed frame and a dashed line each
    assert first.count("<rect") == 2
    assert len(re.findall(r"<line [^>]*open", first)) == 2
    assert re.findall(r'aria-pressed="(\w+)">(.*?)<', first) == [
        ("true", "1: 73 %"),
        ("false", "2: 27 %"),
    ]
    picture = tmp_path / "page.png"
    browse(chromium, profile, f"--screenshot={picture}", "--window-size=1000,900", path.as_uri())
    # a blank page of this size is a few kilobytes
    assert picture.stat().st_size > 30_000


FRAME = """<body><iframe id="f" src="{page}" style="width:{width}px;height:900px;border:0"></iframe>
<script>onload = () => {{
  const w = document.getElementById("f").contentWindow, d = w.document, seen = [];
  const press = (key) => d.dispatchEvent(new w.KeyboardEvent("keydown", {{ key, bubbles: true }}));
  const point = (i) => d.querySelectorAll(".words li")[i].dispatchEvent(
    new w.PointerEvent("pointerover", {{ pointerType: "mouse", bubbles: true }}));
  const look = () => seen.push([...d.querySelectorAll("#panel article")].map((a) =>
    [a.querySelector("b").textContent, a.querySelector("svg")?.getAttribute("aria-label") ?? null]));
  {script}
  document.body.append(Object.assign(document.createElement("p"), {{ id: "seen", textContent: JSON.stringify(seen) }}));
}}</script>"""


def in_browser(chromium, folder, sentences, script, width=1000):
    """What a script in a page around the page has put into `seen`."""
    path, frame = folder / "page.html", folder / "frame.html"
    path.write_text(page(sentences, "Pairs", "a model"), encoding="utf-8")
    frame.write_text(FRAME.format(page=path.as_uri(), script=script, width=width), encoding="utf-8")
    options = "--allow-file-access-from-files", "--dump-dom", frame.as_uri()
    dom = browse(chromium, folder / "profile", *options)
    return json.loads(unescape(re.search(r'<p id="seen">(.*?)</p>', dom, re.DOTALL)[1]))


def test_keys_and_the_pointer_choose_words_and_analyses(chromium, tmp_path):
    script = """look(); press("ArrowLeft"); press("ArrowRight"); look(); press("2"); look(); press("1");
    press("End"); press("ArrowDown"); look(); point(1); look();
    d.getElementById("sentences").dispatchEvent(new w.PointerEvent("pointerleave")); look();
    d.querySelectorAll(".words li")[2].click(); look();"""
    cat = "c\U0001f600t"
    end = ["</s>", f"(S (NP The {cat}) (VP -LRB-sings-RRB-))"]
    assert in_browser(chromium, tmp_path, PAIR, script) == [
        [["The", "(S (NP The"]],
        [[cat, f"(S (NP The {cat}"]],
        [[cat, f"(S (NP (NP The {cat}"]],
        [end],
        [end, [cat, f"(S (NP The {cat}"]],
        [end],
        [["sat", f"(S (NP The {cat}) (VP sat"]],
    ]


def test_the_browser_has_every_tree(chromium, tmp_path):
    """What is written as additions to the word before is put together again."""
    sentences = [*PAIR, odd_records(), [WordRecord("a", "a", 1.0)]]
    script = """const tree = () => d.querySelector("#panel svg").getAttribute("aria-label");
    for (const list of d.querySelectorAll(".words")) seen.push([...list.children].map((word) => {{
      word.click();
      return [...d.querySelectorAll("#panel button")].map((_, i) => {{ press(`${i + 1}`); return tree(); }});
    }}));""".replace("{{", "{").replace("}}", "}")
    seen = in_browser(chromium, tmp_path, sentences, script)
    for records, found in zip(PAIR, seen, strict=False):
        words = [record.token for record in records if record.token]
        expected = [
            [TOP_DOWN.partial_brackets(a.actions, words[: i + 1]) for a in record.beam]
            for i, record in enumerate(records)
        ]
        assert found[:4] == expected
    assert seen[2][6] == [
        "(S <script>alert-LRB-1-RRB-</script> \"q\"\\x20&\\x20'r' -LRB- 中文 caf\\udce9 </li> a\\x20b\\tc"
    ]
    assert seen[3] == [[]]


@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1000, 2)])
def test_a_phone_shows_one_column_without_scrolling_sideways(chromium, tmp_path, width, columns):
    script = """seen.push(d.documentElement.scrollWidth);
    seen.push(new Set([...d.querySelectorAll("section")].map((e) => e.getBoundingClientRect().left)).size);"""
    wide, found = in_browser(chromium, tmp_path, PAIR, script, width)
    assert wide <= width
    assert found == columns
