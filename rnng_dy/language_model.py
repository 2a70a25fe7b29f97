"""The generative model's public interface (Dyer et al. 2016, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import nltk
from nltk.parse.api import ParserI

from oracle.blocks import OracleSentence
from oracle.errors import ImpossibleError, UnseenSymbolError
from oracle.tokens import Token, split_tokens
from oracle.treebank import words as words_of
from rnng_dy.models.generative import GeneratorExample, GeneratorNetwork
from rnng_dy.search.generation import generate_trees
from rnng_dy.search.parse_result import ParseResult
from rnng_dy.search.reader import Reader
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, best_trees, measure
from rnng_dy.search.words import WordRecord


class GenerativeModel(GeneratorNetwork, ParserI):
    """A language model over sentences and trees: `parse`, `sample`, `log_prob`, `surprisals`; the rest is for searches.

    Log probabilities are in nats.
    """

    # sentences as ids

    def encode(self, unkified: Sequence[str], actions: Sequence[str]) -> GeneratorExample:
        """Encode a sentence and its actions as ids. Raises ImpossibleError if they have p = 0."""
        unseen: list[str] = []
        ids = []
        for encode, symbols in (
            (self.vocabulary.word_ids, unkified),
            (self.transitions.encode, actions),
        ):
            try:
                ids.append(encode(symbols))
            except UnseenSymbolError as error:
                unseen += error.symbols
        if unseen:
            raise UnseenSymbolError(unseen)
        self.transitions.check(actions, len(unkified))
        return GeneratorExample(*ids)

    def encode_training(self, sentence: OracleSentence) -> GeneratorExample:
        """Encode a sentence of the training oracle. Raises ImpossibleError if it has p = 0."""
        return self.encode(sentence.unkified, sentence.actions)

    def example_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> GeneratorExample:
        """Encode a tree, with UNK classes for unknown words. Raises ImpossibleError if it has p = 0.

        `preterminals` says whether words have POS tags above them; None detects it.
        """
        actions = self.transitions.actions_of(tree, preterminals)
        return self.encode(self.vocabulary.unkify(split_tokens(words_of(tree))[0]), actions)

    # use

    def log_prob(self, tree: nltk.Tree) -> float:
        """Return log p(words, tree) in nats; unknown words are replaced by their UNK classes.

        Returns -inf for an unknown nonterminal or word class, and for a tree that cannot be derived.
        """
        try:
            example = self.example_of(tree)
        except ImpossibleError:
            return float("-inf")
        return float(joint_log_probs(self, example.words, [example.actions])[0])

    def generate(
        self, n: int, seed: int = 1, max_length: int = 200
    ) -> list[tuple[nltk.Tree, float]]:
        """Draw n trees from the model, with tags XX, each with log p(x, y) in nats (see `search.generation`)."""
        return list(generate_trees(self, n, seed, max_length))

    sample = generate

    def parse(self, tokens: Sequence[Token]) -> Iterator[nltk.Tree]:
        """Return an iterator over the best tree of the beam, or over nothing if the beam finds no tree."""
        return iter([tree for tree, _ in self.best_trees([tokens]) if tree is not None])

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
        """See `Model`."""
        return best_trees(self, sentences)

    def surprisals(
        self, tokens: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS, end: bool = False
    ) -> list[WordRecord]:
        """Return a record per word of a sentence and, with `end`, for the sentence end (see `search.surprisal`)."""
        [found] = measure(self, [tokens], options, end)
        return found.records

    def surprisals_of(
        self, sentences: Sequence[Sequence[str]] | str, options: SearchOptions = DEFAULT_OPTIONS
    ) -> list[list[WordRecord]]:
        """Return `surprisals` per sentence of a list or of a text; several sentences are searched together."""
        return [found.records for found in measure(self, self.tokens_of(sentences), options)]

    def reader(self, options: SearchOptions = DEFAULT_OPTIONS) -> Reader:
        """Return a reader that takes one sentence word by word."""
        return Reader(self, options)


LanguageModel = GenerativeModel
