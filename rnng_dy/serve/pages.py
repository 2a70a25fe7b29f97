"""The pages: a form whose address holds all that was asked for, and the answer below it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from oracle.brackets import parse_line
from oracle.treebank import words
from rnng_dy.drawing import pages as kit
from rnng_dy.model_card import TITLES, shown
from rnng_dy.serve.api import content_of
from rnng_dy.serve.film import frames, growth
from rnng_dy.serve.openapi import description
from rnng_dy.serve.parsed import STYLES, shown_sentences, written
from rnng_dy.serve.requests import Parse, Sample, ServedModel, Surprisal, names_of
from rnng_dy.serve.surprise import all_measures, surprisal, table
from rnng_dy.serve.view import TEMPLATES, Answered, Server, Shown, View, file, page

STATIC = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "serve.css": "text/css",
    "serve.js": "text/javascript",
}
SHADING = 100
"""Samples from which the probabilities of brackets on a page are estimated."""
MOST_SAMPLES = 20
"""Most sentences of the page of samples, each of which is a film."""
GARDEN_PATH = "After the patient visited the doctor left the room."
CONTROL = "After the patient visited, the doctor left the room."
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "parse": {
        "text": "The old man saw the girl with the telescope.",
        "model": "",
        "other": "",
        "k": "1",
        "shade": "",
        "tagged": "",
    },
    "surprisal": {"text": f"{GARDEN_PATH}\n{CONTROL}", "model": "", "other": ""},
    "film": {"text": GARDEN_PATH, "model": ""},
    "sample": {"model": "", "n": "3", "seed": "1", "max_length": "30"},
    "models": {},
    "interface": {},
}
"""The fields of the pages' addresses; a page that was not asked for anything shows an example."""


async def _parsed(view: View) -> list[Answered]:
    sentences = [
        [token.rsplit("_", 1) for token in line.split()]
        for line in view.query["tagged"].splitlines()
    ]
    tagged: dict[str, Any] = {"text": "", "sentences": sentences} if sentences else {}

    def more(model: ServedModel) -> dict[str, Any]:
        # only parsers have samples
        if not view.query["shade"] or model.kind.generates_words:
            return tagged
        return {**tagged, "samples": min(SHADING, view.server.limits.samples)}

    names = names_of(Parse, view.server.models)
    return await view.answered(view.wanted(Parse, names, more))


async def parse(view: View) -> dict[str, Any]:
    """Trees of a text by one or two models."""
    found = await _parsed(view)
    model = view.server.models[found[0][0].model]
    return {"sentences": shown_sentences(found, view.server.models), "tags": model.tags}


async def trees(style: str, view: View) -> Response:
    """The trees of a page as a file."""
    found = await _parsed(view)
    if style == "json":
        models = view.server.models
        return JSONResponse([content_of(w, a, models[w.model]) for w, a in found])
    kind, text = written(style, found)
    return Response(text, media_type=kind)


def _grammars(server: Server) -> list[str]:
    """Return the names of the generative models with trees."""
    models = server.models.values()
    return [m.name for m in models if m.kind.generates_words and m.transitions is not None]


async def film(view: View) -> dict[str, Any]:
    """The beam of a sentence, word by word."""
    asked = view.wanted(Surprisal, _grammars(view.server), all_measures)
    [(wanted, answers)] = await view.answered(asked)
    system, measured = view.server.models[wanted.model].transitions, answers[0]
    assert system is not None
    found = await asyncio.to_thread(frames, measured.records, system)
    return {"data": found, "problem": measured.problem or ""}


async def sample(view: View) -> dict[str, Any]:
    """Sentences of a generative model, each of which grows action by action."""
    asked = view.wanted(Sample, _grammars(view.server))
    [(wanted, [found])] = await view.answered(asked)
    system, trees = view.server.models[wanted.model].transitions, found.trees[:MOST_SAMPLES]
    assert system is not None
    grown = await asyncio.to_thread(lambda: [growth(each.tree, system) for each in trees])
    samples = [
        {"words": " ".join(words(parse_line(each.tree))), "log_prob": each.log_prob}
        for each in trees
    ]
    return {"samples": samples, "data": grown}


async def models(view: View) -> dict[str, Any]:
    """The models, and where they come from."""
    return {"models": list(view.server.models.values()), "titles": TITLES, "shown": shown}


async def interface(view: View) -> dict[str, Any]:
    """The JSON interface for people."""
    found = description(view.server.limits, view.server.models)
    return {"paths": found["paths"], "base": str(view.request.base_url)}


def routes(server: Server) -> list[Route]:
    """Return the routes of the pages and of their files."""
    sampled = min(MOST_SAMPLES, server.limits.samples)
    with_trees, of_words = (names_of(kind, server.models) for kind in (Parse, Surprisal))
    grammars = _grammars(server)
    shows: dict[str, tuple[Shown, dict[str, Any]]] = {
        "parse": (parse, {"names": with_trees, "sentences": [], "tags": (), "styles": STYLES}),
        "surprisal": (surprisal, {"choices": of_words, "later": ""}),
        "film": (film, {"names": grammars, "data": []}),
        "sample": (sample, {"names": grammars, "samples": [], "data": [], "most": sampled}),
        "models": (models, {}),
        "interface": (interface, {}),
    }

    async def first(request: Request) -> Response:
        return RedirectResponse("parse")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("no such file", 404)
        headers = {"cache-control": "max-age=600"}
        return Response(_static(name), media_type=STATIC[name], headers=headers)

    found = [Route("/", first), Route("/static/{name}", static)]
    for name, (show, empty) in shows.items():
        found.append(Route(f"/{name}", page(name, server, show, DEFAULTS[name], empty)))
    for style in STYLES:
        written = file(f"trees.{style}", server, partial(trees, style), DEFAULTS["parse"])
        found.append(Route(f"/parse.{style}", written))
    csv = file("surprisals.csv", server, table, DEFAULTS["surprisal"])
    return [*found, Route("/surprisal.csv", csv)]


def _static(name: str) -> str:
    own = TEMPLATES / name
    return own.read_text(encoding="utf-8") if own.exists() else kit.source(name)
