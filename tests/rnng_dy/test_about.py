"""about.json and the model card: what they hold is shown as it is, whatever it is."""

from __future__ import annotations

import re

import pytest

from oracle.errors import InputError
from rnng_dy import load, model_folder
from rnng_dy.training.about import about_model

from .conftest import make_parser

NASTY = "a|b `c` ```d``` *e* <b> [f](g) \\| # h\nsecond\r\x1b[31m \udcff\u202e &amp; ~~i~~"


@pytest.fixture
def parser(sentences):
    model = make_parser(sentences)
    model.about = about_model(model, sentences, "rnng-dy train discriminative")
    model.updates = 7
    return model


def cells(line):
    """The cells of a row of a table: `|` ends one unless a backslash stands before it."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", re.sub(r"\\\\", "", line))[1:-1]]


def test_a_card_says_what_the_model_is(parser):
    text = model_folder.card(parser.about)
    rows = dict(map(cells, re.findall(r"^\|.*\|$", text, re.M)))
    assert rows["sentences"] == "120"
    assert rows["parameters"] == f"{parser.store.count():,}"


def test_what_a_folder_says_of_its_model_goes_with_the_model(parser, tmp_path):
    parser.save(tmp_path / "one")
    again = load(tmp_path / "one")
    assert again.about == parser.about
    again.save(tmp_path / "two")
    one, two = ((tmp_path / folder / "about.json").read_bytes() for folder in ("one", "two"))
    assert one == two


def test_a_row_of_the_table_is_one_line_that_controls_no_terminal(tmp_path):
    about = {"model": {"kind": NASTY, NASTY: NASTY}, NASTY: {"command": NASTY, "x": None}}
    model_folder.write_about(tmp_path, about)
    assert model_folder.read_about(tmp_path) == about
    for line in model_folder.card(about).split("\n"):
        assert line.isprintable()
        if line.startswith("|"):
            assert len(cells(line)) == 2, line


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"a": 1}',
        '{"a": {"b": []}}',
        '{"a": {"b": {"c": 1}}}',
        "[" * 10**5,
    ],
)
def test_a_damaged_one_is_told(parser, tmp_path, content):
    parser.save(tmp_path / "m")
    (tmp_path / "m" / "about.json").write_text(content)
    with pytest.raises(InputError, match=r"about.json: .*damaged.* remove it"):
        load(tmp_path / "m")


def test_a_model_says_what_it_is(parser):
    assert repr(parser) == (
        "<DiscriminativeParser: composition corrected, transitions top-down, state full, "
        f"layers 2, lstm_input 10, hidden 8, action 5, word 7, tag 4; {parser.store.count():,} parameters>"
    )
