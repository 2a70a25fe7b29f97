"""Raw text as the sentences and tokens of a treebank."""

import pytest

from oracle.common.errors import InputError, RnngError
from rnng_dy.text.segmenter import Segmenter

PENN = Segmenter()


def tokenised(text, segmenter=PENN, one_per_line=False):
    return [" ".join(s.tokens) for s in segmenter.sentences(text, one_per_line)]


def one(text, segmenter=PENN):
    [sentence] = tokenised(text, segmenter, one_per_line=True)
    return sentence


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat sat on the mat.", "The cat sat on the mat ."),
        ("I can't, won't and don't.", "I ca n't , wo n't and do n't ."),
        ("He's what they're; I'd've, we'll, I'm.", "He 's what they 're ; I 'd 've , we 'll , I 'm ."),
        ("The dogs' bowl is James's.", "The dogs ' bowl is James 's ."),
        ("DON'T SAY IT'S", "DO N'T SAY IT 'S"),
        ("We cannot; gonna? 'Tis!", "We can not ; gon na ? 'T is !"),
        ("It's $3.50, US$5 or 5%.", "It 's $ 3.50 , US$ 5 or 5 % ."),
        ("AT&T & S&P's 1/2-year and/or 3-4 co-ops", "AT&T & S&P 's 1\\/2-year and\\/or 3-4 co-ops"),
        ("(a) {b} [c]", "-LRB- a -RRB- -LCB- b -RCB- [ c ]"),
        ('"Well," he said: "no."', "`` Well , '' he said : `` no . ''"),
        ('a " b " c', "a `` b '' c"),
        ("``Well,'' he said", "`` Well , '' he said"),
        ("“Well,” he said, ‘it’s Joe’s’.", "`` Well , '' he said , ` it 's Joe 's ' ."),
        ("so—yes – no --- a–b", "so -- yes -- no -- a-b"),
        ("Wait… or wait... or . . . wait", "Wait ... or wait ... or ... wait"),
        ("Mr. Smith of the U.S. Senate Corp., Inc.", "Mr. Smith of the U.S. Senate Corp. , Inc ."),
        ("J. R. R. Tolkien et al. wrote No. 5.", "J. R. R. Tolkien et al. wrote No. 5 ."),
        ("He left. She stayed.", "He left . She stayed ."),
        ("see https://a.org/b?c=d, or x.y@z.com.", "see https:\\/\\/a.org\\/b?c=d , or x.y@z.com ."),
        ("at ftp://a.b/c_(d) (http://e.f/g)", "at ftp:\\/\\/a.b\\/c_-LRB-d-RRB- -LRB- http:\\/\\/e.f\\/g -RRB-"),
        ("ok 👍🏽👩‍🔬🇩🇪.", "ok 👍🏽 👩‍🔬 🇩🇪 ."),
    ],
)  # fmt: skip
def test_tokens_are_those_of_the_penn_treebank(text, tokens):
    assert one(text) == tokens


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. It pours.", ["It rains .", "It pours ."]),
        ("Mr. Smith left.  Dr. Jones came.", ["Mr. Smith left .", "Dr. Jones came ."]),
        ('"Stop!" he said. "Why?"', ["`` Stop ! '' he said .", "`` Why ? ''"]),
        ("(It rains.) It pours.", ["-LRB- It rains . -RRB-", "It pours ."]),
        ("A heading\n\nA text\nof two lines.", ["A heading", "A text of two lines ."]),
        ("A heading\r\n \r\nA text\r\nof two lines.", ["A heading", "A text of two lines ."]),
        ("J.R.R. Tolkien and the C.I.A. agent left. So.", ["J.R.R. Tolkien and the C.I.A. agent left .", "So ."]),
        ("He (D., Calif.), too.", ["He -LRB- D. , Calif . -RRB- , too ."]),
        ("1. Buy it. 2. Sell it.", ["1 . Buy it .", "2 . Sell it ."]),
        ("As shown. [3] Next.", ["As shown . [ 3 ] Next ."]),
        ("他走了。「好！」他說。", ["他走了 。", "「 好 ！ 」", "他說 。"]),
    ],
)  # fmt: skip
def test_sentences_end_where_they_do(text, sentences):
    assert tokenised(text) == sentences


def test_lines_are_sentences_where_they_are_said_to_be():
    text = "It rains. It pours.\n\nnot a\nsentence"
    found = PENN.sentences(text, one_per_line=True)
    assert [s.line for s in found] == [1, 3, 4]
    assert [s.text for s in found] == ["It rains. It pours.", "not a", "sentence"]


def test_spans_and_lines_are_those_of_the_whole_text():
    text = "\ufeffOne.\n\nHe  can't\tgo\nhome…"
    found = PENN.sentences(text)
    pieces = [" ".join(text[b:e] for b, e in s.spans) for s in found]
    assert pieces == ["One .", "He ca n't go home …"]
    assert [(s.line, s.text) for s in found] == [(1, "One."), (3, "He  can't\tgo\nhome…")]


def test_an_abbreviation_shares_its_period_with_the_sentence():
    text = "He runs Acme Corp."
    [sentence] = PENN.sentences(text)
    assert sentence.tokens[-2:] == ("Corp", ".")
    assert sentence.spans[-2:] == ((13, 17), (17, 18))
    learnt = Segmenter.of_training([["the", "U.S.", "and"], ["the", "U.S.", "."]] * 2)
    [sentence] = learnt.sentences("In the U.S.")
    assert sentence.tokens[-2:] == ("U.S.", ".")
    assert sentence.spans[-2:] == ((7, 10), (10, 11))


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n\r\n", "\ufeff", "\x00\x07", "\u200b\u00a0\u3000", "\u00ad\u200e"]
)
def test_a_text_without_words_has_no_sentence(text):
    assert PENN.sentences(text) == PENN.sentences(text, one_per_line=True) == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a\u00a0b\u200bc\u2028d\x00e\x1bf\x85g", "a b c d e f g"),
        ("co\u00adoperate \u200eleft\u200f \u2066right\u2069", "cooperate left right"),
        ("e\u0301te\u0301, cafe\u0301", "\u00e9t\u00e9 , caf\u00e9"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("❤️ ☎ 1️⃣", "❤️ ☎ 1️⃣"),
    ],
)
def test_what_is_not_seen_is_no_part_of_tokens_and_what_joins_is(text, tokens):
    assert one(text) == tokens


def test_what_is_no_text_is_refused():
    with pytest.raises(RnngError, match="character 3 of the text is a lone surrogate"):
        PENN.sentences("ab\ud800")


CHINESE_WORDS = [["嘉珍", "和", "我", "住在", "同一條", "巷子", "，"], ["友情", "。"]]
CHINESE_CHARACTERS = [list("嘉珍和我住在同一條巷子，"), list("友情。")]


def test_a_model_of_characters_splits_chinese_into_those():
    segmenter = Segmenter.of_training([*CHINESE_CHARACTERS, ["IBM"]])
    assert tokenised("我住在巷子。好！”", segmenter) == ["我 住 在 巷 子 。", "好 ！ ''"]
    assert tokenised("用 Windows 95。", segmenter) == ["用 Windows 95 。"]
    segmenter = Segmenter.of_training(CHINESE_CHARACTERS)
    assert tokenised("用 Win 95。", segmenter) == ["用 W i n 9 5 。"]


def test_a_model_of_words_takes_blanks_for_their_ends():
    segmenter = Segmenter.of_training(CHINESE_WORDS)
    assert tokenised("我 和 嘉珍。 友情", segmenter) == ["我 和 嘉珍 。", "友情"]
    assert tokenised("我。", segmenter) == ["我 。"]


@pytest.mark.parametrize("text", ["好。\n我和嘉珍住在巷子。", "一 個\n我和嘉珍住"])
def test_a_model_of_words_cannot_split_text_without_blanks(text):
    segmenter = Segmenter.of_training(CHINESE_WORDS)
    says = "put blanks between words, or train a model on single"
    with pytest.raises(InputError, match=says) as error:
        segmenter.sentences(text)
    assert error.value.line == text.count("\n") + 1


def test_a_period_stuck_to_the_last_word_is_found_in_sentences_of_any_length():
    with pytest.warns(UserWarning, match=r"'down\.' ends .* \(2 of 3 .*: give sentences as str"):
        Segmenter().sentences_in([["He", "of", "Corp.", "sat", "down."], ["Up."], ["Yes", "."]])
