"""A page that was asked for: its address, questions to models, and its HTML."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from rnng_dy.drawing.pages import parts
from rnng_dy.serve.answers import Answer
from rnng_dy.serve.batching import Queue
from rnng_dy.serve.guard import REFUSALS, answer, refusal
from rnng_dy.serve.requests import Limits, R, ServedModel, fitting, read_query
from rnng_dy.serve.requests import Request as Wanted

TEMPLATES = Path(__file__).parent / "templates"
PAGES = ("parse", "surprisal", "film", "sample", "models", "interface")

Answered = tuple[Wanted, Answer]
"""A request to a model, and its answer."""


@cache
def texts() -> Mapping[str, str]:
    """Return all texts of the pages by name."""
    found: dict[str, str] = json.loads((TEMPLATES / "texts.json").read_text(encoding="utf-8"))
    return found


@dataclass
class Server:
    """The parts of a server that its pages share."""

    queue: Queue
    limits: Limits
    models: Mapping[str, ServedModel]


@dataclass
class View:
    """A request for a page or for a file of its results."""

    server: Server
    request: Request
    query: dict[str, str]
    """The fields of the address; the chosen models are filled in."""

    async def answered(self, wanted: Iterable[Wanted]) -> list[Answered]:
        """Return requests with the models' answers. Raises the errors that `refusal` explains."""
        return [(each, await answer(self.request, self.server.queue, each)) for each in wanted]

    def wanted(
        self,
        kind: type[R],
        names: Collection[str],
        more_of: Callable[[ServedModel], dict[str, Any]] = lambda _: {},
    ) -> list[R]:
        """Return requests to the chosen model, one of `names`, and to the one to compare with, if there is one.

        `more_of` returns fields that the address does not have. Raises BadRequestError.
        """
        self.query["model"] = fitting(self.query["model"], names)
        chosen = dict.fromkeys([self.query["model"], self.query.get("other", "")])
        limits, models = self.server.limits, self.server.models
        asked = []
        for name in filter(None, chosen):
            more = {**more_of(models[fitting(name, names)]), "model": name}
            asked.append(read_query(kind, self.query, limits, models, **more))
        return asked

    def html(self, page: str, **shown: Any) -> str:
        """Return the text of a page."""
        common = {
            "page": page,
            "pages": PAGES,
            "kind": page,
            "t": texts(),
            "title": texts()[f"{page}_title"],
            "limits": self.server.limits,
            "query": self.query,
            "address": urlencode({name: value for name, value in self.query.items() if value}),
        }
        return "".join(parts(f"{page}.html", TEMPLATES, **{**common, **shown}))


Shown = Callable[[View], Awaitable[dict[str, Any] | Response]]
"""A function that returns the values of a page's template, or a response that comes in parts."""
Written = Callable[[View], Awaitable[Response]]


def _view(server: Server, request: Request, defaults: Mapping[str, str]) -> View:
    given = dict(request.query_params)
    if "text" in given:
        # forms send line feeds as CR LF
        given["text"] = given["text"].replace("\r\n", "\n")
    query = {name: given.get(name) or default for name, default in defaults.items()}
    return View(server, request, query)


def page(
    name: str, server: Server, show: Shown, defaults: Mapping[str, str], empty: Mapping[str, Any]
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page: with the values of `show`, or with a reason and the values of `empty`."""

    async def endpoint(request: Request) -> Response:
        view, status, headers = _view(server, request, defaults), 200, {}
        shown: dict[str, Any] = {"problem": "", **empty}
        try:
            found = await show(view)
            if isinstance(found, Response):
                return found
            shown |= found
        except REFUSALS as error:
            status, shown["problem"], headers = refusal(error)
        # the event loop goes on meanwhile
        text = await asyncio.to_thread(view.html, name, **shown)
        return HTMLResponse(text, status, headers)

    endpoint.__name__ = name
    return endpoint


def file(
    name: str, server: Server, write: Written, defaults: Mapping[str, str]
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a file, which a browser saves."""

    async def endpoint(request: Request) -> Response:
        try:
            reply = await write(_view(server, request, defaults))
        except REFUSALS as error:
            status, reason, headers = refusal(error)
            return PlainTextResponse(reason, status, headers)
        reply.headers["content-disposition"] = f'attachment; filename="{name}"'
        return reply

    endpoint.__name__ = name.replace(".", "_")
    return endpoint
