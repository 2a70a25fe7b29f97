"""about.json, and what a model says it is."""

from __future__ import annotations

import pytest

from oracle.errors import InputError
from rnng_dy import load
from rnng_dy.training.about import about_model

from .conftest import make_parser


@pytest.fixture
def parser(sentences):
    model = make_parser(sentences)
    model.about = about_model(model, sentences, "rnng-dy train discriminative")
    model.updates = 7
    return model


def test_what_a_folder_says_of_its_model_goes_with_the_model(parser, tmp_path):
    parser.save(tmp_path / "one")
    again = load(tmp_path / "one")
    assert again.about == parser.about
    again.save(tmp_path / "two")
    one, two = ((tmp_path / folder / "about.json").read_bytes() for folder in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 1}', '{"a": {"b": []}}', "[" * 10**5])
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
