"""Ensembles with the methods of a parser or of a generative model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from oracle.errors import RnngError
from rnng_dy import registry
from rnng_dy.language_model import GenerativeModel
from rnng_dy.models.discriminative import Tokens
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.search.attention import Attended
from rnng_dy.search.ensemble import Ensemble


class EnsembleTokens(NamedTuple):
    """A sentence as ids of the first model, and as ids of each model."""

    words: Sequence[int]
    of_models: Sequence[Tokens]


class _ModelOfSeveral(Ensemble):
    """The part of an ensemble's interface that concerns folders and single models."""

    def __init__(self, *models: Any):
        super().__init__(*models)
        first = models[0]
        self.tagger, self._segmenter, self.spelling = first.tagger, first._segmenter, first.spelling
        self.updates = 0 if any(model.updates == 0 for model in models) else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(map(repr, self.models))}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self.models)

    def config(self) -> dict[str, Any]:
        """Raise RnngError: an ensemble has no folder."""
        raise RnngError("an ensemble has no folder of its own: save its `models`")

    def attention(self, tree: Any, preterminals: bool | None = None) -> list[Attended]:
        """Raise RnngError: attention weights belong to one model."""
        raise RnngError("an ensemble has no attention weights: ask one of its `models`")


class ParserEnsemble(_ModelOfSeveral, DiscriminativeParser):
    """Parsers as one parser: the probability of an action is the mean of theirs.

    The first parser's tagger and segmenter read text for all. The parsers may know different words.
    """

    of_trees = False

    def encode(self, *sentence: Any, **more: Any) -> EnsembleTokens:
        """See `DiscriminativeParser`."""
        of_models = [model.encode(*sentence, **more) for model in self.models]
        return EnsembleTokens(of_models[0].words, of_models)

    def sentences_of_models(self, sentence: EnsembleTokens) -> Sequence[object]:
        """See `Ensemble`."""
        return sentence.of_models


class GenerativeEnsemble(_ModelOfSeveral, GenerativeModel):
    """Generative models as one: p(x, y) is the mean of theirs, and so are the probabilities of words."""

    of_trees = True

    @staticmethod
    def must_agree(first: Any, other: Any) -> list[tuple[str, object, object]]:
        """See `Ensemble`: words must have the same ids."""
        ours, its = first.vocabulary, other.vocabulary
        return [
            *Ensemble.must_agree(first, other),
            (
                "their words: train them with the same clusters",
                ours.words.symbols,
                its.words.symbols,
            ),
            ("their classes of unknown words", ours.unknown.rules, its.unknown.rules),
        ]


def ensemble(*models: Any) -> Any:
    """Return several models as one, which gives the mean of their probabilities.

    Args:
        models: Parsers, whose probabilities of actions are averaged, or generative models, whose probabilities of
            sentences with their trees are. All have the same transition system and nonterminals, generative models
            also the same words.

    Returns:
        A parser or a generative model, which cannot be saved.

    Raises:
        RnngError: There are no models, or they do not fit together; the message names the difference.
    """
    kinds = list(dict.fromkeys(getattr(model, "kind", "?") for model in models))
    if len(kinds) != 1:
        raise RnngError(f"an ensemble needs models of one kind, not: {', '.join(kinds) or 'none'}")
    return registry.kind(kinds[0]).ensemble_class(*models)
