"""Requests to models and their answers, which pydantic checks; names are those of Python.

Annotations of fields are evaluated here, since they hold the limits of a server.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rnng_dy.serve.limits import Limits


class Posterior(BaseModel):
    """What samples say of a sentence."""

    tree: str = Field(description="The tree of highest expected F1.")
    posteriors: list[float] = Field(description="Probabilities of its constituents, top down.")
    entropy: float = Field(description="Entropy of the trees in nats.")


class Tree(BaseModel):
    """A tree in brackets."""

    tree: str
    log_prob: float = Field(description="log q(y | x) of a parser, log p(x, y) otherwise, in nats.")
    posteriors: list[float] = Field(
        [], description="Probabilities of the constituents, top down, if there are samples."
    )


class ParsedSentence(BaseModel):
    """The trees of a sentence."""

    tokens: list[str]
    tags: list[str] | None
    trees: list[Tree]
    problem: str | None = Field(None, description="The reason why there is no tree.")
    posterior: Posterior | None = Field(None, description="If there are samples.")


class Trees(BaseModel):
    """Trees of sentences."""

    model: str
    sentences: list[ParsedSentence]


class MeasuredWords(BaseModel):
    """The words of a sentence."""

    words: list[dict[str, Any]] = Field(
        description="Measures in bits, by the columns of `rnng-dy surprisal`; with `beams`, `beam` "
        "has the partial trees."
    )
    problem: str | None = Field(description="The reason why a measure is not finite.")


class Surprisals(BaseModel):
    """Surprisals of the words of sentences."""

    model: str
    sentences: list[MeasuredWords]


def reason_of(error: Any) -> str:
    """Return the reason of a validation error: the name of the field, and what is wrong with it."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"the body is no JSON at character {first['loc'][-1]}"
    field = ".".join(str(name) for name in first["loc"] if name != "body")
    return ": ".join(filter(None, [field, first["msg"]]))


def names_of(name: str, models: Mapping[str, Any]) -> list[str]:
    """Return the names of the models that can answer a kind of request."""
    needed = "generates_words" if name == "surprisal" else "has_trees"
    return [each for each, model in models.items() if getattr(model, needed)]


def request_types(limits: Limits, models: Mapping[str, Any]) -> dict[str, type[BaseModel]]:
    """Return the kinds of requests that these models can answer, by name.

    A default is at most its limit.
    """

    def number(default: int, most: int, help: str, least: int = 1) -> Any:
        return Field(min(default, most), ge=least, le=most, description=help)

    def named(name: str) -> Any:
        names = names_of(name, models) or [""]
        return Annotated[Literal[tuple(names)], Field(names[0], description="Name of a model.")]

    word = Annotated[str, Field(max_length=200)]
    token = word | Annotated[list[word], Field(min_length=2, max_length=2)]
    sentence = Annotated[list[token], Field(min_length=1, max_length=limits.words)]

    class Asked(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        answer: ClassVar[type[BaseModel]] = Trees
        text: str = Field("", max_length=limits.characters, description="Running text.")
        mark: str = Field("", max_length=2, description="Mark of regions in the text, left out.")
        sentences: list[sentence] = Field(
            [],
            max_length=limits.sentences,
            description="Instead of a text: lists of tokens, words or pairs of word and POS tag.",
        )

        @model_validator(mode="after")
        def _has_one(self) -> "Asked":
            if self.text and self.sentences:
                raise ValueError("give either text or sentences")
            return self

    class Parse(Asked):
        """Trees of sentences."""

        model: named("parse")
        k: int = number(1, limits.trees, "Trees per sentence, best first.")
        samples: int = number(
            0, limits.samples, "Samples for the probabilities of brackets; parsers only.", 0
        )
        seed: int = Field(1, ge=0, lt=2**32, description="Seed of the samples.")

    class Surprisal(Asked):
        """Surprisal of each word in bits, with the further measures of the search."""

        answer = Surprisals
        model: named("surprisal")
        beam: int = number(100, limits.beam, "Partial trees kept after each round of the beam.")
        word_beam: int = number(10, limits.beam, "Partial trees kept for the next word.")
        end: bool = Field(False, description="Whether the end of a sentence has a record.")
        beams: bool = Field(False, description="Whether words have the partial trees after them.")

    kinds = {"parse": Parse, "surprisal": Surprisal}
    return {name: kind for name, kind in kinds.items() if names_of(name, models)}
