"""The ASGI application: the JSON interface, and pages with the same answers."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rnng_dy import __version__
from rnng_dy.serve.answers import ANSWERS
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.pages import Pages
from rnng_dy.serve.requests import reason_of, request_types
from rnng_dy.serve.worker import Worker

BODY = 65536
"""The most bytes of a request's body."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Problem(BaseModel):
    """The reason why a request has no answer."""

    error: str


def application(worker: Worker, limits: Limits) -> FastAPI:
    """Return the application of a worker's models."""
    # the pages of FastAPI that show an interface load scripts from elsewhere
    app = FastAPI(title="rnng-dy serve", version=__version__, docs_url=None, redoc_url=None)
    app.add_middleware(Guard)
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
            return await worker.run(request, ANSWERS[name], wanted)

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
    for path, page in Pages(worker, limits, kinds, app.openapi).routes().items():
        app.add_api_route(path, page, include_in_schema=False)
    return app


async def _refused(request: Request, error: Any) -> Response:
    if isinstance(error, RequestValidationError):
        return JSONResponse({"error": reason_of(error)}, 422)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


class Guard:
    """Middleware that bounds the bodies of requests, and adds the headers of security to responses."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["method"] == "POST" and not _length(scope) <= BODY:
            reason = f"a body needs a Content-Length of at most {BODY}"
            await JSONResponse({"error": reason}, 413)(scope, receive, sent)
        else:
            await self._app(scope, receive, sent)


def _length(scope: Scope) -> float:
    """Return the bytes of a request's body; infinity if it does not say how many they are."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() else float("inf")
