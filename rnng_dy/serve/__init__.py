"""Models behind web pages and a JSON interface: `app` returns an ASGI application; needs the extra [serve]."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from oracle.errors import RnngError

CONNECTIONS = 1000
"""The most clients at a time; others get the status 503 at once."""

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from rnng_dy.serve.requests import Limits


def require() -> None:
    """Raise RnngError if a library that the server needs is not installed."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise RnngError(f"a server needs more ({error}): pip install 'rnng_dy[serve]'") from None


def app(
    models: Mapping[str, object],
    workers: int = 0,
    limits: Limits | None = None,
    token: str | None = None,
) -> Starlette:
    """Return an ASGI application with pages and a JSON interface for models.

    Args:
        models: Models by the name that users see: loaded models, or folders, archives or names as text.
        workers: Number of processes that compute, each with its copy of the models. With 0, a thread of this process
            computes; it cannot be stopped if a computation takes too long.
        limits: Limits of requests; None means the defaults.
        token: The token that every request must have; None means that all are admitted.

    Raises:
        RnngError: A model cannot be loaded, or the extra [serve] is not installed.
    """
    require()
    from rnng_dy.serve.answers import open_answers
    from rnng_dy.serve.application import application
    from rnng_dy.serve.batching import Queue
    from rnng_dy.serve.requests import Limits

    limits = limits or Limits()
    queue = Queue(partial(open_answers, models, limits), workers, limits)
    return application(queue, limits, token)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is a free one. Raises OSError if that is impossible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=CONNECTIONS)


def run(application: Starlette, listening: socket.socket, root_path: str) -> None:
    """Serve an application until a signal ends it."""
    import uvicorn

    config = uvicorn.Config(
        application,
        root_path=root_path,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=15,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run([listening])
