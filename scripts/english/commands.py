"""Run `rnng-dy` as a user does."""

import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("rnng-dy"))


def run(command: str, *arguments: str) -> None:
    """Show and run a command, all on standard error. Ends with its exit code if it fails."""
    words = [*command.split(), *arguments]
    print("$ rnng-dy", *words, file=sys.stderr)
    if code := subprocess.call([COMMAND, *words], stdout=sys.stderr):
        sys.exit(code)


def make(file: str, command: str, *arguments: str) -> None:
    """Run a command that writes a file, unless the file is there."""
    if not Path(file).exists():
        run(command, *arguments, "-o", file)
