"""Entry point of the `rnng-dy` command; `python -m rnng_dy` is the same."""

from __future__ import annotations

import os
import resource
import signal
import sys

from rnng_dy.interrupts import ending_at_once

ADDRESS_SPACE = 1 << 29
"""Bytes of address space that loading all libraries takes."""


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, even while it is still being loaded."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # closed (`>&-`): the next file that is opened would get this descriptor
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
    if sys.stdout is None:
        # losing the results silently would be wrong: writing here raises OSError
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    """Run the command; ignore Ctrl-C once its exit code is decided."""
    try:
        _require_address_space()
        with ending_at_once():
            from rnng_dy.cli import errors_reported, load_command
            from rnng_dy.cli import main as command

        with errors_reported():
            with ending_at_once():
                load_command(*sys.argv[1:2])
            command()
    finally:
        # during Python's shutdown, Ctrl-C would end the process by the signal, and the exit code would be lost
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _require_address_space() -> None:
    """Exit with a clear message if the memory limit is too low to load the libraries."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= allowed < ADDRESS_SPACE:
        message = f"this process may have {allowed >> 20} MB of memory (ulimit -v): it needs {ADDRESS_SPACE >> 20}"
        print(f"Error: {message}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
