"""Entry point of the `rnng-dy` command; `python -m rnng_dy` is the same."""

from __future__ import annotations

import signal
import sys

from rnng_dy.process import ending_at_once


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, even while it is still being loaded."""
    try:
        with ending_at_once():
            from rnng_dy.cli import errors_reported, load_command
            from rnng_dy.cli import main as command

        with errors_reported():
            with ending_at_once():
                load_command(*sys.argv[1:2])
            command()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # during Python's shutdown, Ctrl-C would end the process by the signal, and the exit code would be lost
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
