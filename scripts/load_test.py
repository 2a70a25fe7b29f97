#!/usr/bin/env python3
"""Load `rnng-dy serve`: many clients at once, memory, malformed requests, and workers that are killed.

python3 -m scripts.load_test --model english --clients 200 --seconds 60
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

SENTENCE = (
    "The young people who came yesterday watch the old boats from the shore with great interest , "
    "and they ."
)
FIELDS = ["text", "sentences", "trees", "model", "k", "n", "samples", "seed", "alpha", "end", "x"]
VALUES = [
    None,
    True,
    -1,
    0,
    3,
    10**30,
    1e308,
    "",
    "a",
    "((",
    "\x00",
    "(S (N a))",
    [],
    {},
    [["a"]],
    [[["a"]]],
]


class Server:
    """A server in a process of its own."""

    def __init__(self, model: str, workers: int, log: Path):
        command = [sys.executable, "-m", "rnng_dy", "serve", "--model", model, "--port", "0"]
        with log.open("wb") as stream:
            self.process = subprocess.Popen([*command, "--workers", str(workers)], stderr=stream)
        while not (found := re.search(r":(\d+)/ in a browser", log.read_text())):
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.1)
        self.port = int(found[1])

    def workers(self) -> list[int]:
        """The processes that compute."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
        return [child for child, command in commands.items() if b"spawn_main" in command]

    def megabytes(self) -> int:
        """The resident memory of all processes."""
        status = [Path(f"/proc/{pid}/status") for pid in (self.process.pid, *self.workers())]
        found = [re.search(r"VmRSS:\s+(\d+)", path.read_text())[1] for path in status]
        return sum(map(int, found)) // 1024

    def processor_seconds(self) -> dict[int, float]:
        """The processor time of the server and of the workers that there are, by process."""
        return {pid: _processor_seconds(pid) for pid in (self.process.pid, *self.workers())}

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def _processor_seconds(pid: int) -> float:
    # after the name in brackets, which may have spaces
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def request(path: str, body: bytes) -> bytes:
    """The bytes of a request."""
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Client:
    """A client that keeps its connection."""

    def __init__(self, port: int):
        self._port, self._streams = port, None

    async def send(self, message: bytes) -> tuple[int, float]:
        """The status of the answer, 0 if the connection was closed without one; the seconds until its first byte."""
        begin = time.perf_counter()
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            writer.write(message)
            head = await reader.readuntil(b"\r\n\r\n")
            first = time.perf_counter() - begin
            if b"transfer-encoding: chunked" in head.lower():
                await reader.readuntil(b"\r\n0\r\n\r\n")
            else:
                length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                await reader.readexactly(int(length[1]) if length else 0)
            if b"connection: close" in head.lower():
                self.close()
            return int(head.split(b" ", 2)[1]), first
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, time.perf_counter() - begin

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def loaded(
    port: int,
    clients: int,
    go_on: Callable[[int], bool],
    message: Callable[[], bytes],
    of_first_byte: bool = False,
) -> tuple[Counter, list[float]]:
    """Statuses and seconds of requests that clients send one after the other while `go_on(number)` is true."""
    statuses, times = Counter(), []

    async def one() -> None:
        client = Client(port)
        while go_on(statuses.total()):
            begin = time.perf_counter()
            status, first = await client.send(message())
            statuses[status] += 1
            times.append(first if of_first_byte else time.perf_counter() - begin)
        client.close()

    await asyncio.gather(*(one() for _ in range(clients)))
    return statuses, times


def sentence() -> list[str]:
    words = SENTENCE.split()
    # few requests are equal
    words[1] = random.choice(["young", "old", "happy", "poor", "tired"])
    words[6] = random.choice(["watch", "see", "paint", "sell", "count"])
    return words


def parse_message() -> bytes:
    return request("/api/parse", json.dumps({"sentences": [sentence()]}).encode())


def stream_message() -> bytes:
    content = {"sentences": [sentence()], "stream": True}
    return request("/api/surprisal", json.dumps(content).encode())


def malformed_message() -> bytes:
    """A request that is wrong in its JSON, its fields or its bytes."""
    path = random.choice(["/api/parse", "/api/surprisal", "/api/sample", "/api/score"])
    content = {random.choice(FIELDS): random.choice(VALUES) for _ in range(random.randrange(4))}
    body = bytearray(json.dumps(content).encode())
    for _ in range(random.randrange(4)):
        body[random.randrange(len(body))] = random.randrange(256)
    return request(path, bytes(body))


def shown(
    name: str, statuses: Counter, times: list[float], seconds: float, busy: Sequence[float]
) -> None:
    """Print the figures of a part; `busy` are the seconds that processors spent on server and workers."""
    cuts = statistics.quantiles(times, n=100)
    each = [round(1000 * spent / statuses.total(), 1) for spent in busy]
    row = {
        "part": name,
        "requests": statuses.total(),
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "per second": round(statuses.total() / seconds, 1),
        "least ms": round(1000 * min(times), 1),
        "p50 ms": round(1000 * cuts[49], 1),
        "p99 ms": round(1000 * cuts[98], 1),
        "processor ms per request, server and workers": each,
    }
    print(json.dumps(row), flush=True)


async def timed(server: Server, name: str, work: Awaitable[tuple[Counter, list[float]]]) -> None:
    begin, busy = time.perf_counter(), server.processor_seconds()
    statuses, times = await work
    now = server.processor_seconds()
    # a worker that was replaced took its time with it
    spent = [now[pid] - busy[pid] for pid in busy] if now.keys() == busy.keys() else []
    shown(name, statuses, times, time.perf_counter() - begin, spent)


async def kill_workers(server: Server, seconds: float) -> int:
    """Kill a worker every few seconds; return how many."""
    killed, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(5)
        for pid in server.workers()[:1]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


async def all_parts(server: Server, options: argparse.Namespace) -> None:
    port = server.port

    def until(seconds: float) -> Callable[[int], bool]:
        end = time.monotonic() + seconds
        return lambda _: time.monotonic() < end

    await timed(server, "one client", loaded(port, 1, lambda n: n < 200, parse_message))
    first = loaded(port, 1, lambda n: n < 30, stream_message, of_first_byte=True)
    await timed(server, "first byte of surprisals, one client", first)
    name = f"{options.clients} clients, {options.seconds} s"
    await timed(server, name, loaded(port, options.clients, until(options.seconds), parse_message))
    quarter = max(1, options.requests // 4)
    for part in range(4):
        print(json.dumps({"requests": part * quarter, "MB": server.megabytes()}), flush=True)
        await timed(server, "memory", loaded(port, 8, lambda n: n < quarter - 8, parse_message))
    print(json.dumps({"requests": 4 * quarter, "MB": server.megabytes()}), flush=True)
    bad = loaded(port, 8, lambda n: n < options.malformed, malformed_message)
    await timed(server, "malformed", bad)
    killing = asyncio.create_task(kill_workers(server, options.kill_seconds))
    await timed(server, "kills", loaded(port, 20, until(options.kill_seconds + 5), parse_message))
    print(json.dumps({"killed workers": await killing}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="english")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--malformed", type=int, default=5000)
    parser.add_argument("--kill-seconds", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        server = Server(options.model, options.workers, log)
        try:
            asyncio.run(all_parts(server, options))
        finally:
            server.end()
        print(json.dumps({"tracebacks": log.read_text().count("Traceback")}))


if __name__ == "__main__":
    main()
