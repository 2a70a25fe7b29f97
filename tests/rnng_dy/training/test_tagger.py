"""A parser's own tagger: how good it is, and a kill while it is kept."""

import re

import pytest

from oracle.brackets import format_tree
from rnng_dy import load
from rnng_dy.training.initial_models import train_into, train_own_tagger


@pytest.fixture
def folder(parser, trees, here):
    """A folder of a parser and of trees with its tags, the current one."""
    parser.save("m")
    lines = (f"{format_tree(located.tree)}\n" for located in trees[:20])
    (here / "t.trees").write_text("".join(lines), encoding="utf-8")
    return here


def test_it_is_told_how_well_it_tags_the_development_data(parser, sentences, tagger, caplog):
    caplog.set_level("INFO")
    train_own_tagger(parser, sentences, sentences[:10], seed=1)
    assert parser.tagger.encode_json_obj()[:2] == tagger.encode_json_obj()[:2]
    [accuracy] = re.findall("dev accuracy (.*) % of", caplog.text)
    assert 90 < float(accuracy) <= 100


def test_a_kill_while_a_tagger_is_kept_leaves_a_folder_without_one(folder, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.rename", killed)
    with pytest.raises(KeyboardInterrupt):
        train_into("m", "t.trees", seed=1)
    assert load("m").tagger is None
