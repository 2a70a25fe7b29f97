"""The queue of requests: equal ones are computed together, by processes or a thread that own the models."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from typing import Protocol

from oracle.errors import RnngError
from rnng_dy.execution.local import StandingProcess
from rnng_dy.serve.answers import Answer
from rnng_dy.serve.metrics import Metrics
from rnng_dy.serve.requests import Limits, Request


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
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.is_alone = False
        """Whether it is computed alone, since a batch with it was lost."""


class Queue:
    """Requests that wait for workers; each worker takes a batch of equal requests at a time."""

    def __init__(self, open_work: Callable[[], Callable], workers: int, limits: Limits):
        """Start the workers: processes, or a thread of this process if `workers` is 0."""
        self._limits, self.metrics = limits, Metrics()
        self._open = (
            (lambda: StandingProcess(open_work, workers))
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
        """Return a model's answer. A task that is cancelled meanwhile leaves the queue.

        Raises BusyError if the queue is full, LostError if the computation was killed.
        """
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
        return await waiting.answer

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
        self._waiting = deque(w for w in self._waiting if not w.answer.done())

    async def _serve(self, number: int) -> None:
        while True:
            batch = await self._next_batch()
            if not batch:
                continue
            begin = time.monotonic()
            try:
                future = self._workers[number].submit([w.request for w in batch])
                answers = await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)
            except (BrokenExecutor, TimeoutError, asyncio.TimeoutError) as error:
                self._replace(number, batch, isinstance(error, BrokenExecutor))
                continue
            except Exception as error:
                answers = [error] * len(batch)
            each = (time.monotonic() - begin) / len(batch)
            self._mean_seconds += 0.01 * (each - self._mean_seconds)
            self.metrics.batch(len(batch), time.monotonic() - begin)
            for waiting, answer in zip(batch, answers, strict=True):
                _give(waiting, answer)

    async def _next_batch(self) -> list[Waiting]:
        """Return the oldest request and those that can be computed with it; none if their clients have left."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
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
            _give(waiting, LostError(f"the computation was stopped: {reason}"))


def _give(waiting: Waiting, answer: Answer) -> None:
    """Give an answer to a client that may have left."""
    if waiting.answer.done():
        return
    if isinstance(answer, BaseException):
        waiting.answer.set_exception(answer)
    else:
        waiting.answer.set_result(answer)
