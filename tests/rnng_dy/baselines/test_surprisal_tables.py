"""Tables of surprisals from other programs: subwords are added up, sentences are found by their letters."""

import math
import re

import pytest

from oracle.common.errors import InputError, RnngError
from oracle.sentences import SourceSentence
from rnng_dy.baselines.scorers import OpenableScorer, SurprisalTable
from rnng_dy.evaluation.records import WordRecord

TABLE = """\
sentence_id\ttoken_id\ttoken\tsurprisal
2\t1\t"\t0.5
2\t2\tĠNo\t1
2\t3\t,"\t2
2\t4\tshe\t4
2\t5\tcan\t8
2\t6\t't\t16
2\t7\t.\t32
1\t1\t(un\t1
1\t2\tseen\t2
1\t3\t)\t4
1\t4\t</s>\t8
"""


@pytest.fixture
def table(tmp_path):
    def of(content):
        path = tmp_path / "gpt.tsv"
        path.write_text(content, encoding="utf-8")
        return SurprisalTable(str(path))

    return of


def test_tokens_of_any_kind_are_added_up_to_the_tokens_of_a_sentence(table):
    sentences = [["``", "No", ",", "''", "she", "ca", "n't", "."], ["-LRB-", "unseen", "-RRB-"]]
    first, second = table(TABLE).records_of(sentences)
    # `,"` covers two tokens and belongs to the first; `can` begins with `ca`
    assert [r.surprisal for r in first[:-1]] == [0.5, 1, 2, 0, 4, 8, 16, 32]
    assert [r.surprisal for r in second] == [1, 2, 4, 8]
    assert all(r.known for r in first[:-1]) and math.isnan(first[-1].surprisal)


@pytest.mark.parametrize(
    ("rows", "sentence", "bits"),
    [
        # a mark of subwords alone belongs to the next word
        ("In,1 ▁,3 1990,5 ▁.,2", "In 1990 .", [1, 8, 2, math.nan]),
        # after the last word it belongs to the end, if there is one
        ("Dogs,1 ▁bark,2 ▁,4", "Dogs bark", [1, 6, math.nan]),
        ("Dogs,1 ▁bark,2 ▁,4 </s>,8", "Dogs bark", [1, 2, 12]),
        # the mark of an end may begin a sentence
        ("</s>,7 a,1", "a", [1, math.nan]),
        ("</s>,7 b,1 </s>,2", "b", [1, 2]),
    ],
)
def test_marks_belong_to_words_and_ends(table, rows, sentence, bits):
    content = "sentence_id,token,surprisal\n" + "".join(f"1,{row}\n" for row in rows.split(" "))
    [records] = table(content).records_of([sentence.split()])
    assert [r.surprisal for r in records] == pytest.approx(bits, nan_ok=True)


def test_records_of_other_words_without_the_end_and_of_logs_are_refused(table, monkeypatch):
    scorer = table(TABLE)
    for records in ([[WordRecord("a", "a", 1.0)]], []):
        monkeypatch.setattr(scorer, "records_of", lambda *_, found=records: found)
        with pytest.raises(RnngError, match="records are not of 'a' and its end"):
            scorer.sentence_log_probs([SourceSentence(("a",), None, None, 1)])
    logs = [WordRecord("a", "a", -1.0), WordRecord(None, None, -2.0)]
    monkeypatch.setattr(scorer, "records_of", lambda *_: [logs])
    with pytest.raises(RnngError, match="surprisal of a < 0: log probabilities need"):
        scorer.surprisals(["a"])


def test_a_sentence_that_is_there_twice_has_one_surprisal(table):
    content = "sentence_id,token,surprisal\n1,a,1\n2,a,1.0001\n3,b,nan\n4,b,nan\n5,a,{}\n"
    [records, of_nan] = table(content.format(1)).records_of([["a"], ["b"]])
    assert records[0].surprisal == 1 and math.isnan(of_nan[0].surprisal)
    with pytest.raises(InputError, match="the sentence 'a' is in this table with different surpri"):
        table(content.format(1.1)).records_of([["a"]])


def test_sentences_of_the_same_letters_are_told_apart_by_their_words(table):
    rows = "1,into,1 2,in,2 2,to,3 3,(can't),4 4,Fri\u00adday,5 5,—,6 5,—,7".replace(" ", "\n")
    found = table(f"sentence_id,token,surprisal\n{rows}\n")
    records = found.records_of(map(str.split, ["into", "in to", "-LRB- ca n’t )", "Friday", "——"]))
    bits = [[1], [2, 3], [4, 0, 0, 0], [5], [13]]
    assert [[r.surprisal for r in row[:-1]] for row in records] == bits


@pytest.mark.parametrize("other", ["2,a,3", "2,a,nan\n2,</s>,1", "2,a,nan\n2,▁,1"])
def test_a_sentence_that_is_there_twice_has_one_surprisal_of_each_word(table, other):
    found = table(f"sentence_id,token,surprisal\n1,a,nan\n{other}\n")
    with pytest.raises(InputError, match="in this table with different surprisals"):
        found.records_of([["a"]])


@pytest.mark.parametrize(("yes", "no"), ["10", ("True", "False"), ("true", "FALSE")])
def test_unknown_words_are_those_of_the_column(table, yes, no):
    content = f"SentId,Word,known,llm surp\n1,a,{yes},1\n1,b,{no},2\n"
    [records] = table(content).records_of([["a", "b"]])
    assert [(r.known, r.surprisal) for r in records[:2]] == [(True, 1), (False, 2)]


def test_a_mark_of_unknown_words_stands_for_one_word(table):
    content = "sentence_id,token,surprisal\n1,The,1\n1,<unk>,2\n1,[UNK],3\n1,ran,4\n1,<unk>,5\n1,<eos>,6\n"
    content += "2,The,7\n2,wet,7\n2,<unk>,7\n2,ran,7\n2,<unk>,7\n"
    a, b = table(content).records_of(f"The {w} dogs ran off".split() for w in ("big", "wet"))
    assert [r.surprisal for r in [*a, *b[:-1]]] == [1, 2, 3, 4, 5, 6, *[7] * 5]
    assert [r.known for r in a] == [True, False, False, True, False, None]
    with pytest.raises(InputError, match="no sentence"):
        table(content).records_of([["The", "dogs", "ran", "off"]])


@pytest.mark.parametrize(
    "tokens",
    [
        ["[CLS]", "caf", "##é", "’s", "here", "[SEP]"],
        ["<s>", "▁caf", "é", "’", "s", "▁here", "</s>"],
        ["ca@@", "fé", "’s", "here", "<eos>"],
        ["ĠcafÃ©", "âĢ", "Ļs", "Ġ", "here", "<|endoftext|>"],
    ],
)
def test_marks_of_other_programs_are_no_letters(table, tokens):
    content = "item,condition,token,surprisal\n" + "".join(f'1,a,{t},"1,5"\n' for t in tokens)
    [records] = table(content).records_of([["café", "'s", "here"]])
    bits = 1.5 * sum(token not in ("[CLS]", "<s>") for token in tokens)
    assert (math.fsum(r.surprisal for r in records), records[3].surprisal) == (bits, 1.5)


def test_it_is_a_scorer_by_name(tmp_path):
    (tmp_path / "t.csv").write_text("sentence_id,token,surprisal\n1,a,1\n", encoding="utf-8")
    scorer = OpenableScorer("surprisals", str(tmp_path / "t.csv"))
    assert scorer.title == f"surprisals={tmp_path}/t.csv"
    assert scorer.open().records_of([["a"]])[0][0].surprisal == 1
    assert scorer.open().surprisals([("a", "NN")]) == scorer.open().surprisals(["a"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("token,surprisal\na,1\n", "1: no column 'sentence_id' or 'item'"),
        ("item,token,surprisal\n1,a,1\n1,b,high\n", "3: column 'surprisal': 'high' is no number"),
        ("sentence_id,token,surprisal\n1,a,-3\n", "2: -3 is negative: log probabili"),
        ("item,known,token,surp\n1,no,a,1\n", "2: column 'known': 'no' is neither 1 nor 0, true"),
        ("sentence_id,token,surprisal\n1,a b,1\n", "2: 'a b' is several words: give"),
        ("sentence_id,token,surprisal\n1,ab,1\n", "2: 'ab' is several words: give"),
        ("sentence_id,token,surprisal\n1,a\n", "2: 2 columns, and the first line has 3"),
        (
            "sentence_id,token,surprisal\n1,b,1\n",
            " no sentence 'a b' in this table: the most similar one has 'b' in",
        ),
    ],
)
def test_other_tables_are_errors(table, content, message):
    with pytest.raises(InputError, match=re.escape(f"gpt.tsv:{message}")):
        table(content).records_of([["a", "b"]])
