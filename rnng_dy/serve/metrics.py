"""Numbers about a running server, in the text format of Prometheus."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds of the histograms' intervals."""


class Histogram:
    """A histogram of times."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count a time."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """Yield the lines of the text format; `labels` are written before the bound."""
        total = 0
        for bound, count in zip((*BOUNDS, math.inf), self._counts, strict=True):
            total += count
            shown = "+Inf" if bound == math.inf else f"{bound:g}"
            yield f'{name}_bucket{{{labels}le="{shown}"}} {total}'
        closed = f"{{{labels.rstrip(',')}}}" if labels else ""
        yield f"{name}_sum{closed} {self._sum:.6f}"
        yield f"{name}_count{closed} {total}"


class Metrics:
    """Counts and times since the start."""

    def __init__(self) -> None:
        self.waiting = 0
        """Requests in the queue."""
        self.replaced = 0
        """Workers that were replaced."""
        self._responses: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, Histogram] = {}
        self._computed, self._batches = 0, Histogram()

    def response(self, route: str, status: int, seconds: float) -> None:
        """Count a response; `route` is one of the server's own, never a path that a client made up."""
        self._responses[route, status] += 1
        self._times.setdefault(route, Histogram()).add(seconds)

    def batch(self, requests: int, seconds: float) -> None:
        """Count a batch that a worker computed."""
        self._computed += requests
        self._batches.add(seconds)

    def text(self) -> str:
        """Return all numbers."""
        return "\n".join([*self._lines(), ""])

    def _lines(self) -> Iterator[str]:
        yield "# TYPE rnng_dy_responses_total counter"
        for (route, status), count in sorted(self._responses.items()):
            yield f'rnng_dy_responses_total{{route="{route}",status="{status}"}} {count}'
        yield "# TYPE rnng_dy_response_seconds histogram"
        for route, times in sorted(self._times.items()):
            yield from times.lines("rnng_dy_response_seconds", f'route="{route}",')
        yield "# TYPE rnng_dy_batch_seconds histogram"
        yield from self._batches.lines("rnng_dy_batch_seconds")
        for name, kind, value in (
            ("computed_requests_total", "counter", self._computed),
            ("replaced_workers_total", "counter", self.replaced),
            ("waiting_requests", "gauge", self.waiting),
        ):
            yield f"# TYPE rnng_dy_{name} {kind}"
            yield f"rnng_dy_{name} {value}"
