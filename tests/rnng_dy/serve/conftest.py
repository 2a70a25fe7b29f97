"""A server with the models that the package brings, computed by a thread of the tests' process."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

import rnng_dy

# starlette's client of tests takes httpx if httpx2 is missing
CLIENT = next(filter(find_spec, ("httpx2", "httpx")), None)
needs_serve = pytest.mark.skipif(
    CLIENT is None or not all(map(find_spec, ("starlette", "uvicorn"))),
    reason="the extra [serve], or httpx2, is not installed",
)

MODELS = ("english", "english-generative")


@pytest.fixture(scope="session")
def models():
    """The models by name."""
    return {name: rnng_dy.load(name) for name in MODELS}


@pytest.fixture(scope="session")
def client(models):
    """A client of the server; an exception in it fails the test."""
    from starlette.testclient import TestClient

    from rnng_dy.serve import app

    with TestClient(app(models)) as found:
        yield found


@contextmanager
def serving(application):
    """The port of a server in a thread."""
    from rnng_dy.serve.connections import listen, server

    listening, running = listen("127.0.0.1", 0), server(application)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve([listening])))
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(60)


def run(queue, coroutine):
    """The result of a coroutine that asks a queue, which is closed then."""

    async def within():
        try:
            return await asyncio.wait_for(coroutine, 60)
        finally:
            queue.close()

    return asyncio.run(within())
