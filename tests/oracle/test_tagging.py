"""Tags that are not gold."""

import os

import pytest
from nltk import Tree
from nltk.tag import perceptron

from oracle import tagging
from oracle.tagging import FILES
from oracle.treebank import tags, with_tags, words
from rnng_dy.parallel import Workers
from tests.commands import PYTHON, invoke, run
from tests.conftest import TINY

SENTENCES = [[("the", "DT"), (f"thing{i}", "NN"), ("runs", "VBZ")] for i in range(20)]


def test_a_jackknifed_tagger_has_not_seen_the_sentence():
    # a tag that only one sentence has cannot come back
    sentences = [*SENTENCES, [("the", "DT"), ("odd", "UNHEARD"), ("runs", "VBZ")]]
    found = tagging.jackknife(sentences, 5, 1, Workers().map)
    assert [len(tags) for tags in found] == [len(s) for s in sentences]
    assert "UNHEARD" not in {tag for tags in found for tag in tags}
    assert sum(tags[0] == "DT" for tags in found) == len(found)
    assert ("odd", "UNHEARD") in tagging.train_tagger(sentences, 1).tag(["the", "odd", "runs"])


def test_a_tagger_learns_as_nltks_own(monkeypatch):
    sentences = tagging.training_pairs(str(TINY))[:100]
    learnt = tagging.train_tagger(sentences, 1).model.weights
    monkeypatch.setattr(tagging, "_Learner", lambda tags: perceptron.AveragedPerceptron())
    assert learnt == tagging.train_tagger(sentences, 1).model.weights


SAVED = """
from sys import argv
from oracle import brackets, tagging
sentences = [tagging.tagged(located.tree) for located in brackets.read_trees(argv[1])][:100]
tagging.save_tagger(tagging.tagger_of_training(sentences, seed=3), argv[2])
"""


def test_a_seed_gives_the_same_files_whatever_order_sets_have(tmp_path):
    for hashes in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hashes}
        run(None, SAVED, TINY, tmp_path / hashes, command=PYTHON, env=environment)
    for name in FILES:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_a_parsers_tagger_tags_as_the_one_that_is_trained_on_the_same():
    own = tagging.tagger_of_training(SENTENCES, seed=1)
    unseen = ["the", "thing99", "sleeps"]
    assert own.tag(unseen) == tagging.train_tagger(SENTENCES, seed=1).tag(unseen)


def test_a_word_that_was_seen_often_has_one_of_its_tags():
    ends = [[("the", "DT"), (f"thing{i}", "NN"), (".", ".")] for i in range(60)]
    seen = [[("they", "PRP"), ("swam", "VBD"), ("far", "RB")]]
    trained = tagging.train_tagger([*ends, *seen * 3], seed=1)
    assert tagging.tags_by(trained, ["the", "swam", "."])[1] != "VBD"
    own = tagging.tagger_of_training([*ends, *seen * 3], seed=1)
    assert tagging.tags_by(own, ["the", "swam", "."])[1] == "VBD"


def test_a_rare_word_is_kept_to_no_tag():
    tagger = tagging.Tagger(load=False)
    tagger.keep_to([[("seen", "A"), ("rare", "A"), ("seen", "B"), ("rare", "A"), ("seen", "B")]])
    assert tagger.model.weights == {"i form seen": {"A": 1e6, "B": 1e6}}


def test_of_many_sentences_a_parsers_tagger_sees_some_from_everywhere(monkeypatch):
    monkeypatch.setattr(tagging, "MOST_SENTENCES", 4)
    sentences = [[("a", f"T{i}")] for i in range(10)]
    assert tagging.tagger_of_training(sentences, seed=1).classes == {"T0", "T2", "T5", "T7"}


def test_new_tags_leave_the_tree_and_the_old_one_alone():
    tree = Tree.fromstring("(S (NP (A a)) (VP (B b) (C c)))")
    new = with_tags(tree, ["X", "Y", "Z"])
    assert tags(new) == ["X", "Y", "Z"]
    assert tags(tree) == ["A", "B", "C"]
    assert words(new) == words(tree)
    with pytest.raises(ValueError, match="zip"):
        with_tags(tree, ["X"])


def tag(folder, *arguments, code=0):
    return invoke("tag", folder / "t.trees", *arguments, code=code)


def test_the_command_takes_tags_from_taggers(tmp_path):
    lines = [
        f"(S (NP (DT the) (NN thing{i})) (VP (VBZ {'runs' if i % 2 else 'sleeps'})))\n"
        for i in range(12)
    ]
    (tmp_path / "t.trees").write_text("".join(lines))
    for jobs in (1, 2):
        tag(tmp_path, "--jackknife", 3, "--jobs", jobs, "-o", tmp_path / f"jobs{jobs}")
    assert (tmp_path / "jobs1").read_bytes() == (tmp_path / "jobs2").read_bytes()
    (tmp_path / "others.trees").write_text("".join(lines).replace("the", "a"))
    tag(tmp_path, "--train", tmp_path / "others.trees")


def test_too_many_folds_and_no_choice_are_refused(tmp_path):
    (tmp_path / "t.trees").write_text("(S (A the) (B cat))\n(S (A the) (B dog))\n")
    assert "2 trees cannot make 5 folds" in tag(tmp_path, "--jackknife", 5, code=2).output
    tag(tmp_path, code=2)
