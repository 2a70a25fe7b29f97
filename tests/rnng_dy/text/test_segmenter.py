"""Raw text as a treebank's tokens, with their places."""

from __future__ import annotations

import json

from rnng_dy.text.segmenter import Segmenter


def words(text, segmenter=None):
    return [" ".join(s.tokens) for s in (segmenter or Segmenter()).sentences(text)]


def test_a_sentence_as_the_penn_treebank_has_it():
    assert words("He said, \"I can't go (to Mr. Smith's) -- it's $3.50 or 5%,\" didn't he?") == [
        "He said , `` I ca n't go -LRB- to Mr. Smith 's -RRB- -- it 's $ 3.50 or 5 % , '' did n't he ?"
    ]


def test_json_and_back_is_the_same_segmenter(generative_sentences):
    learnt = Segmenter.of_training([s.tokens for s in generative_sentences])
    again = Segmenter.from_json(json.loads(json.dumps(learnt.to_json())))
    assert again.conventions == learnt.conventions
