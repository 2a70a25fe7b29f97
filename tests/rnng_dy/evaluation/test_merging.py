"""Written words and the tokens that they consist of."""

import math
import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import Analysis, WordRecord, covering, written_words
from rnng_dy.evaluation.word_tables import line, token_cells
from rnng_dy.text.segmenter import Segmenter

from .test_surprisal_table import MEASURES


def records_of(tokens, end=False):
    """Records whose surprisals are 1, 2, 4, ... bits, so that a sum says what is in it."""
    records = [
        WordRecord(token, token.lower(), 2.0**i, rounds=i + 1, entropy=float(i), open=i)
        for i, token in enumerate(tokens)
    ]
    return records + [WordRecord(None, None, 0.5)] * end


WRITTEN = st.sampled_from(
    ["can't", "U.S.", ". . .", "“Yes”,", "猫", "a", "\u200b", "\xadb", "x\u00a0y", "\n\n", "(z)."]
)


@settings(deadline=None)
@given(st.lists(WRITTEN, max_size=12).map(" ".join), st.booleans())
def test_tokens_of_running_text_are_found_by_their_places(text, one_per_line):
    for sentence in Segmenter().sentences(text, one_per_line):
        *words, end = written_words(1, sentence, records_of(sentence.tokens, end=True))
        assert end.text is None and end.span is None
        ends = [word.first + len(word.covered) for word in words]
        assert [word.first for word in words] == [1, *ends[:-1]]
        assert ends[-1] == len(sentence.tokens) + 1
        for word, after in zip(words, ends, strict=True):
            begin, last = word.span
            assert "".join(word.text.split()) == "".join(text[begin:last].split())
            inside = sentence.spans[word.first - 1 : after - 1]
            assert (inside[0][0], inside[-1][1]) == word.span
            # white space may be in a token, as in `. . .`, but not between two
            assert not any(re.search(r"[ \n]", text[a:b]) for (_, a), (b, _) in pairwise(inside))


def test_measures_are_added():
    beam = (Analysis(-1.0, ["NT(S)", "SHIFT"]),)
    ca = (3.0, 1.0, 0.5, 1.5, 4, 40, 1.5, 1.5, 2, 1.5, 0, 2, 0, 4, 1, beam)
    not_ = (2.0, 0.5, 0.25, 1.25, 3, 30, 1.0, -0.5, 3, 1, 0.5, 1, 0, 3, -1, beam)
    records = [
        WordRecord("ca", "ca", *ca),
        WordRecord("n't", "n't", *not_),
        WordRecord("go", "UNK", math.inf),
        WordRecord(None, None, 0.25, open=0),
    ]
    text, spans = "can't go", ((0, 2), (2, 5), (6, 8))
    sentence = SourceSentence(("ca", "n't", "go"), None, None, 1, spans, text)
    words = written_words(1, sentence, records)
    word, go, end = (covering(of.text, of.covered) for of in words)
    cells = token_cells(1, words[0].token_ids, word, words[0].known)
    assert line((cells, word), MEASURES) == (
        "1\t1-2\tcan't\t\t1\t5.000000\t1.500000\t0.750000\t2.750000\t7\t70\t\t1.000000\t1.000000\t3"
        "\t2.500000\t0.500000\t3\t0\t3\t0"
    )
    assert (go.surprisal, go.unk, go.structure) == (math.inf, "UNK", None)
    assert [of.known for of in words] == [True, False, None]
    assert words[2].token_ids == "4"
    assert (end.token, end.surprisal, end.open) == (None, 0.25, 0)
