"""The ASGI application: the JSON interface, and pages with the same answers."""

import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from rnng_dy import __version__
from rnng_dy.serve.answers import ANSWERS, Worker
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.pages import add_pages
from rnng_dy.serve.requests import reason_of, request_types

BODY = 65536
"""The most bytes of a request's body."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


_PORT = re.compile(r":\d*$")


class Problem(BaseModel):
    """The reason why a request has no answer."""

    error: str


def application(worker: Worker, limits: Limits, hosts: Collection[str] | None) -> FastAPI:
    """Return the application of a worker's models, for requests to some hosts; None means any."""
    # the pages of FastAPI that show an interface load scripts from elsewhere
    no_docs = {"docs_url": None, "redoc_url": None}
    app = FastAPI(title="rnng-dy serve", version=__version__, redirect_slashes=False, **no_docs)
    app.middleware("http")(partial(_guarded, hosts))
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(HTTPException, _refused)
    kinds = request_types(limits, worker.models)
    models = [
        {"name": name, "kind": m.kind, "description": repr(m)[1:-1], "about": m.about or {}}
        for name, m in worker.models.items()
    ]

    @app.get("/api/models")
    def served_models() -> dict[str, list[dict[str, Any]]]:
        """The models of this server."""
        return {"models": models}

    def add(name: str, kind: type[BaseModel]) -> None:
        async def answer(wanted: kind, request: Request) -> Any:
            sentences = await worker.run(request, ANSWERS[name], wanted)
            return {"model": wanted.model, "sentences": sentences}

        app.add_api_route(
            f"/api/{name}",
            answer,
            methods=["POST"],
            name=name,
            description=kind.__doc__,
            response_model=kind.answer,
            response_model_exclude_unset=True,
            responses={status: {"model": Problem} for status in (413, 422, 503)},
        )

    for name, kind in kinds.items():
        add(name, kind)
    add_pages(app, worker, limits, kinds)
    return app


async def _refused(request: Request, error: Any) -> Response:
    if isinstance(error, RequestValidationError):
        is_json = "json" in request.headers.get("content-type", "")
        reason = reason_of(error) if is_json else "send the header Content-Type: application/json"
        return JSONResponse({"error": reason}, 422)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _refusal(hosts: Collection[str] | None, request: Request) -> tuple[str, int] | None:
    """Return the reason and the status if a request is refused unread, else None."""
    length = request.headers.get("content-length", "")
    host = _PORT.sub("", request.headers.get("host", "")).strip("[]").lower()
    here = (request.scope.get("server") or [""])[0]
    if hosts is not None and host not in ("", here, *hosts):
        return f"this server is not called {host}: --allow-host {host} allows the name", 421
    # a server would read the chunks, whatever the length says
    is_chunked = "transfer-encoding" in request.headers
    is_short = length.isdecimal() and int(length) <= BODY and not is_chunked
    if request.method == "POST" and not is_short:
        return f"a body needs a Content-Length of at most {BODY}, and no Transfer-Encoding", 413
    return None


async def _guarded(hosts: Collection[str] | None, request: Request, answer: Callable) -> Response:
    """Return the answer to a request, with the headers of security; HEAD is as GET."""
    method = request.method
    if refusal := _refusal(hosts, request):
        response: Response = JSONResponse({"error": refusal[0]}, refusal[1])
    else:
        request.scope["method"] = "GET" if method == "HEAD" else method
        response = await answer(request)
        # the server leaves the body out
        request.scope["method"] = method
    response.headers.update(HEADERS)
    return response
