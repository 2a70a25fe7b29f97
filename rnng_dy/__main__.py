"""The `rnng-dy` command from its first moment; `python -m rnng_dy` is the same."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with 130 while it is still being loaded, too."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # closed (`>&-`): the next file that is opened would take its place
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    """Run the command; once it is decided how it ends, Ctrl-C changes that no more."""
    try:
        from rnng_dy.cli import main as command
        from rnng_dy.cli import told

        with told():
            command()
    finally:
        # while Python ends it would end the process by the signal, and the exit code would be lost
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
