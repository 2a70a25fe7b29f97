"""Entry point of the `rnng-dy` command; `python -m rnng_dy` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with exit code 130, even while it is still being loaded."""
    try:
        from rnng_dy.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
