"""The discriminative parser's public interface (Dyer et al. 2016, section 3)."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn

import nltk
import numpy as np
from nltk.parse.api import ParserI

from oracle.blocks import OracleSentence
from oracle.common.errors import RnngError
from oracle.sentences import Token, split_tokens
from oracle.tagging import Tagger, tags_by
from oracle.treebank import NO_TAG, has_tags, untraced
from oracle.treebank import tags as tags_of
from oracle.treebank import words as words_of
from rnng_dy.model import TOO_LONG, Model, ParseResult
from rnng_dy.models.discriminative import ParserExample, ParserNetwork, Tokens
from rnng_dy.models.network import DEFAULT_PARTS
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.parsing import BATCH_SIZE, nbest_batch, parse_batch
from rnng_dy.search.sampling import FLATTENED, Drawn, sample_batch
from rnng_dy.search.scoring import tree_log_probs_of
from rnng_dy.settings import ParserSizes, require_whole
from rnng_dy.vocabulary import ParserVocabulary

BATCH_WORDS = 100
"""Words in one batch of sentences whose samples or best trees are wanted."""


class DiscriminativeParser(Model, ParserI):
    """A parser q(y | x): greedy trees, the k best trees, samples, and probabilities of trees.

    Tokens are words, or tuples of word and POS tag. If the model reads tags, its own tagger tags
    words without a tag. Log probabilities are in nats.
    """

    kind = "discriminative"
    generates_words = False
    sizes_type = ParserSizes
    vocabulary_type = ParserVocabulary
    network_type = ParserNetwork
    config_defaults = DEFAULT_PARTS

    # sentences as ids

    def encode(
        self,
        tokens: Sequence[str],
        tags: Sequence[str] | None,
        unkified: Sequence[str] | None = None,
    ) -> Tokens:
        """Encode a sentence as ids.

        Raises RnngError if the model needs POS tags, gets none and has no tagger.
        """
        v = self.vocabulary
        return Tokens(
            v.word_ids(v.unknown.unkify(tokens) if unkified is None else unkified),
            None if v.tags is None else [*map(v.tags.get, tags or self.tags_for(tokens))],
            None if v.pretrained is None else v.pretrained_rows(tokens),
            tokens,
        )

    def tags_for(self, words: Sequence[str]) -> list[str]:
        """Tag words with the model's own tagger.

        Args:
            words: The words of a sentence.

        Raises:
            RnngError: The model has no tagger.
        """
        return tags_by(self.require_tagger(), words)

    def require_tagger(self) -> Tagger:
        """Return the model's tagger. Raises RnngError if it has none."""
        if self.tagger is None:
            raise RnngError(
                "this parser was trained with POS tags and has no tagger: give it word_TAG tokens "
                "or trees, or a tagger (`rnng-dy tag --train TREES --into MODEL`)"
            )
        return self.tagger

    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError, which for surprisals says what gives them."""
        if name in ("surprisals", "surprisals_of", "table"):
            name += ": a parser has none; load a generative model, such as english-generative"
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def is_to_tag(self, tags: Sequence[str] | None) -> bool:
        """Return whether the model reads tags, and its tagger must make them in place of `tags`.

        It replaces tags that are absent, and those that are all XX, as in trees without tags,
        unless training had XX.
        """
        tagset = self.vocabulary.tags
        if tagset is None or tags is None:
            return tagset is not None
        return self.tagger is not None and NO_TAG not in tagset and set(tags) == {NO_TAG}

    def tags_read(self, words: Sequence[str], tags: Sequence[str] | None) -> Sequence[str] | None:
        """Return the tags that the model reads: `tags`, or those of its tagger (`is_to_tag`)."""
        return self.tags_for(words) if self.is_to_tag(tags) else tags

    def encode_training(self, sentence: OracleSentence) -> ParserExample:
        """Encode a sentence of the training oracle.

        Raises UnderivableError if its tree has q = 0.
        """
        self.transitions.check(sentence.actions, len(sentence.tokens))
        classes = self.vocabulary.word_ids(sentence.unkified)
        # with --init, the parser may lack some of the words: their classes replace them
        words = list(map(self.vocabulary.words.get, sentence.tokens, classes))
        tokens = self.encode(sentence.tokens, sentence.tags, ())._replace(words=words)
        return ParserExample(tokens, classes, self.transitions.encode(sentence.actions))

    def example_of(self, tree: nltk.Tree) -> ParserExample:
        """Encode a tree, with its tags or those of the model's tagger.

        Raises ImpossibleError if it has q = 0.
        """
        actions = self.transitions.actions_of(tree)
        words, _ = split_tokens(words_of(untraced(tree)))
        self.transitions.check(actions, len(words))
        ids = self.transitions.encode(actions)
        tags = tags_of(tree) if has_tags(tree) else None
        tokens = self.encode(words, self.tags_read(words, tags))
        return ParserExample(tokens, tokens.words, ids)

    def with_unknowns(
        self, example: ParserExample, probability: float, random: np.random.Generator
    ) -> ParserExample:
        """Return the example with some words seen once replaced by their classes of unknown words.

        Each is replaced with this probability.
        """
        draws = random.random(len(example.classes))
        words = [
            unk if word in self.vocabulary.singletons and draw < probability else word
            for word, unk, draw in zip(example.words, example.classes, draws, strict=True)
        ]
        return example._replace(tokens=example.tokens._replace(words=words))

    # use

    def _read(self, tokens: Sequence[Token]) -> tuple[list[str], Sequence[str] | None]:
        """Return the words, and the tags that the model reads; warn of tags unseen in training."""
        words, given = split_tokens(tokens)
        tags, tagset = self.tags_read(words, given), self.vocabulary.tags
        are_read = tags is given and tagset is not None
        if unseen := [tag for tag in dict.fromkeys(given or ()) if are_read and tag not in tagset]:
            message = "a tuple is a word with its POS tag, a sentence is a list"
            shown = " ".join(unseen[:5])
            warnings.warn(f"{message}; tags unseen in training: {shown}", stacklevel=2)
        return words, tags

    def parse(self, tokens: Sequence[Token]) -> Iterator[nltk.Tree]:
        """Return an iterator over the greedy tree, or over nothing if memory does not suffice.

        Args:
            tokens: Words, or tuples of word and POS tag.

        Returns:
            An iterator over at most one tree, as in NLTK. The tree has the POS tags that the model
            read, or XX if it read none. `parse_one` returns the tree itself.
        """
        return next(self.parse_sents([tokens]))

    def parse_sents(self, sents: Iterable[Sequence[Token]]) -> Iterator[Iterator[nltk.Tree]]:
        """Yield the result of `parse` per sentence; BATCH_SIZE sentences are read at a time."""
        sents = iter(sents)
        while batch := [self._read(tokens) for tokens in islice(sents, BATCH_SIZE)]:
            encoded = [self.encode(*sentence) for sentence in batch]
            results = split_on_memory_error(lambda some: parse_batch(self, some), encoded)
            for (words, tags), result in zip(batch, results, strict=True):
                yield iter([] if result is None else [self.tree_of(result[0], words, tags)])

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[ParseResult]:
        """Yield the greedy tree of each sentence, or the reason why it has none."""
        for trees in self.parse_sents(sentences):
            tree = next(trees, None)
            yield tree, TOO_LONG if tree is None else ""

    def tree_of(
        self, ids: Iterable[int], words: Sequence[str], tags: Sequence[str] | None
    ) -> nltk.Tree:
        """Return the tree that action ids build; its tags are XX if `tags` is None."""
        return self.transitions.tagged_tree(self.transitions.decode(ids), words, tags)

    def nbest(self, text: Any, k: int, beam: int | None = None) -> Any:
        """Return the k best trees that a beam over actions finds, best first.

        Args:
            text: A sentence of tokens, or several sentences; see `Model.__call__`.
            k: Number of trees.
            beam: Number of partial trees kept after each action; None means the larger of 20 and
                2k.

        Returns:
            Pairs of a tree and its log q(y | x) in nats, at most k; a list of these per sentence
            for several.

        Raises:
            RnngError: `k` or `beam` is below 1.
        """
        return self._trees_of(text, lambda batch, _: nbest_batch(self, batch, k, beam))

    def sample(self, text: Any, n: int = 100, alpha: float = FLATTENED, seed: int = 1) -> Any:
        """Draw trees from q(y | x), flattened by alpha.

        Args:
            text: A sentence of tokens, or several sentences; see `Model.__call__`.
            n: Number of trees of each sentence.
            alpha: Exponent of the probabilities of actions, which are then normalised; 1 does not
                flatten.
            seed: The same seed gives the same trees. Of several sentences, each has draws of its
                own.

        Returns:
            n pairs of a tree and its log probability in nats under the flattened distribution; a
            list of these per sentence for several.

        Raises:
            RnngError: `n` is below 1, or `alpha` or `seed` is negative.
        """
        require_whole(0, seed=seed)

        def draw(batch: list[Tokens], numbers: list[list[int]]) -> list[list[Drawn]]:
            return sample_batch(self, batch, n, alpha, [[seed, *number] for number in numbers])

        return self._trees_of(text, draw)

    def _trees_of(
        self, text: Any, find: Callable[[list[Tokens], list[list[int]]], list[list[Drawn]]]
    ) -> Any:
        """Return the trees that `find` finds.

        It gets a batch, and the number of each sentence, [] if there is but one.
        """
        sentences, several = self.segmenter.sentences_in(text)
        numbered = [([i] if several else [], *self._read(s)) for i, s in enumerate(sentences)]
        trees = []
        for batch in batches(numbered, lambda item: len(item[1]), BATCH_WORDS):
            numbers, *read = map(list, zip(*batch, strict=True))
            found = find([*map(self.encode, *read)], numbers)
            for words, tags, drawn in zip(*read, found, strict=True):
                trees.append([(self.tree_of(ids, words, tags), float(p)) for ids, p in drawn])
        return trees if several else trees[0]

    def log_prob(self, tree: nltk.Tree) -> float:
        """Return log q(tree | its words) in nats.

        Args:
            tree: A tree; the parser reads its POS tags if it reads tags. In (S (NP He) (VP ran)),
                where every word is an only child, NP and VP count as tags.

        Returns:
            The log probability; -inf if a nonterminal is unknown or the transition system cannot
            derive the tree.

        Raises:
            RnngError: The tree has a trace.
        """
        return self.log_probs([tree])[0]

    def log_probs(self, trees: Iterable[nltk.Tree]) -> list[float]:
        """Return `log_prob` of several trees, faster than one by one.

        It is NaN for a tree that does not fit into memory.
        """
        return tree_log_probs_of(self, trees, self.example_of)


Parser = DiscriminativeParser
