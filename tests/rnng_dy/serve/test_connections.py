"""Clients that are slow or leave, at the level of sockets."""

from __future__ import annotations

import socket
import time

import pytest

pytest.importorskip("starlette", reason="the extra [serve] is not installed")
pytest.importorskip("uvicorn", reason="the extra [serve] is not installed")

from rnng_dy.serve import app, connections, guard

from .conftest import serving

HEAD = b"POST /api/parse HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
def port(models, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.5)
    with serving(app({"english": models["english"]})) as found:
        yield found


def answered(port: int, *parts: bytes) -> bytes:
    """All that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        for part in parts:
            client.sendall(part)
        found = b""
        while received := client.recv(65536):
            found += received
        return found


def test_the_body_does_not_wait_for_the_client_to_confirm_the_head():
    with (
        connections.listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("head", [b"", b"P", HEAD])
def test_a_client_that_does_not_finish_its_head_is_dropped(port, head):
    assert answered(port, head) == b""


def test_a_client_that_does_not_finish_its_body_is_refused(port):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        assert client.recv(65536).startswith(b"HTTP/1.1 408")


def test_a_second_request_may_not_be_slow_either(port):
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")
        assert client.recv(65536).startswith(b"HTTP/1.1 422")
        client.sendall(b"P")
        while client.recv(65536):
            pass
    # not only as late as a connection without any request
    assert time.monotonic() - begin < connections.IDLE_SECONDS


def test_a_client_that_leaves_does_no_harm(port):
    body = b'{"text": "It works."}'
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for size in (len(HEAD), len(whole) - 5, len(whole)):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(whole[:size])
    time.sleep(0.2)
    closing = whole.replace(b"Host: x", b"Host: x\r\nConnection: close")
    assert answered(port, closing).startswith(b"HTTP/1.1 200")
