"""Entry point of the `rnng-dy` command; `python -m rnng_dy` is the same."""

import os
import sys


def _open_closed_streams() -> None:
    """Keep files from the numbers of closed streams.

    Messages go nowhere then, and writing a result there is an error.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            flag = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            os.set_inheritable(os.open(os.devnull, flag), True)
            # a reader of standard input is told that it is closed
            if number:
                setattr(sys, name, os.fdopen(number, "w", errors="backslashreplace"))


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, even while it is loaded."""
    _open_closed_streams()
    try:
        from rnng_dy.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
