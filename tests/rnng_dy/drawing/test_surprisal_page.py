"""The page of word-by-word surprisals, with the film of the beam."""

import math
import re
from html import unescape

import pytest

from oracle.transitions import TOP_DOWN
from rnng_dy.drawing import pages
from rnng_dy.evaluation.records import Analysis, WordRecord


def beam(*derivations):
    return tuple(Analysis(-float(i), text.split()) for i, text in enumerate(derivations))


def sentence(verb):
    """Three words and the end, with two analyses after each word but the first."""
    the, cat = "NT(S) NT(NP) SHIFT", "NT(S) NT(NP) SHIFT SHIFT"
    saw = f"{cat} REDUCE NT(VP) SHIFT"
    return [
        WordRecord("The", "The", 2.5, 0.5, 0.4, 1.6, 3, 20, 0.0, 0.0, 2, beam=beam(the)),
        WordRecord(
            "c\U0001f600t",
            "UNK",
            10.0,
            structure=1.0,
            cluster=3.0,
            word_in_cluster=2.0,
            spelling_surprisal=4.0,
            entropy=0.84,
            entropy_delta=0.84,
            open=2,
            beam=beam(cat, "NT(S) NT(NP) NT(NP) SHIFT SHIFT"),
        ),
        WordRecord(verb, verb, 23.0, beam=beam(saw, f"{cat} NT(VP) SHIFT"), open=2),
        WordRecord(None, None, math.inf, beam=beam(f"{saw} REDUCE REDUCE")),
    ]


HEIGHT, TOP = 130, 20
PAIR = [sentence("sat"), sentence("(sings)")]


def page(sentences, title="", description=""):
    shown = pages.values(sentences, TOP_DOWN)
    return "".join(pages.parts("surprisal.html", title=title, description=description, **shown))


def frames(text):
    """The HTML of the frames by place."""
    return dict(re.findall(r'<article class="frame" id="([\d.]+)">(.*?)</article>', text, re.S))


def test_nothing_is_fetched():
    fetched = r"""src\s*=|href\s*=\s*["'][^#]|url\(|@import|https?://(?!www.w3.org/2000/svg)"""
    assert not re.search(fetched, page(PAIR, "A title", "model"))


def test_bars_share_one_scale_and_infinite_ones_are_pale():
    text = page(PAIR)
    # the highest finite value is 23 bits, so the scale goes to 25
    axis = re.search(r'<li class="axis".*?</li>', text, re.S)[0]
    ticks = {int(n): float(y) - 4 for y, n in re.findall(r'y="([\d.]+)"[^>]*>(\d+)<', axis)}
    assert ticks == pytest.approx({n: TOP + HEIGHT * (1 - n / 25) for n in range(0, 30, 5)})
    bar = r'<rect class="(\w+)" x="50%" y="([\d.]+)" width="24" height="([\d.]+)"'
    first = [(kind, float(y), float(height)) for kind, y, height in re.findall(bar, text)[:9]]
    parts = [("word_in_cluster", 1.6), ("cluster", 0.4), ("structure", 0.5)]
    parts += [("spelling_surprisal", 4), ("word_in_cluster", 2), ("cluster", 3), ("structure", 1)]
    assert [(kind, pytest.approx(height, abs=0.06)) for kind, _, height in first] == [
        *((kind, HEIGHT * bits / 25) for kind, bits in parts),
        ("total", HEIGHT * 23 / 25),
        ("cut", HEIGHT),
    ]
    # each bar stands on the one below
    assert first[1][1] + first[1][2] == pytest.approx(first[0][1], abs=0.11)
    assert text.count(">∞</text>") == 2
    assert "1: ∞ bits" in text


def test_a_tooltip_has_the_numbers():
    text = page(PAIR[:1])
    titles = [unescape(title) for title in re.findall(r'title="(.*?)"', text, re.DOTALL)]
    assert titles[:3] == [
        "surprisal 2.50\nstructure 0.50\ncluster 0.40\nword in cluster 1.60\n"
        "rounds 3\nactions 20\nentropy 0.00\nentropy delta 0.00\nopen 2",
        "surprisal 10.00\nspelling surprisal 4.00\nstructure 1.00\ncluster 3.00\nword in cluster 2.00\n"
        "entropy 0.84\nentropy delta 0.84\nopen 2",
        "surprisal 23.00\nopen 2",
    ]


def test_a_frame_has_every_partial_tree_of_a_word():
    found = frames(page(PAIR))
    assert list(found) == [f"{s}.{w}" for s in (1, 2) for w in (1, 2, 3, 4)]
    for s, records in enumerate(PAIR, 1):
        words = [record.token for record in records if record.token]
        for w, record in enumerate(records, 1):
            labels = re.findall('role="img" aria-label="(.*?)"', found[f"{s}.{w}"])
            assert labels == [TOP_DOWN.partial_brackets(a.actions, words[:w]) for a in record.beam]


def test_the_film_says_what_dies_when_and_what_it_had():
    found = frames(page(PAIR[:1]))
    said = [re.findall(r"</svg>([^<]+ %, .*?)\n", found[f"1.{w}"]) for w in (1, 2, 3, 4)]
    assert said == [
        ["100 %, 100 % at the end"],
        # no tree of the next beam continues the second
        ["73 %, 100 % at the end", "27 %, dies at “sat”"],
        ["73 %, 100 % at the end", "27 %, dies at “&lt;/s&gt;”"],
        ["100 %, 100 % at the end"],
    ]
    assert found["1.2"].count('class="dies"') == 1


def test_a_frame_has_the_most_probable_next_words():
    record = WordRecord(
        "a", "a", 1.0, beam=beam("NT(S) SHIFT"), next_words=[("<b>", 0.5), ("c", 0.02)]
    )
    shown = frames(page([[record]]))["1.1"]
    assert "next: <bdi>&lt;b&gt;</bdi> 50 %, <bdi>c</bdi> 2.0 %<" in shown


def test_shares_are_of_the_whole_beam_and_what_is_left_out_is_said():
    analyses = tuple(Analysis(math.log(20 - i), ["NT(S)", "SHIFT"]) for i in range(20))
    text = frames(page([[WordRecord("a", "a", 1.0, beam=analyses)]]))["1.1"]
    # 20, 19, ... of 210; the last ten have 55 of 210
    assert re.findall(r"</svg>([\d.]+ %)", text)[:3] == ["9.5 %", "9.0 %", "8.6 %"]
    assert text.count('class="tree"') == 10 and "10 more have 26 %" in text


def test_long_sentences_make_no_huge_page(monkeypatch):
    actions, records = ["NT(S)"], []
    for i in range(100):
        actions = [*actions, "NT(NP)", "SHIFT", "REDUCE"]
        records.append(WordRecord(f"word{i}", "UNK", 5.0, beam=(Analysis(-i, actions[:-1]),) * 3))
    for in_all, expected in ((300, 300), (250, 200), (99, 0)):
        monkeypatch.setattr("rnng_dy.drawing.pages.ANALYSES_IN_ALL", in_all)
        assert page([records]).count('class="tree"') == expected


@pytest.mark.parametrize("sentences", [[], [[]], [[WordRecord("a", "a", math.inf)]]])
def test_there_may_be_little_to_show(sentences):
    text = page(sentences, "", "an LSTM")
    assert "an LSTM" in text and "<article" not in text and "structure<" not in text
