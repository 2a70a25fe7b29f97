"""Small models and data of our own for the tests."""

from pathlib import Path

import numpy as np
import pytest

from clusters.files import ClusteredWord
from oracle.blocks import make_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.common.files import replacing
from oracle.tagging import tagger_of_training
from oracle.transitions import SYSTEMS, unlimited
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words
from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.engine import dy
from rnng_dy.generator import GenerativeModel
from rnng_dy.models.configuration import Derivation
from rnng_dy.models.discriminative import ParserSizes
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.settings import LanguageModelSizes, Sizes
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

from ..conftest import TINY, tiny_trees


@pytest.fixture(scope="session")
def trees():
    """The first 120 trees of the package's own small treebank."""
    return [located for _, located in zip(range(120), read_trees(str(TINY)), strict=False)]


def sentences_of(trees, generative, transitions=SYSTEMS.default):
    unknown = UnknownWords("berkeley", known_words(words(located.tree) for located in trees))
    return list(make_oracle(trees, unknown, generative, unlimited(SYSTEMS[transitions])))


@pytest.fixture(scope="session")
def sentences(trees):
    """Their discriminative oracle."""
    return sentences_of(trees, generative=False)


@pytest.fixture(scope="session")
def generative_sentences(trees):
    """Their generative oracle."""
    return sentences_of(trees, generative=True)


def simple_clusters(sentences, classes=7):
    """Every word in one of a few clusters, the last word alone in its own."""
    vocabulary = list(dict.fromkeys(word for s in sentences for word in s.unkified))
    entries = [
        ClusteredWord(format(i % classes, "03b"), word, 1) for i, word in enumerate(vocabulary[:-1])
    ]
    # not sorted by cluster, and with a cluster of one word
    return [*entries, ClusteredWord("111", vocabulary[-1], 1)]


PARSER_SIZES = ParserSizes(layers=2, lstm_input=10, hidden=8, action=5, word=7, tag=4)
GENERATOR_SIZES = Sizes(layers=2, lstm_input=9, hidden=8, action=5)


def make_parser(sentences, composition="corrected", seed=1, tags=True, vectors=None, state="full"):
    """A parser with the random parameters of a seed, with the sentences' actions; `vectors` are (words, array)."""
    pretrained, array = vectors or (None, None)
    vocabulary = ParserVocabulary.from_oracle(sentences, tags, pretrained)
    chosen = {"composition": composition, "transitions": sentences[0].transitions, "state": state}
    return DiscriminativeParser(vocabulary, PARSER_SIZES, vectors=array, seed=seed, **chosen)


def make_generator(sentences, composition="corrected", seed=1, state="full"):
    """A generative model with the random parameters of a seed, with the sentences' actions."""
    vocabulary = GeneratorVocabulary.build(simple_clusters(sentences), sentences)
    chosen = {"composition": composition, "transitions": sentences[0].transitions, "state": state}
    return GenerativeModel(vocabulary, GENERATOR_SIZES, seed=seed, **chosen)


@pytest.fixture(params=["discriminative", "generative"])
def kind_and_sentences(request, sentences, generative_sentences):
    """A function that makes a model of sentences, and such sentences."""
    if request.param == "discriminative":
        return make_parser, sentences
    return make_generator, generative_sentences


def make_lm(sentences, seed=3):
    """An LSTM language model with the random parameters of a seed and the sentences' words."""
    vocabulary = GeneratorVocabulary.build(simple_clusters(sentences), sentences)
    return LstmLanguageModel(vocabulary, LanguageModelSizes(1, 6, 6), seed=seed)


def save_oracle(path, sentences):
    """Write an oracle."""
    with replacing(path) as stream:
        write_oracle(sentences, stream)


def save_oracles(folder, name, trees):
    """Write both oracles of trees: NAME.oracle and NAME.gen.oracle."""
    save_oracle(Path(folder, f"{name}.oracle"), sentences_of(trees, generative=False))
    save_oracle(Path(folder, f"{name}.gen.oracle"), sentences_of(trees, generative=True))


def write_untrained(folder, trees):
    """Untrained models of the trees, and of the first 12 `some.trees` and oracles."""
    few = trees[:12]
    save_oracles(folder, "some", few)
    (folder / "some.trees").write_text("".join(t.text + "\n" for t in few), encoding="utf-8")
    make_parser(sentences_of(trees, False)).save(folder / "parser")
    make_generator(sentences_of(trees, True)).save(folder / "generator")


def log_q(parser, tokens, sequences, alpha=1.0):
    """log q in nats of the action sequences of a sentence, flattened by alpha, from the steps of a search."""
    dy.renew_cg()
    decisions, paths = parser.network.walk([Derivation(tokens, sequences, None)])
    table = parser.network.step([d.configuration for d in decisions], alpha).action_log_probs()
    of_decision = table[np.arange(len(table)), [d.action for d in decisions]]
    return np.array([of_decision[path].sum() for path in paths])


def looked_up_rows(vocabulary, sentences, gated=False):
    """Rows of lookup tables that the original looks up, and so decays, for oracle sentences (PORTING.md, section 7).

    The embedding of every action, the last one's too; the label of every constituent, the root's
    too, as it is opened and as it is composed (by gated attention, in the query too); words and
    tags; and `<s>`, with which the generative model's terms begin. Not from the code under test.
    """
    tables = ("open_nonterminal", "nonterminal", *(["query_nonterminal"] if gated else []))
    rows = {name: set() for name in (*tables, "action", "word")}
    for sentence in sentences:
        labels = [a[len("NT(") : -1] for a in sentence.actions if a not in ("SHIFT", "REDUCE")]
        ids = {vocabulary.nonterminals.index(label) for label in labels}
        for name in tables:
            rows[name] |= ids
        # REDUCE = 0, SHIFT = 1, then the nonterminals; no sentence is without the two
        rows["action"] |= {0, 1, *(2 + i for i in ids)}
        generative = sentence.tags is None
        words = ["<s>", *sentence.unkified] if generative else sentence.tokens
        rows["word"] |= {vocabulary.words.symbols.index(word) for word in words}
        if not generative:
            tags = {vocabulary.tags.symbols.index(tag) for tag in sentence.tags}
            rows["tag"] = rows.get("tag", set()) | tags
    return rows


@pytest.fixture(scope="session")
def tagger(sentences):
    """A tagger of their tags."""
    return tagger_of_training([[*zip(s.tokens, s.tags, strict=True)] for s in sentences], seed=1)


@pytest.fixture
def parser(sentences):
    return make_parser(sentences)


@pytest.fixture
def generator(generative_sentences):
    return make_generator(generative_sentences)


@pytest.fixture
def train_and_dev(here):
    """A folder of 30 trees to train on and 10 others, the current one."""
    Path("t.trees").write_text(tiny_trees(0, 30), encoding="utf-8")
    Path("d.trees").write_text(tiny_trees(30, 40), encoding="utf-8")
