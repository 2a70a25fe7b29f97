"""The ASGI application: its routes, and the guard around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from rnng_dy.serve import api, pages
from rnng_dy.serve.batching import Queue
from rnng_dy.serve.guard import Guard
from rnng_dy.serve.requests import Limits, ServedModel
from rnng_dy.serve.view import Server

VERSION = "v1"
"""The version of the JSON interface; `/api` is the newest one."""


def application(queue: Queue, limits: Limits, token: str | None) -> Starlette:
    """Return the application. Raises the errors of loading the models."""
    try:
        models: dict[str, ServedModel] = {model.name: model for model in queue.described()}
    except BaseException:
        queue.close()
        raise

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def metrics(request: Request) -> Response:
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return PlainTextResponse(queue.metrics.text(), media_type=kind)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        queue.close()

    interface, server = api.routes(queue, limits, models), Server(queue, limits, models)
    return Starlette(
        routes=[
            Route("/health", health),
            Route("/metrics", metrics),
            Mount(f"/api/{VERSION}", routes=interface),
            Mount("/api", routes=interface),
            *pages.routes(server),
        ],
        middleware=[Middleware(Guard, token=token, metrics=queue.metrics)],
        exception_handlers={HTTPException: _refused, ClientDisconnect: _left},
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _left(request: Request, error: Exception) -> Response:
    """Return the response to a client that has left, which nobody reads."""
    return Response(status_code=499)
