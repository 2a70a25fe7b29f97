"""Against what the original's scripts printed, and on whole treebanks."""

import csv
import io

import pytest

from oracle.blocks import make_oracle, read_oracle, write_oracle
from oracle.brackets import format_tree, parse_line, read_trees
from oracle.corpora import NltkSample
from oracle.samples import read_likelihoods, read_samples
from oracle.transitions import TOP_DOWN
from oracle.treebank import clean, is_preterminal, tags, words
from oracle.unknown import UnknownWords, known_words


def unknown_words_of(path, rules="berkeley") -> UnknownWords:
    return UnknownWords(rules, known_words(words(located.tree) for located in read_trees(path)))


@pytest.mark.parametrize("kind", ["oracle", "gen.oracle"])
@pytest.mark.parametrize(
    ("name", "train"),
    [
        ("train", "clab_reference/train.trees"),
        ("dev", "clab_reference/train.trees"),
        ("test", "clab_reference/train.trees"),
        ("nonascii", "treebanks/gum/train.trees"),
    ],
)
def test_oracles_are_those_of_the_original_byte_for_byte(shared, name, train, kind):
    reference = shared / "clab_reference"
    trees = read_trees(reference / f"{name}.trees")
    made = list(make_oracle(trees, unknown_words_of(shared / train), kind == "gen.oracle"))
    stream = io.StringIO(newline="\n")
    write_oracle(made, stream)
    assert stream.getvalue().encode() == (reference / f"{name}.{kind}").read_bytes()
    assert read_oracle(reference / f"{name}.{kind}") == made


def test_cleaning_nltks_sample_gives_the_reference_trees(shared, monkeypatch):
    monkeypatch.setattr(pytest.importorskip("nltk.data"), "path", [str(shared / "nltk_data")])

    def cleaned(sections):
        return [
            format_tree(clean(located.tree)) for located in NltkSample().read(sections=sections)
        ]

    def reference(name):
        return (shared / "clab_reference" / name).read_text("utf-8").splitlines()

    train, dev, test = cleaned("1-159"), cleaned("160-179"), cleaned("180-199")
    # README.md of clab_reference: whole sample (train 3,396 sentences; dev 272; test 245), of which
    # one dev sentence with an unseen nonterminal was left out
    assert (len(train), len(dev), len(test)) == (3396, 273, 245)
    assert train[:500] == reference("train.trees")
    assert set(reference("dev.trees")) <= set(dev)
    assert set(reference("test.trees")) <= set(test)


def test_samples_of_the_original_are_read_as_trees_over_their_sentence(shared):
    folder = shared / "clab_reference"
    sentences = read_oracle(folder / "test.oracle")
    samples = list(read_samples(folder / "corrected" / "disc.samples.alpha0.8.props"))
    likelihoods = read_likelihoods(folder / "corrected" / "gen.likelihoods")
    assert len(samples) == len(likelihoods) == 20 * len(sentences)
    for sample, (length, _) in zip(samples, likelihoods, strict=True):
        unkified = sentences[sample.index].unkified
        assert tuple(words(sample.tree)) == unkified
        assert len(unkified) == length
        actions = TOP_DOWN.actions_of(sample.tree, preterminals=False)
        assert TOP_DOWN.tree_of(actions, unkified) == sample.tree


@pytest.mark.parametrize(
    ("treebank", "rules", "sizes"),
    [
        ("gum", "berkeley", {"train": 10205, "dev": 1574, "test": 1462, "test2": 1332}),
        ("sinica", "single", {"train": 7998, "dev": 999, "test": 1000}),
    ],
)
def test_whole_treebanks_make_oracles_that_read_back(shared, tmp_path, treebank, rules, sizes):
    folder = shared / "treebanks" / treebank
    unknown_words = unknown_words_of(folder / "train.trees", rules)
    for name, size in sizes.items():
        trees = list(read_trees(folder / f"{name}.trees"))
        made = list(make_oracle(trees, unknown_words, generative=False))
        path = tmp_path / f"{name}.oracle"
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            write_oracle(made, stream)
        assert len(made) == size
        assert read_oracle(path) == made
        for located, sentence in zip(trees, made, strict=True):
            assert located.text == format_tree(located.tree) == sentence.tree
            built = TOP_DOWN.tree_of(sentence.actions, sentence.tokens, sentence.tags)
            assert built == located.tree
            bare = TOP_DOWN.tree_of(sentence.actions, sentence.tokens)
            assert TOP_DOWN.actions_of(bare, False) == list(sentence.actions)


def test_sinica_has_one_unknown_class(shared):
    unknown_words = unknown_words_of(shared / "treebanks/sinica/train.trees", "single")
    unkified = {
        new
        for located in read_trees(shared / "treebanks/sinica/test.trees")
        for old, new in zip(
            words(located.tree), unknown_words.unkify(words(located.tree)), strict=True
        )
        if old != new
    }
    assert unkified == {"UNK"}


def test_the_preterminal_roots_of_gum_are_seen_as_such(shared):
    path = shared / "treebanks/gum/preterminal_root.tsv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    trees = [parse_line(row[-1]) for row in rows if row[-1].startswith("(")]
    assert len(trees) == 24
    assert all(is_preterminal(tree) and len(tags(tree)) == 1 for tree in trees)
