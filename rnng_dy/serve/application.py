"""The ASGI application: the JSON interface, and pages with the same answers."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from rnng_dy import __version__
from rnng_dy.serve.answers import ANSWERS
from rnng_dy.serve.limits import Limits
from rnng_dy.serve.pages import add_pages
from rnng_dy.serve.requests import reason_of, request_types
from rnng_dy.serve.worker import Worker

BODY = 65536
"""The most bytes of a request's body."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Problem(BaseModel):
    """The reason why a request has no answer."""

    error: str


def application(worker: Worker, limits: Limits) -> FastAPI:
    """Return the application of a worker's models."""
    # the pages of FastAPI that show an interface load scripts from elsewhere
    app = FastAPI(title="rnng-dy serve", version=__version__, docs_url=None, redoc_url=None)
    app.middleware("http")(_guarded)
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
        return JSONResponse({"error": reason_of(error)}, 422)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _guarded(request: Request, answer: Callable) -> Response:
    """Return the answer to a request, with the headers of security, unless its body is too large."""
    length = request.headers.get("content-length", "")
    if request.method == "POST" and not (length.isdecimal() and int(length) <= BODY):
        error = f"a body needs a Content-Length of at most {BODY}"
        response: Response = JSONResponse({"error": error}, 413)
    else:
        response = await answer(request)
    response.headers.update(HEADERS)
    return response
