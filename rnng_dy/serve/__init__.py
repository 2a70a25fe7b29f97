"""Models behind web pages and a JSON interface: `app` returns an ASGI application; needs the extra [serve]."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from oracle.errors import RnngError

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
    device: str | None = None,
) -> Starlette:
    """Return an ASGI application with pages and a JSON interface for models.

    Args:
        models: Models by the name that users see: loaded models, or folders, archives or names as text.
        workers: Number of processes that compute, each with its copy of the models. With 0, a thread of this process
            computes; it cannot be stopped if a computation takes too long.
        limits: Limits of requests; None means the defaults.
        token: The token that every request must have; None means that all are admitted.
        device: `cpu`, `cuda` or `cuda:N`, for models that are loaded here; None means the device that the process
            uses already, or else `cpu`.

    Raises:
        RnngError: A model cannot be loaded, the device cannot be used, or the extra [serve] is not installed.
    """
    require()
    from rnng_dy.engine import CPU
    from rnng_dy.serve.application import application
    from rnng_dy.serve.batching import Queue
    from rnng_dy.serve.requests import Limits
    from rnng_dy.serve.work import open_answers

    limits = limits or Limits()
    queue = Queue(partial(open_answers, models, limits, device), workers, limits, device or CPU)
    return application(queue, limits, token)
