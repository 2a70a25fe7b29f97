"""The queue of requests: equal ones are computed together, by processes or a thread that own the models."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from typing import Protocol

from oracle.errors import RnngError
from rnng_dy.engine import CPU
from rnng_dy.execution.local import StandingProcess
from rnng_dy.serve.answers import Answer, Word
from rnng_dy.serve.metrics import Metrics
from rnng_dy.serve.requests import Limits, Request
from rnng_dy.serve.work import GO_ON


class BusyError(RnngError):
    """The queue is full."""

    def __init__(self, seconds: int):
        super().__init__(f"too many requests wait: try again in {seconds} s")
        self.seconds = seconds


class LostError(RnngError):
    """The computation was killed, by its limit of time or by a fault."""


class Worker(Protocol):
    """A process or thread that opens work once and does items as they come."""

    def submit(self, item: object) -> Future:
        """Return the future result."""

    def kill(self) -> None:
        """End it, if it is a process."""


class ThreadWorker(Worker):
    """A thread of this process, which nothing can kill."""

    def __init__(self, open_work: Callable[[], Callable]):
        """Take work as `StandingProcess` does."""
        self._pool = ThreadPoolExecutor(1)
        self._work = self._pool.submit(open_work)

    def submit(self, item: object) -> Future:
        """See `Worker`."""
        return self._pool.submit(lambda: self._work.result()(item))

    def kill(self) -> None:
        """Let what waits be forgotten."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Waiting:
    """A request in the queue."""

    def __init__(self, request: Request):
        self.request = request
        self.parts: asyncio.Queue[Word | Answer | BaseException] = asyncio.Queue()
        """The words that come before the answer, and the answer or the reason why there is none."""
        self.is_over = False
        """Whether it is answered, or its client has left."""
        self.is_alone = False
        """Whether it is computed alone, since a batch with it was lost."""


class Queue:
    """Requests that wait for workers; each worker takes a batch of equal requests at a time."""

    def __init__(
        self, open_work: Callable[[], Callable], workers: int, limits: Limits, device: str = CPU
    ):
        """Start the workers: processes, or a thread of this process if `workers` is 0."""
        self._limits, self.metrics = limits, Metrics()
        self._open = (
            (lambda: StandingProcess(open_work, workers, device))
            if workers
            else (lambda: ThreadWorker(open_work))
        )
        self._workers: list[Worker] = [self._open() for _ in range(max(1, workers))]
        self._waiting: deque[Waiting] = deque()
        self._serving: list[asyncio.Task] = []
        self._arrived = asyncio.Event()
        self._mean_seconds = 0.05
        """Mean time per request, over about the last hundred."""

    def described(self) -> Sequence[Answer]:
        """Wait until all workers have opened their work; return its answer to the empty batch. Raises its errors."""
        opening = [worker.submit([]) for worker in self._workers]
        answers = [opened.result() for opened in opening]
        return answers[0]

    async def answer(self, request: Request) -> Answer:
        """Return a model's answer: the last one of `parts`, with its errors."""
        async for part in self.parts(request):
            found = part
        return found

    async def parts(self, request: Request) -> AsyncGenerator[Word | Answer, None]:
        """Yield the words of a request that streams, as they are measured, and last the model's answer.

        A task that is cancelled, and an iterator that is closed, leave the queue.
        Raises BusyError if the queue is full, LostError if the computation was killed.
        """
        waiting = self._enter(request)
        try:
            is_last = False
            while not is_last:
                part = await waiting.parts.get()
                if isinstance(part, BaseException):
                    raise part
                is_last = not isinstance(part, Word)
                yield part
        finally:
            waiting.is_over = True

    def _enter(self, request: Request) -> Waiting:
        self._serving = self._serving or [
            asyncio.create_task(self._serve(number)) for number in range(len(self._workers))
        ]
        self._drop_left()
        if len(self._waiting) >= self._limits.queue:
            each = self._mean_seconds / len(self._workers)
            raise BusyError(max(1, math.ceil(len(self._waiting) * each)))
        waiting = Waiting(request)
        self._waiting.append(waiting)
        self._changed()
        return waiting

    def close(self) -> None:
        """End the workers."""
        for task in self._serving:
            task.cancel()
        for worker in self._workers:
            worker.kill()

    def _changed(self) -> None:
        self.metrics.waiting = len(self._waiting)
        if self._waiting:
            self._arrived.set()

    def _drop_left(self) -> None:
        """Remove the requests whose clients have left."""
        self._waiting = deque(w for w in self._waiting if not w.is_over)

    async def _serve(self, number: int) -> None:
        batch: list[Waiting] = []
        while True:
            batch = await self._next_batch(len(batch) > 1)
            if not batch:
                continue
            begin = time.monotonic()
            try:
                answers = await self._computed(number, batch)
            except (BrokenExecutor, TimeoutError, asyncio.TimeoutError) as error:
                self._replace(number, batch, isinstance(error, BrokenExecutor))
                continue
            except Exception as error:
                answers = [error] * len(batch)
            each = (time.monotonic() - begin) / len(batch)
            self._mean_seconds += 0.01 * (each - self._mean_seconds)
            self.metrics.batch(len(batch), time.monotonic() - begin)
            for waiting, answer in zip(batch, answers, strict=True):
                waiting.parts.put_nowait(answer)

    async def _computed(self, number: int, batch: Sequence[Waiting]) -> Sequence[Answer]:
        """Return a worker's answers, and pass on the words before; no answers matter once all clients have left."""
        item, end = [w.request for w in batch], time.monotonic() + self._limits.seconds
        while True:
            future = asyncio.wrap_future(self._workers[number].submit(item))
            words, answers = await asyncio.wait_for(future, end - time.monotonic())
            for word in words:
                batch[word.request].parts.put_nowait(word)
            if all(w.is_over for w in batch):
                return [None] * len(batch)
            if answers is not None:
                return answers
            item = GO_ON

    async def _next_batch(self, is_shared: bool) -> list[Waiting]:
        """Return the oldest request and those that can be computed with it; none if their clients have left.

        `is_shared` says whether the last batch had several requests: its clients may ask again at once, and for them
        it waits.
        """
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        if is_shared:
            await asyncio.sleep(self._limits.wait / 1000)
        self._drop_left()
        if not self._waiting:
            return []
        first = self._waiting.popleft()
        batch, size, key = [first], first.request.size(), first.request.together()
        for waiting in list(self._waiting):
            size += waiting.request.size()
            if first.is_alone or size > self._limits.characters or len(batch) >= self._limits.batch:
                break
            if waiting.request.together() == key and not waiting.is_alone:
                self._waiting.remove(waiting)
                batch.append(waiting)
        self._changed()
        return batch

    def _replace(self, number: int, batch: Sequence[Waiting], is_broken: bool) -> None:
        """Replace a worker. Its requests are computed again, each alone, except one that was alone already.

        One request that takes too long is not tried again.
        """
        self._workers[number].kill()
        self._workers[number] = self._open()
        # it opens its work at once
        self._workers[number].submit([])
        self.metrics.replaced += 1
        if not batch[0].is_alone and (is_broken or len(batch) > 1):
            for waiting in batch:
                waiting.is_alone = True
            self._waiting.extendleft(reversed(batch))
            self._changed()
            return
        reason = "it ended the process" if is_broken else f"more than {self._limits.seconds} s"
        for waiting in batch:
            waiting.parts.put_nowait(LostError(f"the computation was stopped: {reason}"))
