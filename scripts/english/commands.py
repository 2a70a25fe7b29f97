"""Run `rnng-dy` as a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("rnng-dy"))


def run(command: str, *arguments: str) -> None:
    """Show and run a command. Ends with its exit code if it fails."""
    words = [*command.split(), *arguments]
    print("$ rnng-dy", *words, flush=True)
    if code := subprocess.call([COMMAND, *words]):
        sys.exit(code)


def output(command: str) -> str:
    """Run a command and return what it prints; its messages go to standard error. Ends if it fails."""
    done = subprocess.run([COMMAND, *command.split(), "-q"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout
