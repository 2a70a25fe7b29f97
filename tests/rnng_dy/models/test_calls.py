"""Models are called: a text gives a list of trees, the tokens of a sentence one tree."""

import math
import warnings

import nltk
import pytest

import rnng_dy
from oracle.common.errors import RnngError
from rnng_dy import GenerativeModel, LstmLanguageModel
from rnng_dy import parser as parser_module
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.baselines.lstm_lm import LanguageModelSizes
from rnng_dy.scorer import Scorer
from rnng_dy.search.surprisal import SearchOptions

TEXT = "It slept. The dog saw (and heard) it!"
SENTENCES = [
    ["It", "slept", "."],
    ["The", "dog", "saw", "-LRB-", "and", "heard", "-RRB-", "it", "!"],
]


class Tagger:
    """Says of every word that it is a noun."""

    def tag(self, words):
        return [(word, "NN") for word in words]


@pytest.fixture
def parser(parser):
    parser.transitions.max_open = 3
    parser.tagger = Tagger()
    return parser


@pytest.fixture
def generator(generator, monkeypatch):
    """With words for the classes of all others: in 120 sentences not each of them occurs."""
    generator.transitions.max_open = 3
    rest = len(generator.transitions) - 2
    generator.store.dense["action_bias"].set_value([3.0, 1.0] + [0.0] * rest)
    word = generator.vocabulary.words.symbols[1]
    monkeypatch.setattr(
        generator.unknown, "unkify", lambda tokens, keep_classes: [word] * len([*tokens])
    )
    return generator


def test_all_scorers_take_the_same_arguments_and_leave_out_the_end(
    generator, lm, generative_sentences
):
    ngrams = KneserNey(generative_sentences)
    options = SearchOptions(beam=8, fast_track=2, word_beam=3)
    for scorer in (generator, lm, ngrams):
        assert type(scorer).surprisals is Scorer.surprisals
        assert type(scorer).surprisals_of is Scorer.surprisals_of
        for end, last in (False, []), (True, [None]):
            several = scorer.surprisals_of(SENTENCES, options, end)
            assert [[r.token for r in of] for of in several] == [[*s, *last] for s in SENTENCES]
            alone = scorer.surprisals(SENTENCES[0], options, end)
            assert [r.surprisal for r in alone] == pytest.approx([r.surprisal for r in several[0]])


def test_a_parser_gives_a_tree_for_each_sentence_of_a_text(parser):
    trees = parser(TEXT)
    assert [tree.leaves() for tree in trees] == SENTENCES
    assert trees == [parser.parse_one(tokens) for tokens in SENTENCES]
    assert {tag for tree in trees for _, tag in tree.pos()} == {"NN"}


@pytest.mark.parametrize("kind", ["parser", "generator"])
def test_a_sentence_too_long_is_named_and_the_others_have_trees(kind, request, monkeypatch):
    model = request.getfixturevalue(kind)
    parses = kind == "parser"
    module, name = (parser_module, "parse_batch") if parses else (GenerativeModel, "measure")
    whole = getattr(module, name)
    length = (lambda tokens: len(tokens.words)) if parses else len

    def limited(of, batch, **options):
        if any(length(tokens) > 5 for tokens in batch):
            raise MemoryError
        return whole(of, batch, **options)

    monkeypatch.setattr(module, name, limited)
    says = r"sentence 2 \(The dog saw -LRB- and \.\.\., 9 words\)"
    with pytest.warns(UserWarning, match=says) as told:
        first, second, third = model(TEXT + " It slept.")
    assert second is None
    assert first == third == model(SENTENCES[0])
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(UserWarning, match="does not fit into memory"):
        assert model(SENTENCES[1]) is None


def test_lists_are_sentences_and_tuples_are_pairs(parser, generator):
    two = [["Hello", "."], ["Bye", "."]]
    for model in (parser, generator):
        assert [tree.leaves() for tree in model(two)] == two
        assert [tree.leaves() for tree in model(two[:1])] == two[:1]
        assert model(tuple(two[0])).leaves() == two[0]
    pairs = [("Hello", "UH"), (".", ".")]
    assert parser(pairs).pos() == parser([pairs])[0].pos() == parser(tuple(pairs)).pos() == pairs
    assert [tree.leaves() for tree in map(parser.parse_one, two)] == two


def test_tuples_that_are_meant_as_sentences_are_warned_of(parser):
    with pytest.warns(UserWarning, match="a sentence is a list; tags unseen in training: cat"):
        parser([("The", "cat"), ("sat", ".")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser([("The", "DT"), (".", ".")])


BAD_TOKENS = {
    "empty": ["a", ""],
    "blank": ["a b"],
    "tab": ["a\t"],
    "empty tag": [("a", "")],
    "blank tag": [("a", "N N")],
    "number": ["a", 1],
    "no text": [("a", None)],
    "bytes": [b"a"],
    "triple": [("a", "b", "c")],
    "mixture": ["a", ("b", "NN")],
    "list": [["a", "b"]],
    "mixture of lists": ["a", ["b"]],
    "nothing": None,
    "text": "a b",
}


@pytest.mark.parametrize("tokens", BAD_TOKENS.values(), ids=BAD_TOKENS.keys())
def test_tokens_that_are_none_are_refused_everywhere(
    parser, generator, lm, generative_sentences, tokens
):
    for ask in (parser.parse, parser.parse_one):
        with pytest.raises(RnngError):
            ask(tokens)
    if tokens not in [BAD_TOKENS[n] for n in ("text", "list", "blank", "mixture of lists")]:
        for ask in (parser, generator, parser.sample, lambda x: parser.nbest(x, 2)):
            with pytest.raises(RnngError):
                ask(tokens)
    ngrams = KneserNey(generative_sentences)
    for model in (generator, lm, ngrams) if tokens != BAD_TOKENS["text"] else ():
        with pytest.raises(RnngError):
            model.surprisals(tokens)
        with pytest.raises(RnngError):
            model.surprisals_of([["a"], tokens])
    with pytest.raises(RnngError):
        generator.next_words(tokens)


def test_brackets_are_read_and_written_as_commands_do(parser, generator, lm):
    tokens, escaped = ["see", "(", "x)"], ["see", "-LRB-", "x-RRB-"]
    for tree in (parser(tokens), parser.sample(tokens, n=1)[0][0], parser.nbest(tokens, 1)[0][0]):
        assert tree.leaves() == nltk.Tree.fromstring(str(tree)).leaves() == escaped
    assert parser([("(", "(")]).pos() == [("-LRB-", "-LRB-")]
    for model in (generator, lm):
        records, expected = model.surprisals(tokens), model.surprisals(escaped)
        assert [r.token for r in records] == escaped
        assert [r.surprisal for r in records] == pytest.approx([r.surprisal for r in expected])
    tree = parser(tokens)
    raw = nltk.Tree.fromstring(str(tree).replace("-LRB-)", "BRACKET)"))
    raw[raw.leaf_treeposition(1)] = "("
    for model in (parser, generator):
        assert model.log_prob(raw) == model.log_prob(tree)


# surprisals


def test_a_text_where_tokens_are_needed_is_refused_with_what_takes_one(parser):
    for ask in (parser.parse, parser.parse_one):
        with pytest.raises(RnngError, match=r"`model\(text\)` gives the trees"):
            ask(TEXT)


def test_lists_in_and_lists_out(parser, generator, trees):
    """Several sentences have the numbers that they have alone; each draws its own samples."""
    parser.transitions.max_open = generator.transitions.max_open = 3
    two = [["a", "dog", "barks"], ["cats", "sleep"]]
    alone = [[tree for tree, _ in parser.nbest(tokens, 2)] for tokens in two]
    assert [[tree for tree, _ in of] for of in parser.nbest(two, 2)] == alone
    drawn = parser.sample([two[0]] * 2, n=5)
    assert drawn[0] != drawn[1] and drawn == parser.sample([two[0]] * 2, n=5)
    assert [tree.leaves() for tree, _ in drawn[1]] == [two[0]] * 5
    assert parser.sample(TEXT, n=1)[0][0][0].leaves() == SENTENCES[0]
    golds = [nltk.Tree.fromstring("(QQ (DT the))"), *(located.tree for located in trees[:3])]
    for model in (parser, generator):
        together = model.log_probs(golds)
        assert together == pytest.approx([model.log_prob(tree) for tree in golds], abs=1e-4)
        assert together[0] == -math.inf and model.log_probs([]) == []
        with pytest.raises(RnngError, match="one tree where a list of trees is wanted"):
            model.log_probs(golds[0])


@pytest.fixture
def lm(generator):
    return LstmLanguageModel(generator.vocabulary, LanguageModelSizes(1, 5, 5))


def test_a_model_of_words_has_surprisals_and_no_trees(lm):
    assert [[r.token for r in of] for of in lm.surprisals_of(TEXT)] == SENTENCES
    with pytest.raises(RnngError, match="gives no trees"):
        lm(TEXT)


# load


def test_load_finds_the_class_and_all_of_the_model(parser, generator, lm, tmp_path):
    parser.tagger = None
    for model in (parser, generator, lm):
        folder = tmp_path / model.kind
        model.save(folder)
        again = rnng_dy.load(folder)
        assert type(again) is type(model)
        assert again.vocabulary.to_json() == model.vocabulary.to_json()


def test_load_on_another_device_than_the_one_that_runs_is_refused(generator, tmp_path):
    generator.save(tmp_path / "m")
    assert rnng_dy.load(tmp_path / "m", device="cpu").kind == "generative"
    with pytest.raises(RnngError, match="DyNet already runs on cpu; it cannot change to cuda:0"):
        rnng_dy.load(tmp_path / "m", device="cuda")
