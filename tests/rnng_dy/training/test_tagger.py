"""A parser's own tagger: trained, given, kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracle.errors import RnngError
from oracle.tagger import load_tagger
from oracle.tagging import tagger_of_training
from rnng_dy.training.tagger import (
    give_tagger,
    keep_tagger,
    parser_without_tagger,
    train_own_tagger,
)

from ..conftest import make_parser


def test_the_record_says_how_well_it_tags_the_development_data(parser, sentences, tagger):
    dev = [replace(s, tags=(*s.tags[:-1], "ODD")) for s in sentences[:10]]
    record = train_own_tagger(parser, sentences, dev, seed=1)
    words = sum(len(s.tokens) for s in dev)
    assert parser.tagger.encode_json_obj()[:2] == tagger.encode_json_obj()[:2]
    assert (record["event"], record["sentences"], record["dev_words"]) == ("tagger", 0, words)
    assert 50 < record["accuracy"] <= 100 * (words - 10) / words


def test_a_tagger_of_other_tags_is_refused(parser):
    other = tagger_of_training([[("it", "PRON"), ("rains", "VERB"), (".", ".")]], seed=1)
    with pytest.raises(RnngError, match=r"2 of the tagger's 3 POS tags .* such as PRON, VERB"):
        give_tagger(parser, other)
    assert parser.tagger is None


def test_a_folder_has_the_tagger_that_is_kept_in_it(parser, tagger, tmp_path):
    parser.save(tmp_path / "m")
    keep_tagger(tagger, tmp_path / "m")
    assert load_tagger(tmp_path / "m" / "tagger").classes == tagger.classes
    assert not list((tmp_path / "m").glob(".*"))


def test_a_kill_while_a_tagger_is_kept_leaves_a_folder_without_one(
    parser, tagger, tmp_path, monkeypatch
):
    def killed(*_):
        raise KeyboardInterrupt

    parser.save(tmp_path / "m")
    monkeypatch.setattr("pathlib.Path.rename", killed)
    with pytest.raises(KeyboardInterrupt):
        keep_tagger(tagger, tmp_path / "m")
    assert parser_without_tagger(tmp_path / "m").tagger is None


def test_a_parser_that_has_a_tagger_or_needs_none_is_refused(sentences, parser, tagger, tmp_path):
    parser.tagger = tagger
    parser.save(tmp_path / "has")
    make_parser(sentences, tags=False).save(tmp_path / "needs-none")
    with pytest.raises(RnngError, match=r"has a tagger: remove .*has/tagger first"):
        parser_without_tagger(tmp_path / "has")
    with pytest.raises(RnngError, match="trained without --pos"):
        parser_without_tagger(tmp_path / "needs-none")
