"""The symbols of an oracle are counted, in the order in which they first appear."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest

from oracle.blocks import counted, make_oracle
from oracle.brackets import read_trees
from oracle.common.errors import RnngError
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words

from ..conftest import TINY


@pytest.fixture(params=["discriminative", "generative"])
def sentences(request):
    trees = list(read_trees(TINY))[:60]
    unknown = UnknownWords("berkeley", known_words(words(t.tree) for t in trees))
    return list(make_oracle(trees, unknown, request.param == "generative"))


def test_symbols_are_in_the_order_of_their_first_appearance(sentences):
    counts = counted(sentences)
    lines = (line for s in sentences for line in (s.tokens, s.lowercased or (), s.unkified))
    assert [*counts.words] == [*dict.fromkeys(chain.from_iterable(lines))]
    opened = (a for s in sentences for a in s.actions if a.startswith("NT"))
    assert counts.nonterminals() == tuple(a[3:-1] for a in dict.fromkeys(opened))
    for name in ("tokens", "unkified", "tags"):
        symbols = [symbol for s in sentences for symbol in getattr(s, name) or ()]
        assert [*getattr(counts, name).items()] == [*Counter(symbols).items()]


def test_two_transition_systems_are_refused(sentences):
    mixed = [sentences[0], replace(sentences[1], transitions="other")]
    with pytest.raises(RnngError, match="several transition systems: other, top-down"):
        counted(mixed).nonterminals()
