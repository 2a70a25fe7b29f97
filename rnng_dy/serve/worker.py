"""The thread that owns the models: it computes one answer after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import HTTPException, Request

from oracle.common.errors import RnngError
from rnng_dy import load
from rnng_dy.serve.limits import Limits


class Worker:
    """Models by name, and a thread that uses them."""

    def __init__(self, models: Mapping[str, object], limits: Limits, device: str | None):
        """Load the models that are given as text. Raises RnngError."""

        def loaded() -> dict[str, Any]:
            return {
                name: load(model, device) if isinstance(model, str) else model
                for name, model in models.items()
            }

        self._thread, self._turn = ThreadPoolExecutor(1), asyncio.Lock()
        self._limits, self._waiting = limits, 0
        # a thread that uses a GPU must have opened it
        self.models: Mapping[str, Any] = self._thread.submit(loaded).result()

    async def run(self, request: Request, answer: Callable, wanted: Any) -> Any:
        """Return the answer of a model: `answer(model, wanted, limits)`.

        Raises HTTPException with the status 503 if too many requests wait, 422 if the model cannot
        answer, and 499, which nobody reads, if the client left while it waited.
        """
        if self._waiting >= self._limits.queue:
            reason = "too many requests wait: try again later"
            raise HTTPException(503, reason, {"retry-after": "1"})
        self._waiting += 1
        try:
            async with self._turn:
                if await request.is_disconnected():
                    raise HTTPException(499)
                loop, model = asyncio.get_running_loop(), self.models[wanted.model]
                return await loop.run_in_executor(self._thread, answer, model, wanted, self._limits)
        except RnngError as error:
            raise HTTPException(422, str(error)) from None
        except MemoryError:
            raise HTTPException(422, "it does not fit into the memory of the server") from None
        finally:
            self._waiting -= 1
