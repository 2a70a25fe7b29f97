"""The checkout, and commands in it that are ended together with all their processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def copy_tracked(checkout: Path, folder: Path) -> None:
    """Copy the present files of a checkout that are under version control."""
    listed = ["git", "-C", str(checkout), "ls-files", "-z"]
    for name in subprocess.check_output(listed, text=True).split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(checkout / name, folder / name)


def run_limited(command: Sequence[str], seconds: float, **options: object) -> int | None:
    """Return the exit code of a command, None if it exceeds its time; end all processes that it started."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
