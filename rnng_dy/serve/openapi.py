"""The description of the JSON interface, made of the fields of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from rnng_dy import __version__
from rnng_dy.serve.requests import (
    LIMITED,
    REQUESTS,
    Limits,
    Request,
    ServedModel,
    default_of,
    names_of,
)

TOKEN = {
    "oneOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    ]
}
LISTS: Mapping[str, dict[str, Any]] = {
    "sentences": {"type": "array", "items": {"type": "array", "items": TOKEN}},
    "trees": {"type": "array", "items": {"type": "string"}},
}
TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}
NUMBER = {"type": ["number", "null"]}
TREES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"tree": {"type": "string"}, "log_prob": {"type": "number"}},
    },
}
WORDS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"token": {"type": ["string", "null"]}, "surprisal": NUMBER},
    },
}
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "parse": {"sentences": TREES},
    "surprisal": {"sentences": WORDS},
    "sample": {"sentences": TREES},
    "score": {"log_probs": {"type": "array", "items": NUMBER}},
}
LINES = "application/x-ndjson"
"""The type of answers that come line by line."""
ERRORS = {
    "400": "The request is malformed; the reason is in `error`.",
    "401": "The token is missing or wrong.",
    "413": "The body is too large.",
    "422": "The model cannot answer it, as for a sentence that is too long.",
    "429": "Too many requests wait; `Retry-After` has the seconds until there is room.",
    "503": "The computation was stopped, by its limit of time or by a fault.",
}


def description(limits: Limits, models: Mapping[str, ServedModel]) -> dict[str, Any]:
    """Return the interface as OpenAPI 3.1, with the limits and models of this server."""
    paths: dict[str, Any] = {
        "/models": {"get": {"summary": "The models of this server.", **_responses({})}}
    }
    for name, kind in REQUESTS.items():
        operation = {
            "summary": kind.title,
            "requestBody": _json(_schema(kind, limits, models)),
            **_responses(_answer(name)),
        }
        if any(of.name == "stream" for of in fields(kind)):
            # a line per word, and one per sentence with its problem
            operation["responses"]["200"]["content"][LINES] = {"schema": {"type": "object"}}
        paths[f"/{name}"] = {"post": operation}
    info = {"title": "rnng-dy serve", "version": __version__}
    # addresses are relative to that of the description
    return {"openapi": "3.1.0", "info": info, "servers": [{"url": "."}], "paths": paths}


def _schema(
    kind: type[Request], limits: Limits, models: Mapping[str, ServedModel]
) -> dict[str, Any]:
    properties = {of.name: _property(of, limits) for of in fields(kind)}
    properties["model"]["enum"] = [*names_of(kind, models), ""]
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _property(of: Field, limits: Limits) -> dict[str, Any]:
    found = dict(LISTS.get(of.name) or {"type": TYPES[of.type]})
    found |= {"description": of.metadata["help"], "default": default_of(of)}
    if of.name in LISTS:
        return found | {"maxItems": limits.sentences}
    if of.type == "str":
        return found | {"maxLength": limits.characters}
    low, high, *_ = of.metadata["range"]
    high = getattr(limits, LIMITED[of.name]) if of.name in LIMITED else high
    bounds = {"minimum": low, "maximum": high}
    return found | {name: bound for name, bound in bounds.items() if bound is not None}


def _answer(name: str) -> dict[str, Any]:
    found = {"model": {"type": "string"}}
    for part, schema in ANSWERS[name].items():
        if part == "sentences":
            inner = "words" if schema is WORDS else "trees"
            schema = {
                "type": "array",
                "items": {"type": "object", "properties": {inner: schema}},
            }
        found[part] = schema
    return {"type": "object", "properties": found}


def _responses(schema: dict[str, Any]) -> dict[str, Any]:
    found = {"200": {"description": "The answer.", **_json(schema)}}
    found |= {status: {"description": text} for status, text in ERRORS.items()}
    return {"responses": found}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}
