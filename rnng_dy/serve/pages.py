"""The pages: forms whose address holds all that was asked for, and the answers below them."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ValidationError

from oracle.brackets import parse_line
from oracle.transitions import TOP_DOWN
from rnng_dy.drawing import pages
from rnng_dy.drawing.trees import Picture
from rnng_dy.evaluation.records import MeasuredSentence
from rnng_dy.serve.answers import Worker, measured, parsed
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.requests import ParsedSentence, names_of, reason_of

TITLES = {"parse": "Parse", "surprisal": "Surprisal"}
GARDEN_PATH = "After the patient visited the doctor left the room."
CONTROL = "After the patient visited, the doctor left the room."
EXAMPLES = {
    "parse": {"text": "The old man saw the girl with the telescope.", "k": "1", "samples": "0"},
    "surprisal": {"text": f"{GARDEN_PATH}\n{CONTROL}", "end": "true"},
}
"""The fields of a page that was not asked for anything."""


def add_pages(
    app: FastAPI, worker: Worker, limits: Limits, kinds: Mapping[str, type[BaseModel]]
) -> None:
    """Add the pages of the requests that the models can answer, and of the JSON interface."""
    served = {name: title for name, title in TITLES.items() if name in kinds} | {"api": "API"}

    def html(template: str, status: int = 200, **shown: Any) -> Response:
        return HTMLResponse("".join(pages.parts(template, served=served, **shown)), status)

    def add(name: str, answer: Callable, show: Callable[[Any, Any], dict[str, Any]]) -> None:
        names = names_of(name, worker.models)

        async def page(request: Request) -> Response:
            fields = request.query_params
            example = {**EXAMPLES[name], "model": names[0]}
            given = {field: value for field, value in fields.items() if value}
            query = {**example, **{f: given[f] for f in kinds[name].model_fields if f in given}}
            query["mark"] = fields.get("mark", "")
            # forms send line feeds as CR LF
            query["text"] = query["text"].replace("\r\n", "\n")
            status, problem, answered = 200, "", []
            try:
                wanted = kinds[name].model_validate_strings(query)
                answered = await worker.run(request, answer, wanted)
            except ValidationError as error:
                status, problem = 422, reason_of(error)
            except HTTPException as error:
                status, problem = error.status_code, error.detail
            asked = {"query": query, "names": names, "limits": limits, "problem": problem}

            def drawn() -> Response:
                model = worker.models.get(query["model"])
                return html(f"{name}.html", status, **asked | show(model, answered))

            # the event loop continues meanwhile
            return await asyncio.to_thread(drawn)

        app.add_api_route(f"/{name}", page, include_in_schema=False)

    if "parse" in kinds:
        add("parse", parsed, _trees)
    if "surprisal" in kinds:
        add("surprisal", measured, _bars)

    @app.get("/", include_in_schema=False)
    def first() -> Response:
        return RedirectResponse(next(iter(served)))

    @app.get("/api", include_in_schema=False)
    def api() -> Response:
        return html("api.html", openapi=app.openapi())

    app.mount("/static", StaticFiles(directory=pages.TEMPLATES))


def _trees(model: Any, answered: list[ParsedSentence]) -> dict[str, Any]:
    """Return the values of parse.html."""

    def picture(brackets: str, posteriors: list[float]) -> Picture:
        return Picture(parse_line(brackets), posteriors=posteriors or None)

    return {"sentences": answered, "picture": picture}


def _bars(model: Any, answered: list[MeasuredSentence]) -> dict[str, Any]:
    """Return the values of surprisal.html."""
    system = TOP_DOWN if model is None or not model.has_trees else model.transitions
    shown = pages.values([sentence.records for sentence in answered], system)
    problems = " ".join(sentence.problem for sentence in answered if sentence.problem)
    title = {"title": "Where does a sentence surprise?"}
    return shown | title | ({"problem": problems} if problems else {})
