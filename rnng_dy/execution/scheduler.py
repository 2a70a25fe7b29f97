"""A Dask scheduler: found or started here, asked for its workers, and told from one that is gone."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TypeVar

from oracle.errors import InputError, RnngError
from oracle.regular_files import read_regular
from oracle.streams import from_json
from rnng_dy.execution import identity
from rnng_dy.execution.local import without_ctrl_c

R = TypeVar("R")
LOCAL = "local:"
ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://[^/\s]+:[0-9]{1,5}")
CONNECTION = 10.0
"""Seconds in which a scheduler must be found."""
ANSWER = 30.0
"""Seconds in which a scheduler must answer."""
LOOKED = 10.0
"""Seconds of waiting between looks whether it does."""
LOST_AFTER = "60 s"
"""From when on a worker that is started here and gives no sign of life is replaced."""
TIMEOUTS = (TimeoutError, asyncio.TimeoutError)
"""Of Python 3.10 two kinds."""


def local_workers(given: str) -> int | None:
    """The N of `local:N`; None where a scheduler is elsewhere. Raises RnngError where N is no number from 1 on.

    >>> local_workers("local:4"), local_workers("tcp://10.0.0.1:8786")
    (4, None)
    """
    if not given.startswith(LOCAL):
        return None
    number = given.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 0 < int(number) < 10_000):
        raise RnngError(f"--scheduler {given}: say how many workers to start here, such as local:4")
    return int(number)


def address_of(given: str) -> str:
    """The address that is given, or that is in the scheduler file of that name. Raises RnngError for neither."""
    if "://" in given:
        if not ADDRESS.fullmatch(given):
            raise RnngError(f"--scheduler {given}: say tcp://HOST:PORT, or tls:// for one with TLS")
        return given
    try:
        address = from_json(read_regular(given))["address"]
    except FileNotFoundError:
        raise RnngError(
            f"--scheduler {given}: neither an address such as tcp://HOST:8786, nor a scheduler file that is there, nor "
            "local:N"
        ) from None
    except (ValueError, TypeError, KeyError):
        address = None
    if not (isinstance(address, str) and ADDRESS.fullmatch(address)):
        raise InputError("no scheduler file: it gives no address", given)
    return address


def refused(address: str, different: str) -> str:
    """What is said of a worker that may give another output."""
    return f"the worker {address} is refused: {different}; install the same, or take it away"


class Scheduler:
    """A connection to a Dask scheduler, whose workers all have the same installed as this process."""

    def __init__(self, given: str, say: Callable[[str], None]):
        """`given` is an address, a scheduler file, or `local:N`, which starts it here with N workers.

        Raises RnngError where Dask is not installed, no scheduler answers, or a worker has something else installed.
        """
        here = local_workers(given)
        self.name = given if here else address_of(given)
        self.workers_here = here or 0
        self.identity = identity.installed()
        self.dask = _dask()
        self._say = say
        self._looked = time.monotonic()
        self._known: set[str] = set()
        self._cluster = self._start_here(here) if here else None
        self.client = None
        try:
            self.client = self._connected()
            self.workers()
        except BaseException:
            self.close()
            raise

    def _start_here(self, workers: int):
        import dask

        dask.config.set({"distributed.scheduler.worker-ttl": LOST_AFTER})
        with without_ctrl_c():
            return self.dask.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                # each batch has a limit of its own
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )

    def _connected(self):
        address = self._cluster.scheduler_address if self._cluster else self.name
        try:
            return self.dask.Client(address, timeout=CONNECTION, set_as_default=False)
        except (OSError, ValueError, TypeError, *TIMEOUTS) as error:
            raise RnngError(f"no Dask scheduler answers at {address}: {error}") from None

    def close(self) -> None:
        """Let go of the scheduler; of one that was started here the workers end, too."""
        with suppress(Exception):
            if self.client is not None:
                self.client.close(timeout=5)
        with suppress(Exception):
            if self._cluster is not None:
                self._cluster.close(timeout=20)

    def asked(self, function: Callable[..., R], *arguments: object, **options: object) -> R:
        """What a method of the client gives. Raises TimeoutError where nobody answers."""
        return self.client.sync(function, *arguments, callback_timeout=ANSWER, **options)

    def workers(self) -> dict[str, int]:
        """The threads of each worker by its address. Raises RnngError for a new one that has something else installed.

        Raises RnngError where the scheduler is gone.
        """
        self._looked = time.monotonic()
        with self.there():
            found = dict(self.asked(self.client.nthreads))
            new = {address: n for address, n in found.items() if address not in self._known}
            if new:
                self._admit(new)
            return found

    def tasks(self) -> dict[str, int]:
        """How much each worker has to do, by its address. Raises RnngError as `workers` does."""
        with self.there():
            processing = self.asked(self.client.processing)
        return {address: len(processing.get(address, ())) for address in self.workers()}

    def _admit(self, new: Mapping[str, int]) -> None:
        self._known |= set(new)
        for address, threads in new.items():
            if threads > 1:
                self._say(
                    f"the worker {address} has {threads} threads and uses one for batches: start workers with "
                    "--nthreads 1"
                )
        wrong = [
            refused(address, different)
            for address, theirs in self._installed(list(new)).items()
            if isinstance(theirs, Mapping)
            and (different := identity.differences(theirs, self.identity))
        ]
        if wrong:
            raise RnngError("\n".join(wrong))

    def _installed(self, workers: list[str]) -> Mapping[str, object]:
        """What each worker has installed; errors of those that are lost meanwhile."""
        import cloudpickle

        # the function itself is sent: a worker may have another version of it, or none
        cloudpickle.register_pickle_by_value(identity)
        run = self.client.run
        try:
            return self.asked(run, identity.installed, workers=workers, on_error="return")
        except TIMEOUTS:
            # one that does not answer now is asked when it begins to work
            return {}

    @contextmanager
    def there(self) -> Iterator[None]:
        """Turn what happens when the scheduler goes away into an error that says so."""
        try:
            yield
        except (CancelledError, OSError, AttributeError, *TIMEOUTS) as error:
            # an attribute is None while the client looks for a scheduler that is gone
            if isinstance(error, AttributeError) and self.client.status == "running":
                raise
            raise RnngError(
                f"the Dask scheduler at {self.name} is gone, or has dropped the work: when it is there again, --resume "
                "goes on"
            ) from None

    def look(self) -> None:
        """Now and then while something is waited for: is the scheduler there, and has it workers?"""
        if time.monotonic() - self._looked >= LOOKED and not self.workers():
            self._say(f"the Dask scheduler at {self.name} has no workers: waiting for one")


def _dask() -> ModuleType:
    """Dask's `distributed`, which says nothing by itself. Raises RnngError where it is not installed."""
    try:
        import dask
        import distributed
    except ImportError:
        raise RnngError(
            "--scheduler needs Dask: `pip install '.[cluster]'` where rnng_dy was installed from, or `pip install "
            "distributed`"
        ) from None
    # a model is most of a graph
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    # what matters of it is told as an error
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed
