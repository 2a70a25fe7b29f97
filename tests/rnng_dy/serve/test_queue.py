"""The queue: batches, a full queue, clients that leave, and workers that are lost."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from functools import partial

import pytest

from rnng_dy.serve.batching import BusyError, LostError, Queue
from rnng_dy.serve.requests import Limits, Parse
from rnng_dy.serve.work import Part, open_answers

from .conftest import run


class Work:
    """Work that waits until it may go on, and notes its batches."""

    def __init__(self):
        self.may_go_on, self.has_begun = threading.Event(), threading.Event()
        self.batches: list[list[str]] = []

    def __call__(self, batch):
        if not batch:
            return []
        self.has_begun.set()
        assert self.may_go_on.wait(60)
        self.batches.append([request.text for request in batch])
        if any(request.text == "bad" for request in batch):
            raise ValueError("bad")
        return Part((), [request.text.upper() for request in batch])


def queue_of(work, **limits) -> Queue:
    return Queue(lambda: work, 0, Limits(**limits))


async def begun(work: Work, queue: Queue, text: str = "first") -> asyncio.Task:
    """A request that is being computed, so that later ones wait."""
    task = asyncio.create_task(queue.answer(Parse(text=text)))
    await asyncio.to_thread(work.has_begun.wait, 60)
    return task


def asked(queue: Queue, *requests: Parse) -> list[asyncio.Task]:
    return [asyncio.create_task(queue.answer(request)) for request in requests]


def test_requests_with_equal_options_are_computed_together():
    work = Work()
    queue = queue_of(work)

    async def scenario():
        first = await begun(work, queue)
        tasks = asked(queue, Parse(text="a"), Parse(text="b", k=2), Parse(text="c"))
        await asyncio.sleep(0)
        work.may_go_on.set()
        return [await task for task in (first, *tasks)]

    assert run(queue, scenario()) == ["FIRST", "A", "B", "C"]
    assert work.batches == [["first"], ["a", "c"], ["b"]]


def test_a_batch_has_limits_of_requests_and_of_characters():
    work = Work()
    queue = queue_of(work, batch=2, characters=30)

    async def scenario():
        first = await begun(work, queue)
        tasks = asked(queue, *(Parse(text=text) for text in ("a", "b", "c", "d" * 29)))
        await asyncio.sleep(0)
        work.may_go_on.set()
        await asyncio.gather(first, *tasks)

    run(queue, scenario())
    assert work.batches == [["first"], ["a", "b"], ["c"], ["d" * 29]]


def test_a_full_queue_refuses_and_says_when_to_come_again():
    work = Work()
    queue = queue_of(work, queue=2)

    async def scenario():
        first = await begun(work, queue)
        tasks = asked(queue, Parse(text="a"), Parse(text="b"))
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as refused:
            await queue.answer(Parse(text="c"))
        assert refused.value.seconds >= 1
        work.may_go_on.set()
        await asyncio.gather(first, *tasks)
        return await queue.answer(Parse(text="d"))

    assert run(queue, scenario()) == "D"


def test_a_request_whose_client_leaves_is_not_computed_and_leaves_its_place():
    work = Work()
    queue = queue_of(work, queue=1)

    async def scenario():
        first = await begun(work, queue)
        [left] = asked(queue, Parse(text="left"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.sleep(0)
        [stays] = asked(queue, Parse(text="stays"))
        await asyncio.sleep(0)
        work.may_go_on.set()
        await first
        return await stays

    assert run(queue, scenario()) == "STAYS"
    assert work.batches == [["first"], ["stays"]]


def test_an_unexpected_error_reaches_its_client_and_the_queue_goes_on():
    work = Work()
    work.may_go_on.set()
    queue = queue_of(work)

    async def scenario():
        with pytest.raises(ValueError, match="bad"):
            await queue.answer(Parse(text="bad"))
        return await queue.answer(Parse(text="good"))

    assert run(queue, scenario()) == "GOOD"


def test_a_computation_beyond_its_time_is_given_up():
    work = Work()
    queue = queue_of(work, seconds=1)

    async def scenario():
        with pytest.raises(LostError, match="more than 1 s"):
            await queue.answer(Parse(text="slow"))
        work.may_go_on.set()

    run(queue, scenario())
    assert queue.metrics.replaced == 1


def test_a_slow_request_does_not_take_its_batch_with_it():
    stopped = threading.Event()

    def work(batch):
        if any(request.text == "slow" for request in batch):
            stopped.wait(60)
        return Part((), [request.text.upper() for request in batch])

    queue = queue_of(work, seconds=1)

    async def scenario():
        tasks = asked(queue, Parse(text="a"), Parse(text="slow"), Parse(text="b"))
        found = await asyncio.gather(*tasks, return_exceptions=True)
        stopped.set()
        return found

    found = run(queue, scenario())
    assert [found[0], found[2]] == ["A", "B"]
    assert isinstance(found[1], LostError)


def test_a_worker_that_is_killed_is_replaced_and_no_request_is_lost():
    limits = Limits()
    queue = Queue(partial(open_answers, {"english": "english"}, limits), 1, limits)
    [described] = queue.described()
    assert (described.name, described.kind.has_trees) == ("english", True)
    request = Parse(model="english", text="The cat sat.")

    async def scenario():
        expected = await queue.answer(request)
        [worker] = queue._workers[0]._pool._processes
        os.kill(worker, signal.SIGKILL)
        answers = await asyncio.gather(*(queue.answer(request) for _ in range(5)))
        return expected, answers

    expected, answers = run(queue, scenario())
    assert answers == [expected] * 5
    assert queue.metrics.replaced == 1
