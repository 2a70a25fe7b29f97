"""A server with the models that the package brings."""

import threading
import time
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

import rnng_dy

# starlette's client of tests takes httpx if httpx2 is missing
CLIENT = next(filter(find_spec, ("httpx2", "httpx")), None)
needs_serve = pytest.mark.skipif(
    CLIENT is None or not all(map(find_spec, ("fastapi", "uvicorn"))),
    reason="the extra [serve], or httpx2, is not installed",
)


@pytest.fixture(scope="session")
def models():
    """The models by name."""
    return {name: rnng_dy.load(name) for name in ("english", "english-generative")}


@contextmanager
def client_of(models, **limits):
    """A client of a server; an exception in it fails the test."""
    from starlette.testclient import TestClient

    from rnng_dy.serve import Limits, app

    with TestClient(app(models, Limits(**limits))) as found:
        yield found


@pytest.fixture(scope="session")
def client(models):
    with client_of(models) as found:
        yield found


@contextmanager
def serving(application):
    """The port of a server in a thread."""
    import uvicorn

    running = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.05)
        yield running.servers[0].sockets[0].getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(60)
