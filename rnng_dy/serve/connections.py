"""Connections of the server: the socket, and clients that are too many or too slow."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 1000
"""The most clients at a time; others get the status 503 at once."""
HEAD_SECONDS = 10
"""Seconds that a client may take to send the head of a request."""

IDLE_SECONDS = 15
"""Seconds for which a connection without a request stays open."""


class Impatient(H11Protocol):
    """Closes a connection whose client takes too long to send the head of a request."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """See asyncio."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._late is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._forget()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is a free one. Raises OSError if that is impossible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    # accepted sockets inherit it: otherwise a body waits until the client confirms the head, 40 ms later
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def server(application: Starlette, root_path: str = "") -> uvicorn.Server:
    """Return a server of an application; its `run` takes a list of sockets and ends by a signal."""
    config = uvicorn.Config(
        application,
        http=Impatient,
        root_path=root_path,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)
