"""The generative model's public interface (Dyer et al. 2016, section 4)."""

from collections.abc import Iterable, Iterator, Sequence
from operator import add

import nltk
from nltk.parse.api import ParserI

from oracle.blocks import OracleSentence
from oracle.sentences import Token, split_tokens
from oracle.treebank import untraced
from oracle.treebank import words as words_of
from rnng_dy.model import TOO_LONG, Model, ParseResult
from rnng_dy.models.generative import GeneratorExample, GeneratorNetwork
from rnng_dy.models.network import DEFAULT_PARTS
from rnng_dy.parallel import split_on_memory_error
from rnng_dy.scorer import Scorer
from rnng_dy.search import surprisal
from rnng_dy.search.sampling import generate_trees
from rnng_dy.search.scoring import tree_log_probs_of
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, search_batches
from rnng_dy.settings import Sizes
from rnng_dy.text.spelling import read_words
from rnng_dy.vocabulary import GeneratorVocabulary


class GenerativeModel(Model, Scorer, ParserI):
    """A generative model p(x, y) of sentences and trees: surprisals, samples, and trees.

    Log probabilities are in nats, surprisals in bits.
    """

    kind = "generative"
    sizes_type = Sizes
    vocabulary_type = GeneratorVocabulary
    network_type = GeneratorNetwork
    config_defaults = DEFAULT_PARTS

    # sentences as ids

    def encode(self, unkified: Sequence[str], actions: Sequence[str]) -> GeneratorExample:
        """Encode a sentence and its actions as ids. Raises ImpossibleError if they have p = 0."""
        words, ids = self.vocabulary.word_ids(unkified), self.transitions.encode(actions)
        self.transitions.check(actions, len(unkified))
        return GeneratorExample(words, ids)

    def encode_training(self, sentence: OracleSentence) -> GeneratorExample:
        """Encode a sentence of the training oracle. Raises ImpossibleError if it has p = 0."""
        return self.encode(sentence.unkified, sentence.actions)

    def example_of(self, tree: nltk.Tree) -> GeneratorExample:
        """Encode a tree, with classes of unknown words. Raises ImpossibleError if it has p = 0."""
        actions = self.transitions.actions_of(tree)
        words, _ = split_tokens(words_of(untraced(tree)))
        return self.encode(self.unknown.unkify(words, keep_classes=True), actions)

    # use

    def log_prob(self, tree: nltk.Tree, open_vocabulary: bool = False) -> float:
        """Return log p(words, tree) in nats; unknown words count as their classes of unknown words.

        Args:
            tree: A tree; its POS tags do not matter. In (S (NP He) (VP ran)), where every word is
                an only child, NP and VP count as tags.
            open_vocabulary: Whether unknown words count as strings, whose spelling has a
                probability.

        Returns:
            The log probability; -inf if the model lacks a nonterminal or a class of unknown words,
            or if the transition system cannot derive the tree.

        Raises:
            RnngError: The tree has a trace, or `open_vocabulary` is true and the model has no
                spelling model.
        """
        return self.log_probs([tree], open_vocabulary)[0]

    def log_probs(self, trees: Iterable[nltk.Tree], open_vocabulary: bool = False) -> list[float]:
        """Return `log_prob` of several trees, faster than one by one.

        It is NaN for a tree that does not fit into memory.
        """
        spellings = []

        def encode(tree: nltk.Tree) -> GeneratorExample:
            actions = self.transitions.actions_of(tree)
            tokens, _ = split_tokens(words_of(untraced(tree)))
            unkified, spelling = read_words(self, tokens, open_vocabulary)
            spellings.append(spelling)
            return self.encode(unkified, actions)

        return [*map(add, tree_log_probs_of(self, trees, encode), spellings)]

    def generate(
        self, n: int, seed: int = 1, max_length: int = 200
    ) -> list[tuple[nltk.Tree, float]]:
        """Draw sentences with their trees from the model; `sample` is another name.

        Args:
            n: Number of trees.
            seed: The same seed gives the same trees.
            max_length: Most words of a sentence; a longer one is drawn again.

        Returns:
            n pairs of a tree, with XX for POS tags, and its log p(x, y) in nats.

        Raises:
            RnngError: Hundreds of sentences in a row are too long, `n` or `max_length` is below 1,
                or `seed` is negative.
        """
        return list(generate_trees(self, n, seed, max_length))

    sample = generate

    def parse(self, tokens: Sequence[Token]) -> Iterator[nltk.Tree]:
        """Return an iterator over the best tree of the beam, or over nothing if it finds none.

        Args:
            tokens: Words, or tuples of word and POS tag; the tree gets the tags.
        """
        return iter([tree for tree, _ in self.best_trees([tokens]) if tree is not None])

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
        """Yield the best tree of each sentence's beam, or why it has none.

        It has the tags of its tokens, or XX.
        """
        for batch in search_batches(DEFAULT_OPTIONS, map(split_tokens, sentences)):
            texts = [words for words, _ in batch]
            results = split_on_memory_error(lambda some: [*self.measure(some, end=True)], texts)
            for (words, tags), measured in zip(batch, results, strict=True):
                if measured is None or not measured.trees:
                    yield None, TOO_LONG if measured is None else measured.problem or ""
                else:
                    yield self.transitions.tagged_tree(measured.trees[0].actions, words, tags), ""

    # the search, with the arguments of `Scorer.measure`
    measure = surprisal.measure

    def next_words(
        self, tokens: Sequence[str], k: int = 10, options: SearchOptions = DEFAULT_OPTIONS
    ) -> list[tuple[str, float]]:
        """Return the most probable next words after some words, with their probabilities.

        The probabilities are estimates: means over the partial trees of the word beam, weighted by
        their probabilities. Classes of unknown words count as words, and the end of the sentence
        does not. All of them add up to 1.

        Args:
            tokens: The words so far, none for the first word.
            k: Number of next words.
            options: The search that reads the words so far.

        Raises:
            UnseenSymbolError: The model knows neither a word nor its class of unknown words.
            RnngError: A token is invalid, `k` is below 1, the options are impossible, or no partial
                tree reaches a next word.
        """
        return surprisal.next_words(self, tokens, k, options)
