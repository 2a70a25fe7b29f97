"""Whatever the text, its tokens cover it, each where it stands."""

import json
import re
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle.brackets import unspelled
from oracle.common.errors import InputError
from oracle.common.files import split_words
from rnng_dy.text.conventions import Conventions
from rnng_dy.text.segmenter import Segmenter

SEGMENTERS = [
    Segmenter(),
    Segmenter(Conventions(marks="-–/", quotes=('"', '"'), han="characters", at_end_else="kept")),
    Segmenter(Conventions(at_end_else="shared", spellings={})),
]
PIECES = st.sampled_from(
    [
        *"aZé9.,;:!?'\"`-–—…()[]{}$%&/*#@ \n\t“”‘’我。\u0301\u200d\u00ad\u200b\x00\ufeff👍",
        *("n't", "'s", "...", ". . .", "--", "Corp.", "U.S.", "Mr.", "cannot", "a-b", "(s)"),
        *("it's", "http://a.b/c", "x@y.zz", "-LRB-", "\n\n", "No. 5"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
)
JOINERS = re.compile(
    "[\u200c\u200d\u0600-\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd\U000e0020-\U000e007f]"
)


def is_blank(character):
    """White space, a control character, or what nobody sees and joins nothing."""
    category = unicodedata.category(character)
    unseen = category in ("Cf", "Cc") and not JOINERS.match(character)
    return unseen or character.isspace()


def plain(text):
    """A token or a piece of text without the differences that the treebank may make."""
    text = unicodedata.normalize("NFC", "".join(c for c in unspelled(text) if not is_blank(c)))
    # two single ones are as good as a double one, however each of them is written
    text = re.sub("[‘’`]", "'", re.sub('[“”"]', "''", text))
    text = re.sub("[-–—―]+", "-", text)
    return re.sub(r"\.{3,}", "...", text.replace("…", "..."))


@settings(max_examples=200, deadline=None)
@example("我-LRB-", False, SEGMENTERS[1])
@example("a‘'sa", False, SEGMENTERS[0])
@example("http://a.b/cCorp.…a", False, SEGMENTERS[0])
@given(TEXTS, st.booleans(), st.sampled_from(SEGMENTERS))
def test_tokens_stand_where_their_spans_say_and_cover_the_text(text, one_per_line, segmenter):
    covered, last = set(), 0
    for sentence in segmenter.sentences(text, one_per_line):
        assert len(sentence.tokens) == len(sentence.spans) > 0
        begin, end = sentence.spans[0][0], sentence.spans[-1][1]
        assert sentence.text == text[begin:end]
        assert sentence.line == text.count("\n", 0, begin) + 1
        for i, (token, span) in enumerate(zip(sentence.tokens, sentence.spans, strict=True)):
            assert last <= span[0] < span[1] <= len(text)
            last = span[1]
            covered.update(range(*span))
            assert split_words(token) == [token]
            assert not set("()") & set(token) or segmenter is SEGMENTERS[2]
            shares = sentence.tokens[i + 1 : i + 2] == (".",) and sentence.spans[i + 1][0] == last
            expected = plain(text[slice(*span)])
            assert plain(token) == expected or (shares and plain(token) == expected + ".")
    assert all(is_blank(c) for i, c in enumerate(text) if i not in covered)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(TEXTS.map(split_words).map("".join).filter(bool), max_size=5), max_size=5),
    TEXTS,
)
def test_any_training_gives_a_segmenter_that_json_keeps(sentences, text):
    learnt = Segmenter.of_training(sentences)
    stored = json.loads(json.dumps(learnt.conventions.to_json()))
    again = Segmenter(Conventions.from_json(stored))
    assert again.conventions == learnt.conventions
    try:
        found = learnt.sentences(text)
    except InputError:
        assert learnt.conventions.han == "words"
    else:
        assert again.sentences(text) == found
