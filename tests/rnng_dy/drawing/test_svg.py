"""Trees as SVG that every XML parser takes."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from oracle.brackets import parse_line
from oracle.parsed import ScoredTree
from rnng_dy.drawing.sections import attended, section
from rnng_dy.drawing.svg_file import svg_file
from rnng_dy.drawing.trees import draw_tree

SVG = "{http://www.w3.org/2000/svg}"
CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
ODD = [
    "<b>",
    '"q"',
    "&",
    "'r'",
    "\x01\x1b\x7f",
    "]]>",
    "中文",
    "😀",
    "\ufffe",
    "\u202e",
    "-LRB-",
    "&amp;",
    "é",
]


def texts(element):
    return [text.text for text in element.iter(f"{SVG}text")]


def test_words_labels_and_edges_are_there():
    root = ET.fromstring(draw_tree(parse_line(CAT)))
    assert sorted(texts(root)) == sorted(
        ["S", "NP", "DT", "The", "NN", "cat", "VP", "VBD", "sat", ".", "."]
    )
    [path] = root.iter(f"{SVG}path")
    # a line to each node but the root
    assert path.get("d").count("M") == 10
    assert root.get("aria-label") == CAT
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles == ["4 words", "2 words", "1 word"]


def test_marked_constituents_say_why():
    root = ET.fromstring(draw_tree(parse_line(CAT), {1}, "because"))
    [group] = [g for g in root.iter(f"{SVG}g") if g.get("class") == "wrong"]
    assert texts(group) == ["NP"]
    assert group[0][0].text == "because"


def test_edges_say_their_weights_and_are_as_thick():
    """The constituents end in the order NP, VP, S."""
    weights = [[0.25, 0.75], [1.0], [0.1, 0.9, 0.0]]
    root = ET.fromstring("".join(svg_file([attended(1, parse_line(CAT), weights)])))
    [group] = [g for g in root.iter(f"{SVG}g") if g.get("class") == "weight"]
    assert texts(group) == ["0.10", "0.90", "0.00", "0.25", "0.75", "1.00"]
    thick = [float(path.get("stroke-width", 0)) for path in root.iter(f"{SVG}path")]
    # the first is that of the edges to the words
    assert thick == [
        0,
        *(pytest.approx(0.5 + 4.5 * w, abs=0.05) for w in (0.1, 0.9, 0, 0.25, 0.75, 1)),
    ]


def test_the_shade_of_a_label_is_as_opaque_as_it_is_improbable():
    picture = section(1, [ScoredTree(CAT, None, [1.0, 0.25, 0.999])])
    root = ET.fromstring("".join(svg_file([picture])))
    [group] = [g for g in root.iter(f"{SVG}g") if g.get("class") == "doubt"]
    [shade] = group
    assert shade.get("fill-opacity") == "0.75"
    [label] = [t for t in root.iter(f"{SVG}text") if t.text == "NP"]
    left, width = float(shade.get("x")), float(shade.get("width"))
    assert left < float(label.get("x")) < left + width
    assert float(shade.get("y")) < float(label.get("y")) < float(shade.get("y")) + 17
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles == [
        "4 words, probability 1.00",
        "2 words, probability 0.25",
        "1 word, probability 1.00",
    ]


def test_any_word_is_valid_xml():
    tree = "(S " + " ".join(f"(X {word})" for word in [*ODD, "caf\udce9"]) + ")"
    root = ET.fromstring(draw_tree(parse_line(tree, any_bytes=True)))
    assert {"<b>", '"q"', "&", "中文", "\U0001f600", "-LRB-", "&amp;", "caf\\udce9"} <= {
        *texts(root)
    }
    assert {"\\x01\\x1b\\x7f", "\\ufffe", "\\u202e"} <= {*texts(root)}


def test_a_file_has_trees_one_above_the_other_with_numbers():
    sections = [
        section(1, [ScoredTree(CAT, None)]),
        section(2, []),
        section(3, [ScoredTree(CAT, -1)]),
    ]
    root = ET.fromstring("".join(svg_file(sections)))
    captions = [t.text for t in root.iter(f"{SVG}text") if t.get("class") == "caption"]
    assert captions == ["1", "2: no tree", "3", "log probability -1.00"]
    assert ">1</text>" in "".join(svg_file(sections[:2]))
    assert ">1</text>" not in "".join(svg_file(sections[:1]))
    places = [float(g.get("transform").split()[1][:-1]) for g in root if g.tag == f"{SVG}g"]
    heights = [18 + 4 * 44 + 8 + 26 for _ in places]
    assert len(places) == 2 and places[1] >= places[0] + heights[0] - 60
    assert float(root.get("height")) > places[1]
    assert root.find(f"{SVG}style") is not None


@pytest.mark.parametrize("sections", [[], [section(1, [])]])
def test_there_may_be_nothing_to_draw(sections):
    ET.fromstring("".join(svg_file(sections)))


def test_equal_samples_are_drawn_once_and_counted():
    trees = [ScoredTree("(S (X a))", -1.0), ScoredTree(CAT, -2.0), ScoredTree("(S (X a))", -1.0)]
    assert [p.caption for p in section(1, trees).pictures] == [
        "2 of 3, log probability -1.00",
        "1 of 3, log probability -2.00",
    ]


def test_a_tree_of_5000_levels_is_drawn():
    root = ET.fromstring(draw_tree(parse_line("(A " * 5000 + "b" + ")" * 5000)))
    assert len(texts(root)) == 5001
