"""Which words a model knows: those that its training has seen often enough, whatever other files list."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clusters.files import ClusteredWord
from oracle.blocks import make_oracle, read_oracle
from oracle.brackets import LocatedTree, parse_line
from oracle.open_classes import OpenClasses
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words
from rnng_dy.search.posterior import posterior
from rnng_dy.search.scoring import tree_log_probs
from rnng_dy.text.sources import Source
from rnng_dy.training.data import Corpus
from rnng_dy.training.initial_models import fine_tuned, vocabulary_of_words
from rnng_dy.vocabulary import GeneratorVocabulary
from tests.commands import invoke

from .conftest import (
    make_generator,
    make_lm,
    make_parser,
    save_oracle,
    sentences_of,
    simple_clusters,
)

ONCE = "(S (NP (DT the) (NN zork)) (VP (VBD slept)))"


def located(*lines):
    return [LocatedTree(parse_line(line), "more.trees", i) for i, line in enumerate(lines, 1)]


def oracle_of(trees, least, generative=False):
    known = known_words((words(t.tree) for t in trees), least)
    return list(make_oracle(trees, UnknownWords("berkeley", known), generative, TOP_DOWN))


def test_words_that_only_the_clusters_have_are_unknown(generative_sentences):
    """A new model leaves them out; a checkpoint of the original has rows for them."""
    clusters = [*simple_clusters(generative_sentences), ClusteredWord("000", "zork", 99)]
    vocabulary = GeneratorVocabulary.build(clusters, generative_sentences)
    assert "zork" in vocabulary.words
    assert vocabulary.unknown.unkify(["the", "zork"], True) == ["the", "UNK-LC"]
    new = vocabulary_of_words(generative_sentences, clusters, "berkeley")
    assert len(new.words) == len(vocabulary.words) - 1
    assert new.unknown.unkify(["zork"], True) == ["UNK-LC"]


def test_a_saved_model_reads_them_as_their_classes(generator):
    """Its vocabulary stays, with the words that its clusters had."""
    v = generator.vocabulary
    word = next(word for word in v.ids if word in v.unknown.known)
    saved = replace(v, unknown=UnknownWords("berkeley", v.unknown.known - {word})).to_json()
    old = GeneratorVocabulary.from_json(saved)
    assert word in old.ids and old.unknown.unkify([word], True) == [old.unknown.word_class(word)]
    assert word not in OpenClasses(old.unknown, old.ids).known


@pytest.mark.parametrize("least", [2, 3, 5])
def test_a_parser_trains_no_other_rows_than_it_reads(trees, least):
    """Rare words are words or classes by chance; all of them as classes are what parsing reads."""
    sentences = oracle_of(trees, least)
    assert_training_reads_what_parsing_reads(make_parser(sentences), sentences)


def assert_training_reads_what_parsing_reads(parser, sentences):
    for s in sentences:
        example = parser.with_unknowns(parser.encode_training(s), 1.0, np.random.default_rng(1))
        assert list(example.tokens.words) == list(parser.encode(s.tokens, s.tags).words)


@pytest.mark.parametrize("extend", [False, True])
def test_further_training_adds_the_words_that_its_data_knows(trees, extend):
    """`once` was seen once before, `lowered` is the lower-cased form of a word."""
    sentences = sentences_of(trees, generative=False)
    parser = make_parser(sentences)
    v = parser.vocabulary
    once = next(w for w in map(v.words.symbols.__getitem__, sorted(v.singletons)) if w.islower())
    lowered = next(w for s in sentences for w in s.lowercased if w not in (*s.tokens, once))
    line = f"({v.nonterminals[0]} (NN {once}) (NN {once}) (NN {lowered}) (NN the))"
    new = sentences_of(located(line), generative=False)
    tuned = fine_tuned(parser, Corpus(new, [], "more.trees", "more.trees"), "m", extend, 1)
    assert tuned.unknown.known - v.unknown.known == {once}
    assert tuned.unknown.known >= v.unknown.known
    assert v.words[once] not in tuned.vocabulary.singletons
    new = [replace(s, unkified=tuple(tuned.unknown.unkify(s.tokens))) for s in new]
    assert_training_reads_what_parsing_reads(tuned, new)


def test_a_parser_needs_unknown_words(train_and_dev):
    result = invoke("oracle", "--train", "t.trees", "t.trees", "--min-count", "1", code=2)
    assert "--min-count 1 knows every word" in result.stderr
    save_oracle("t.oracle", oracle_of(located(ONCE), 1))
    Path("t.trees").write_text(ONCE + "\n")
    data = ["--train", "t.oracle", "--dev", "t.oracle", "--dev-trees", "t.trees"]
    result = invoke("train", "discriminative", *data, "--model", "m", code=2)
    assert "t.oracle: the oracle knows every word" in result.stderr
    assert not Path("m").exists()


def test_samples_of_a_text_have_its_words(trees, tmp_path):
    """The generative model knows `zork`, which the parser does not."""
    parser = make_parser(sentences_of(trees, False), tags=False)
    generator = make_generator(sentences_of([*trees, *located(ONCE, ONCE)], True))
    parser.save(tmp_path / "p")
    generator.save(tmp_path / "g")
    (tmp_path / "t.txt").write_text("the zork slept\n")
    samples = tmp_path / "t.props"
    invoke("sample", "--model", tmp_path / "p", tmp_path / "t.txt", "--samples", 3, "-o", samples)
    drawn = [parse_line(line.split(" ||| ")[2]) for line in samples.read_text().splitlines()]
    text = ["the", "zork", "slept"]
    assert [tree.leaves() for tree in drawn] == [text] * 3
    scores = invoke("score", "--model", tmp_path / "g", samples).stdout.splitlines()
    actions = [tuple(generator.transitions.actions_of(tree, False)) for tree in drawn]
    log_ps = tree_log_probs(generator, text, actions)
    assert [float(line.split("\t")[1]) for line in scores] == pytest.approx([-p for p in log_ps])


@pytest.mark.parametrize("make", [make_generator, make_lm])
def test_an_oracle_of_other_words_is_read_by_the_words_of_the_model(trees, tmp_path, make):
    """The oracle of one tree knows `the` alone; of the classes, those that it gives to unknown words stay."""
    model = make(sentences_of(trees, True))
    rare = next(w for t in trees for w in words(t.tree) if w not in model.unknown.known)
    line = f"(S (NP (DT the) (NN cat)) (VP (VBD {rare}) (NP (NN {rare}) (NN Zork))))"
    [sentence] = sentences_of(located(line), True)
    assert sentence.unkified[1] == "UNK-LC" and sentence.unkified[2] == rare
    kept = replace(sentence, unkified=(*sentence.unkified[:4], "UNK-INITC-KNOWNLC"))
    save_oracle(tmp_path / "t.oracle", [kept])
    [read] = Source(str(tmp_path / "t.oracle")).read(model)
    class_ = model.unknown.word_class(rare)
    assert read.unkified == ("the", "cat", class_, class_, "UNK-INITC-KNOWNLC")
    assert read_oracle(tmp_path / "t.oracle")[0].unkified == kept.unkified


def test_a_sentence_with_an_unknown_word_has_a_probability(generative_sentences):
    model = make_lm(generative_sentences)
    sentence = SourceSentence(("the", "zork"), None, None, 1)
    assert model.sentence_log_probs([sentence]) == pytest.approx([model.log_prob(sentence.tokens)])


def test_ngrams_of_an_oracle_without_unknown_words_give_surprisals(tmp_path):
    save_oracle(tmp_path / "o", oracle_of(located(ONCE, ONCE), 2, generative=True))
    given = ["surprisal", "the zork woke", "--scorer", f"kneser-ney={tmp_path / 'o'}"]
    assert invoke(*given).stdout.splitlines()[-1].endswith("\tinf")
    assert "has no spelling model" in invoke(*given, "--open", code=2).stderr


def test_the_label_of_a_lone_word_is_no_tag(parser, tagger):
    """(S Go) is the tree that the parser makes of the word, which its tagger tags."""
    parser.tagger = tagger
    label = parser.vocabulary.nonterminals[0]
    tree = parse_line(f"({label} (XX Go))")
    assert parser.log_prob(parse_line(f"({label} Go)")) == parser.log_prob(tree)
    found = posterior([(parse_line(f"({label} Go)"), -1.0)])
    assert found.tags is None and found.probability(label, 0, 1) == 1.0
