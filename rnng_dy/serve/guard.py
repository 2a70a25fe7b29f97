"""The doors of the server: token, headers against abuse by other sites, limits of bodies, counts of responses."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.errors import RnngError
from rnng_dy.serve.answers import Answer, Refusal, Word
from rnng_dy.serve.batching import BusyError, LostError, Queue
from rnng_dy.serve.metrics import Metrics
from rnng_dy.serve.requests import BadRequestError, Limits
from rnng_dy.serve.requests import Request as Wanted

T = TypeVar("T")
BODY_SECONDS = 10
"""Seconds that a client may take to send a body."""
# an attribute `style` holds numbers of ours alone; style elements and scripts are files
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
UNBUFFERED = {"x-accel-buffering": "no"}
"""Headers of a response that comes in parts, which nginx passes on at once."""
OPEN = ("health",)
"""Endpoints without a token."""


class Guard:
    """Middleware around all routes."""

    def __init__(self, app: ASGIApp, token: str | None, metrics: Metrics):
        self._app, self._token, self._metrics = app, token, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = time.monotonic(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._app if self._admits(scope) else _unauthorized
        try:
            await app(scope, receive, sent)
        finally:
            route = getattr(scope.get("endpoint"), "__name__", "none")
            self._metrics.response(route, status, time.monotonic() - begin)

    def _admits(self, scope: Scope) -> bool:
        if self._token is None or scope["path"].rsplit("/", 1)[-1] in OPEN:
            return True
        return hmac.compare_digest(_token_of(Headers(scope=scope)), self._token.encode())


def _token_of(headers: Headers) -> bytes:
    """Return the token of `Authorization: Bearer TOKEN`, or the password that a browser has asked for."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return given.encode() if scheme.lower() == "bearer" else b""
    try:
        return base64.b64decode(given, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


_unauthorized = JSONResponse(
    {"error": "a token is needed, as the password of a browser or as Authorization: Bearer"},
    status_code=401,
    headers={"www-authenticate": 'Basic realm="rnng-dy", charset="UTF-8"'},
)


async def json_body(request: Request, limits: Limits) -> Any:
    """Return the JSON of a request's body. Raises HTTPException for one that is none, too large or too slow."""

    async def read() -> bytes:
        found = b""
        async for chunk in request.stream():
            found += chunk
            if len(found) > limits.body:
                raise HTTPException(413, f"more than {limits.body} bytes, the limit here")
        return found

    try:
        return json.loads(await asyncio.wait_for(read(), BODY_SECONDS))
    except (TimeoutError, asyncio.TimeoutError):
        raise HTTPException(408, f"the body took more than {BODY_SECONDS} s") from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is no JSON") from None


async def answer(request: Request, queue: Queue, wanted: Wanted) -> Answer:
    """Return a model's answer, which nobody computes if the client leaves before.

    Raises the errors of `Queue.answer`, ClientDisconnect, and HTTPException if the model refuses.
    """
    return _accepted(await _unless_left(request, queue.answer(wanted)))


async def told(queue: Queue, wanted: Wanted) -> AsyncGenerator[Word | Answer, None]:
    """Yield each word of an answer once, as soon as it is measured, and last the answer.

    Raises the errors of `Queue.answer`, and HTTPException if the model refuses.
    """
    counts: Counter[int] = Counter()
    async with aclosing(queue.parts(wanted)) as parts:
        async for part in parts:
            if not isinstance(part, Word):
                for sentence, measured in enumerate(_accepted(part)):
                    rest = list(enumerate(measured.records))[counts[sentence] :]
                    for number, record in rest:
                        yield Word(0, sentence, number, record)
            # a batch that was lost is measured again
            elif part.number != counts[part.sentence]:
                continue
            else:
                counts[part.sentence] += 1
            yield part


async def begun(request: Request, parts: AsyncGenerator[T, None]) -> AsyncIterator[T]:
    """Return the same parts once the first one is there, so that its error can still be the status of a response.

    Raises ClientDisconnect, and the errors of the first part.
    """
    first = await _unless_left(request, anext(parts))

    async def all_parts() -> AsyncIterator[T]:
        async with aclosing(parts):
            yield first
            async for part in parts:
                yield part

    return all_parts()


async def _unless_left(request: Request, work: Awaitable[T]) -> T:
    """Return the result of work, which is cancelled if the client leaves before. Raises ClientDisconnect then."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    computed, gone = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({computed, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not computed.done():
            raise ClientDisconnect
        return computed.result()
    finally:
        computed.cancel()
        gone.cancel()


def _accepted(found: T) -> T:
    """Return an answer. Raises HTTPException if it is a refusal."""
    if isinstance(found, Refusal):
        raise HTTPException(422, found.reason)
    return found


def refusal(error: Exception) -> tuple[int, str, Mapping[str, str]]:
    """Return the status, the reason and headers of a request that has no answer."""
    if isinstance(error, HTTPException):
        return error.status_code, error.detail, error.headers or {}
    if isinstance(error, BusyError):
        return 429, str(error), {"retry-after": str(error.seconds)}
    return (503 if isinstance(error, LostError) else 400), str(error), {}


REFUSALS = (HTTPException, BadRequestError, RnngError)
"""Errors that `refusal` explains to clients."""
