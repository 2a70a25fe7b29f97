"""Requests to models, with the names of the Python interface, and the checks of what strangers send."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar

from oracle.errors import RnngError
from oracle.tokens import Token
from oracle.transitions import TransitionSystem
from rnng_dy.registry import Kind
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.settings import AT_LEAST_1, NOT_NEGATIVE, Range, mistake, setting

R = TypeVar("R", bound="Request")
SEEDS = Range(0, 2**32 - 1)


class BadRequestError(RnngError):
    """A request that nobody can answer as it is; the message says why."""


@dataclass(frozen=True)
class Limits:
    """Limits of a server, which are options of `rnng-dy serve`."""

    words: int = setting("Most words of a sentence.", 100, AT_LEAST_1)
    sentences: int = setting("Most sentences, or trees to score, of a request.", 20, AT_LEAST_1)
    characters: int = setting("Most characters of a text.", 5000, AT_LEAST_1)
    trees: int = setting("Most trees per sentence.", 20, AT_LEAST_1)
    samples: int = setting("Most samples, and partial trees in a beam.", 500, AT_LEAST_1)
    body: int = setting("Most bytes of a request's body.", 65536, AT_LEAST_1)
    queue: int = setting("Most requests that wait; others get the status 429.", 200, AT_LEAST_1)
    batch: int = setting("Most requests that are computed together.", 32, AT_LEAST_1)
    wait: int = setting(
        "Milliseconds to wait for other requests after a batch of several.", 3, NOT_NEGATIVE
    )
    seconds: int = setting("Most seconds that a computation may take.", 30, AT_LEAST_1)


class ServedModel(NamedTuple):
    """The facts about a model that answers and pages need besides its numbers."""

    name: str
    kind: Kind
    description: str
    about: Mapping[str, Mapping[str, object]]
    """The sections of about.json; empty if the model has none."""
    transitions: TransitionSystem | None
    """None for a model without trees."""
    tags: tuple[str, ...]
    """The POS tags that a parser reads, sorted; empty if it reads none."""
    folder: str | None
    """The folder, archive or name of the model; None for a model that the caller had loaded."""


@dataclass(frozen=True)
class Request:
    """A request to a model."""

    title: ClassVar[str]
    """The first sentence of its documentation."""
    contents: ClassVar[tuple[str, ...]] = ()
    """Fields that may differ between requests that are computed together."""
    model: str = setting("Name of a model; the first one that fits if it is left out.", "")

    @classmethod
    def fits(cls, kind: Kind) -> bool:
        """Return whether models of a kind can answer."""
        return kind.has_trees

    def together(self) -> tuple[object, ...]:
        """Return the values that are equal in requests that can be computed together."""
        names = (of.name for of in fields(self) if of.name not in self.contents)
        return (type(self), *(getattr(self, name) for name in names))

    def size(self) -> int:
        """Return the number of characters of the contents, about."""
        return sum(len(str(getattr(self, name))) for name in self.contents)


@dataclass(frozen=True)
class TextRequest(Request):
    """A request about sentences."""

    contents = ("text", "sentences")
    text: str = setting("Running text.", "")
    sentences: tuple[tuple[Token, ...], ...] = setting(
        "Instead of a text: sentences as lists of tokens, which are words or pairs of word and POS tag.",
        (),
    )


@dataclass(frozen=True)
class Parse(TextRequest):
    """The fields of `/api/parse`."""

    title = "Trees of sentences, with log probabilities in nats."
    k: int = setting("Number of trees per sentence, best first.", 1, AT_LEAST_1)
    samples: int = setting(
        "Number of samples from which the probabilities of brackets are estimated; 0 for none. Parsers only.",
        0,
        NOT_NEGATIVE,
    )
    seed: int = setting("Seed of the samples.", 1, SEEDS)


@dataclass(frozen=True)
class Surprisal(TextRequest):
    """The fields of `/api/surprisal`."""

    title = "Surprisal of each word in bits, with the further measures of the search."
    contents = (*TextRequest.contents, "stream")
    beam: int = setting("Partial trees kept after each round of the beam.", 100, AT_LEAST_1)
    word_beam: int = setting("Partial trees kept for the next word.", 10, AT_LEAST_1)
    end: bool = setting("Whether the end of a sentence has a record.", False)
    beams: bool = setting("Whether each word has the partial trees after it.", False)
    stream: bool = setting("Whether each word is a line of JSON, sent once it is measured.", False)

    @classmethod
    def fits(cls, kind: Kind) -> bool:
        """See `Request`."""
        return kind.generates_words


@dataclass(frozen=True)
class Sample(TextRequest):
    """The fields of `/api/sample`."""

    title = "Samples: trees of given sentences from a parser, sentences with trees from a generative model."
    n: int = setting("Number of samples, of each sentence if there are any.", 1, AT_LEAST_1)
    alpha: float = setting(
        "Parsers: exponent that flattens the distribution.", FLATTENED, Range(0, 10)
    )
    seed: int = setting("The same seed gives the same samples.", 1, SEEDS)
    max_length: int = setting("Generative models: most words of a sentence.", 50, AT_LEAST_1)


@dataclass(frozen=True)
class Score(Request):
    """The fields of `/api/score`."""

    title = "Log probabilities of trees in nats: log q(y | x) from a parser, log p(x, y) otherwise."
    contents = ("trees",)
    trees: tuple[str, ...] = setting("Trees in brackets.", ())


REQUESTS: Mapping[str, type[Request]] = {
    "parse": Parse,
    "surprisal": Surprisal,
    "sample": Sample,
    "score": Score,
}
"""The kinds of requests by the last part of their address."""
LIMITED = {
    "k": "trees",
    "samples": "samples",
    "n": "samples",
    "beam": "samples",
    "word_beam": "samples",
    "max_length": "words",
}
"""Fields whose numbers are at most a limit of the server."""


def read(kind: type[R], content: object, limits: Limits, models: Mapping[str, ServedModel]) -> R:
    """Return the request that untrusted JSON holds. Raises BadRequestError."""
    if not isinstance(content, dict):
        raise BadRequestError("a request is one JSON object")
    known = {of.name: of for of in fields(kind)}
    unknown = [name for name in content if name not in known]
    if unknown:
        raise BadRequestError(f"no field is called {unknown[0]!r:.40}: {', '.join(known)}")
    values = {name: _checked(known[name], value, limits) for name, value in content.items()}
    values["model"] = fitting(values.get("model", ""), names_of(kind, models))
    if values.get("text") and values.get("sentences"):
        raise BadRequestError("give either text or sentences")
    return kind(**values)


def read_query(
    kind: type[R],
    query: Mapping[str, str],
    limits: Limits,
    models: Mapping[str, ServedModel],
    **more: object,
) -> R:
    """Return the request of a page's address; fields that are none of the request's belong to the page.

    Raises BadRequestError.
    """
    values = {of.name: _from_text(of, query[of.name]) for of in fields(kind) if of.name in query}
    return read(kind, {**values, **more}, limits, models)


def default_of(of: Field) -> Any:
    """Return a field's default."""
    return None if of.default is MISSING else of.default


def _from_text(of: Field, text: str) -> object:
    if of.type == "bool":
        return text not in ("", "0")
    try:
        return {"int": int, "float": float}.get(of.type, str)(text)
    except ValueError:
        raise BadRequestError(f"{of.name}: {text!r:.40} is no number") from None


def _checked(of: Field, value: object, limits: Limits) -> Any:
    """Return a field's value as the request has it. Raises BadRequestError."""
    if of.name == "sentences":
        return tuple(tuple(map(_token, s)) for s in _list(of, value, limits, _is_list))
    if of.name == "trees":
        for tree in _list(of, value, limits, _is_text):
            _require_short(of.name, tree, limits)
        return tuple(value)
    if of.type == "str":
        if not _is_text(value):
            raise BadRequestError(f"{of.name} is a text of Unicode characters")
        _require_short(of.name, value, limits)
        return value
    problem = mistake(of, value)
    if problem:
        raise BadRequestError(f"{of.name}: {problem:.80}")
    most = getattr(limits, LIMITED[of.name]) if of.name in LIMITED else None
    if most is not None and value > most:
        raise BadRequestError(f"{of.name}: {value!s:.20} is more than {most}, the limit here")
    return value


def _list(of: Field, value: object, limits: Limits, is_item: Any) -> list:
    if not isinstance(value, list) or not all(map(is_item, value)):
        raise BadRequestError(f"{of.name}: a list of {'lists' if is_item is _is_list else 'texts'}")
    if len(value) > limits.sentences:
        raise BadRequestError(f"{of.name}: {len(value)} items, more than {limits.sentences}")
    return value


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_text(value: object) -> bool:
    """Return whether a value is text without lone surrogates, which no answer could repeat."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _require_short(name: str, text: str, limits: Limits) -> None:
    if len(text) > limits.characters:
        raise BadRequestError(f"{name}: {len(text)} characters, more than {limits.characters}")


def _token(token: object) -> Token:
    """Return a token of JSON; `oracle.tokens.split_tokens` checks its characters."""
    parts = token if isinstance(token, list) and len(token) == 2 else [token]
    if not all(map(_is_text, parts)) or max(map(len, parts)) > 200:
        raise BadRequestError("a token is a word, or a list of a word and its tag")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def fitting(name: str, names: Collection[str]) -> str:
    """Return the name of a model, one of `names`, which can answer; the first by default. Raises BadRequestError."""
    if not names:
        raise BadRequestError("this server has no model for it")
    if name and name not in names:
        raise BadRequestError(f"no such model for it: choose one of {', '.join(names)}")
    return name or next(iter(names))


def names_of(kind: type[Request], models: Mapping[str, ServedModel]) -> list[str]:
    """Return the names of the models that can answer requests of a kind."""
    return [model.name for model in models.values() if kind.fits(model.kind)]
