"""Where the nodes of a tree stand, and trees as SVG that every XML parser takes."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.brackets import parse_line
from rnng_dy.drawing import trees
from rnng_dy.drawing.sections import DrawnTree, section
from rnng_dy.drawing.trees import Picture, nodes_of, partial_picture, place, svg_file, svg_of

SVG = "{http://www.w3.org/2000/svg}"
CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
ODD = ["<b>", '"q"', "&", "'r'", "]]>", "中文", "\U0001f600", "-LRB-", "&amp;", "é"]


def placed(text):
    nodes = nodes_of(Picture(parse_line(text)))
    return nodes, place(nodes)[0]


def drawn(picture):
    return ET.fromstring(svg_of(picture))


def texts(element, kind=None):
    return [text.text for text in element.iter(f"{SVG}text") if kind in (None, text.get("class"))]


def filed(*sections):
    rows = [row for each in sections for row in each.captioned(len(sections) > 1)]
    return ET.fromstring("".join(svg_file(rows)))


def test_constituents_are_numbered_as_evaluation_numbers_them():
    nodes, _ = placed("(S (NP (DT the) (NN cat)) ran (VP (V it)))")
    numbered = [(n.text, n.number) for n in nodes if n.number is not None]
    assert numbered == [("S", 0), ("NP", 1), ("VP", 2)]
    assert [n.text for n in nodes if n.kind == "word"] == ["the", "cat", "ran", "it"]
    assert [n.text for n in nodes if n.kind == "tag"] == ["DT", "NN", "V"]


def any_trees():
    words = st.sampled_from(["a", "(XX-LONG-TAG b)", "(T a-long-word)", "(X y)"])
    inner = st.recursive(
        words,
        lambda below: st.builds(
            lambda label, children: f"({label} {' '.join(children)})",
            st.sampled_from(["S", "A-VERY-LONG-LABEL", "NP"]),
            st.lists(below, min_size=1, max_size=4),
        ),
        max_leaves=20,
    )
    return inner.map(lambda text: f"(ROOT {text} (Z z))")


@settings(deadline=None)
@given(any_trees())
def test_nothing_overlaps_and_no_label_leaves_the_span_of_its_children(text):
    nodes, width = placed(text)
    half = {id(node): max(len(node.text), 2) * trees.CELL / 2 for node in nodes}
    rows = {}
    for node in nodes:
        rows.setdefault("words" if node.kind == "word" else node.level, []).append(node)
        assert node.x - half[id(node)] >= -1e-6 and node.x + half[id(node)] <= width + 1e-6
        if node.children:
            assert node.children[0].x - 1e-6 <= node.x <= node.children[-1].x + 1e-6
    for row in rows.values():
        for left, right in pairwise(sorted(row, key=lambda node: node.x)):
            assert right.x - half[id(right)] - left.x - half[id(left)] >= trees.GAP - 1e-6


def test_words_labels_and_edges_are_there():
    root = drawn(Picture(parse_line(CAT)))
    expected = ["S", "NP", "DT", "The", "NN", "cat", "VP", "VBD", "sat", ".", "."]
    assert sorted(texts(root)) == sorted(expected)
    [path] = root.iter(f"{SVG}path")
    # a line to each node but the root
    assert path.get("d").count("M") == 10
    assert root.get("aria-label") == CAT
    marked = drawn(Picture(parse_line(CAT), marked={1}))
    assert texts(marked, "wrong") == ["NP"]
    assert [title.text for title in marked.iter(f"{SVG}title")] == ["only in this tree"]


def test_the_shade_of_a_label_is_as_opaque_as_it_is_improbable():
    root = drawn(Picture(parse_line(CAT), posteriors=[1.0, 0.25, 0.999]))
    [shade] = root.iter(f"{SVG}rect")
    assert shade.get("fill-opacity") == "0.75"
    [label] = [t for t in root.iter(f"{SVG}text") if t.text == "NP"]
    left, width = float(shade.get("x")), float(shade.get("width"))
    assert left < float(label.get("x")) < left + width
    assert float(shade.get("y")) < float(label.get("y")) < float(shade.get("y")) + 17
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles == [f"probability {p}" for p in ("1.00", "0.25", "1.00")]


@pytest.mark.parametrize(
    ("brackets", "labels", "frames"),
    [
        ("(S (NP The cat) (VP sat", ["S", "NP", "VP"], 2),
        ("(S (NP it", ["S", "NP"], 2),
        ("(S (NP it))", ["S", "NP"], 0),
        # bottom-up and in-order derivations may have several trees
        ("(NP it) (VP", ["NP", "VP"], 1),
        ("it", [], 0),
    ],
)
def test_open_constituents_of_a_partial_tree_have_frames(brackets, labels, frames):
    root = ET.fromstring(svg_of(partial_picture(brackets), brackets))
    assert [text for text in texts(root, "label") if text] == labels
    assert len(root.findall(f".//{SVG}rect")) == frames
    assert root.get("aria-label") == brackets


def test_any_word_is_valid_xml():
    hidden = ["\x01\x1b\x7f", "\ufffe", "\u202e", "caf\udce9"]
    tree = "(S " + " ".join(f"(X {word})" for word in [*ODD, *hidden]) + ")"
    shown = {*texts(drawn(Picture(parse_line(tree, any_bytes=True))))}
    assert {*ODD, "\\x01\\x1b\\x7f", "\\ufffe", "\\u202e", "caf\\udce9"} <= shown


def test_a_file_has_trees_one_above_the_other_with_numbers():
    plain, scored = DrawnTree(parse_line(CAT)), DrawnTree(parse_line(CAT), -1)
    sections = [section(1, [plain]), section(2, []), section(3, [scored])]
    root = filed(*sections)
    captions = [t.text for t in root.iter(f"{SVG}text") if t.get("class") == "caption"]
    assert captions == ["1", "2: no tree", "3", "log probability -1.00"]
    assert "1" not in texts(filed(sections[0]))
    one, other = (float(g.get("transform").split()[1][:-1]) for g in root.findall(f"{SVG}g"))
    assert other - one > 4 * 44 and float(root.get("height")) > other + 3 * 44
    assert root.find(f"{SVG}style") is not None
