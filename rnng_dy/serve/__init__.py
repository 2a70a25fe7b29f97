"""Models behind web pages and a JSON interface, with the extra [serve]."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from oracle.common.errors import extra
from rnng_dy.serve.limits import Limits

if TYPE_CHECKING:
    from fastapi import FastAPI


def require() -> None:
    """Raise RnngError if a library that the server needs is not installed."""
    with extra("a server needs more", "serve"):
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401


def app(
    models: Mapping[str, object],
    limits: Limits | None = None,
    device: str | None = None,
    hosts: Collection[str] | None = None,
) -> FastAPI:
    """Return an ASGI application with pages and a JSON interface for models, which one thread owns.

    Args:
        models: Models by the name that users see: loaded models, or folders, archives or names as
            text.
        limits: Limits of requests; None means the defaults.
        device: `cpu`, `cuda` or `cuda:N`, for models that are loaded here; None means the device
            that the process uses already, or else `cpu`.
        hosts: Names that requests may have as `Host`, besides the address at which they arrive;
            None means any.

    Raises:
        RnngError: A model cannot be loaded, the device cannot be used, or the extra [serve] is not
            installed.
    """
    require()
    from rnng_dy.serve.answers import Worker
    from rnng_dy.serve.application import application

    limits = limits or Limits()
    return application(Worker(models, limits, device), limits, hosts)
