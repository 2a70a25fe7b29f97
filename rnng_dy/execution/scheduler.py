"""Connection to a Dask scheduler: finding or starting it, listing its workers, and detecting that it is gone."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TypeVar

from oracle.archives import read_regular
from oracle.errors import InputError, RnngError
from oracle.files import from_json
from oracle.numerals import is_whole_number
from rnng_dy.execution import identity
from rnng_dy.execution.local import require_room, without_ctrl_c

R = TypeVar("R")
LOCAL = "local:"
ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://[^/\s]+:[0-9]{1,5}")
CONNECTION = 10.0
"""Seconds within which a connection to the scheduler must succeed."""
ANSWER = 30.0
"""Seconds within which the scheduler must answer."""
LOOKED = 10.0
"""Seconds of waiting between checks that the scheduler is there."""
LOST_AFTER = "60 s"
"""Time after which a silent worker that this process started is replaced."""
TIMEOUTS = (TimeoutError, asyncio.TimeoutError)
"""Timeout exceptions, which are two classes in Python 3.10."""


def local_workers(given: str) -> int | None:
    """Return the N of `local:N`, or None for another scheduler. Raises RnngError if N is not in 1 to 9,999.

    >>> local_workers("local:4"), local_workers("tcp://10.0.0.1:8786")
    (4, None)
    """
    if not given.startswith(LOCAL):
        return None
    number = given.removeprefix(LOCAL)
    if not (is_whole_number(number) and 0 < int(number) < 10_000):
        raise RnngError(f"--scheduler {given}: say how many workers to start here, such as local:4")
    return int(number)


def address_of(given: str) -> str:
    """Return an address, or the address in a scheduler file. Raises RnngError if `given` is neither."""
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
    """Return the message about a worker whose software differs, so that its output might, too."""
    return f"the worker {address} is refused: {different}; install the same, or take it away"


class Scheduler:
    """A connection to a Dask scheduler, all of whose workers have the same software as this process."""

    def __init__(self, given: str, say: Callable[[str], None]):
        """Connect to `given`: an address, a scheduler file, or `local:N`, which starts a scheduler here with N workers.

        Raises RnngError if Dask is not installed, no scheduler answers, or a worker has other software installed.
        """
        here = local_workers(given)
        if here:
            require_room(here, f"--scheduler {given}")
        self.name = given if here else address_of(given)
        self.workers_here = here or 0
        self.identity = identity.installed()
        self.dask = _dask()
        self._say = say
        self._looked = time.monotonic()
        self._admitted: set[str] = set()
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
                # each batch has its own limit
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )

    def _connected(self):
        address = self._cluster.scheduler_address if self._cluster else self.name
        if not self._cluster:
            _require_scheduler(address)
        try:
            return self.dask.Client(address, timeout=CONNECTION, set_as_default=False)
        except (OSError, ValueError, TypeError, *TIMEOUTS) as error:
            raise RnngError(f"no Dask scheduler answers at {address}: {error}") from None

    def close(self) -> None:
        """Disconnect from the scheduler; end it and its workers if this process started them."""
        with suppress(Exception):
            if self.client is not None:
                self.client.close(timeout=5)
        with suppress(Exception):
            if self._cluster is not None:
                self._cluster.close(timeout=20)

    def asked(self, function: Callable[..., R], *arguments: object, **options: object) -> R:
        """Return the result of a method of the client. Raises TimeoutError if there is no answer."""
        return self.client.sync(function, *arguments, callback_timeout=ANSWER, **options)

    def workers(self) -> dict[str, int]:
        """Return the number of threads of each worker, by its address.

        Raises RnngError for a new worker with other software, and if the scheduler is gone.
        """
        self._looked = time.monotonic()
        with self.there():
            threads = dict(self.asked(self.client.nthreads))
            new = {address: n for address, n in threads.items() if address not in self._admitted}
            if new:
                self._admit(new)
            return threads

    def tasks(self) -> dict[str, int]:
        """Return the number of tasks of each worker, by its address. Raises RnngError as `workers` does."""
        with self.there():
            processing = self.asked(self.client.processing)
        return {address: len(processing.get(address, ())) for address in self.workers()}

    def _admit(self, new: Mapping[str, int]) -> None:
        self._admitted |= set(new)
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
        """Return the installed software by worker; an exception for workers that are lost meanwhile."""
        import cloudpickle

        # the function itself is sent: a worker may have another version of it, or none
        cloudpickle.register_pickle_by_value(identity)
        run = self.client.run
        try:
            return self.asked(run, identity.installed, workers=workers, on_error="return")
        except TIMEOUTS:
            # workers that do not answer now are checked when they begin to work
            return {}

    @contextmanager
    def there(self) -> Iterator[None]:
        """Turn the exceptions of a lost connection to the scheduler into an RnngError."""
        try:
            yield
        except (CancelledError, OSError, AttributeError, *TIMEOUTS) as error:
            # an attribute is None while the client looks for a scheduler that is gone
            if isinstance(error, AttributeError) and self.client.status == "running":
                raise
            raise RnngError(
                f"the Dask scheduler at {self.name} is gone, or has dropped the work: when it is there again, --resume "
                "continues"
            ) from None

    def look(self) -> None:
        """Check, from time to time while waiting, that the scheduler is there; report if it has no workers."""
        if time.monotonic() - self._looked >= LOOKED and not self.workers():
            self._say(f"the Dask scheduler at {self.name} has no workers: waiting for one")


def _require_scheduler(address: str) -> None:
    """Raise RnngError if no scheduler answers at an address within CONNECTION seconds, whatever server is there.

    Dask's own client may wait forever for other servers, or while it is closed.
    """
    answers: list[object] = []

    def ask() -> None:
        try:
            # in a thread of Dask, this would delay the end of the process
            host, _, port = address.rpartition("/")[2].rpartition(":")
            socket.getaddrinfo(host.strip("[]"), int(port))
            answers.append(asyncio.run(asyncio.wait_for(_identity(address), CONNECTION)))
        except Exception as error:
            answers.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(CONNECTION + 1.0)
    answer = answers[0] if answers else TimeoutError()
    if isinstance(answer, Mapping) and answer.get("type") == "Scheduler":
        return
    if isinstance(answer, (OSError, *TIMEOUTS)):
        raise RnngError(
            f"no Dask scheduler answers at {address}: see that it runs there and can be reached"
        )
    if isinstance(answer, RnngError):
        raise answer
    raise RnngError(f"what answers at {address} is no Dask scheduler: see to host and port")


async def _identity(address: str) -> object:
    """Return how a Dask server identifies itself. Raises RnngError without a certificate, and any connection error."""
    from distributed.comm import connect
    from distributed.security import Security

    how = Security().get_connection_args("client")
    if address.startswith(("tls:", "wss:")) and how["ssl_context"] is None:
        raise RnngError(
            f"{address}: Dask's configuration has no certificate (distributed.comm.tls)"
        )
    # data from an unknown server must not be unpickled
    comm = await connect(address, timeout=CONNECTION, deserialize=False, **how)
    try:
        await comm.write({"op": "identity", "reply": True})
        return await comm.read()
    finally:
        comm.abort()


def _dask() -> ModuleType:
    """Import Dask's `distributed` and silence its log. Raises RnngError if it is not installed."""
    try:
        import dask
        import distributed
    except ImportError:
        raise RnngError(
            "--scheduler needs Dask: `pip install '.[cluster]'` where rnng_dy was installed from, or `pip install "
            "distributed`"
        ) from None
    # a task graph consists mostly of the model, so Dask's size warning says nothing
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    # problems that matter are reported as errors
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed
