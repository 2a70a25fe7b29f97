"""Other programs: their output, their errors, and new environments of Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def called(command: list[str], environ: dict[str, str] | None = None) -> str:
    """Return what a command prints. Raises CalledProcessError; `environ` replaces this process's environment."""
    done = subprocess.run(command, env=environ, cwd="/", capture_output=True, text=True, check=True)
    return done.stdout


def new_environment(folder: Path) -> str:
    """Make a virtual environment and return its Python."""
    called([sys.executable, "-m", "venv", str(folder)])
    return str(folder / "bin" / "python")
