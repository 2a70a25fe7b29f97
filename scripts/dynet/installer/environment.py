"""Virtual environments: made, judged, made again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from oracle.errors import RnngError

IDENTITY = "import sys; print(sys.base_prefix, sys.version)"
HAS_PIP = "import sys, importlib.util as u; sys.exit(u.find_spec('pip') is None)"

# other places to install to, and compiler flags that would go into a wheel but not into its key
ELSEWHERE = ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"]
FLAGS = ["CC", "CXX", "LDSHARED", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "DYNET_CUDA_ARCH"]
# an outer pip that builds this package asks for its backend by these, the first two up to pip 23
HOOKS = [
    "PEP517_BACKEND_PATH",
    "PEP517_BUILD_BACKEND",
    "_PYPROJECT_HOOKS_BACKEND_PATH",
    "_PYPROJECT_HOOKS_BUILD_BACKEND",
]
DROPPED = frozenset([*ELSEWHERE, *FLAGS, *HOOKS])
PIP_SETTINGS = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def clean_environ(**extra: str) -> dict[str, str]:
    """The environment for pip: the user's own, without what would lead it elsewhere."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return {**kept, **PIP_SETTINGS, **extra}


def run(*command: str, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in the environment for pip; its output is captured."""
    return subprocess.run(command, cwd=cwd, env=clean_environ(), capture_output=True, text=True)


def create(python: str, folder: Path) -> Path:
    """Make a virtual environment with pip; gives its Python.

    Raises RnngError, with the package to install, where `python` can make none.
    """
    made = run(python, "-m", "venv", str(folder))
    if made.returncode != 0:
        # Debian's python3 without python3-venv lacks pip's bundle; a pip of its own may do instead
        bare = run(python, "-m", "venv", "--clear", "--without-pip", str(folder))
        inside = run(python, "-m", "pip", "--python", str(folder), "install", "pip")
        if bare.returncode or inside.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise RnngError(
                f"{python} makes no virtual environment: install the Debian package python3-venv"
            )
    return folder / "bin" / "python"


def is_sound(python: str, folder: Path) -> bool:
    """Whether the virtual environment runs, has pip and is one of this very `python`."""
    inside = str(folder / "bin" / "python")
    try:
        same = run(inside, "-c", IDENTITY).stdout == run(python, "-c", IDENTITY).stdout
        return same and run(inside, "-c", HAS_PIP).returncode == 0
    except OSError:
        return False


def ensure(python: str, folder: Path) -> bool:
    """Make the virtual environment unless it is sound already; whether it was made."""
    if is_sound(python, folder):
        return False
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        raise RnngError(f"{folder} is no virtual environment and not empty: move it away")
    shutil.rmtree(folder, ignore_errors=True)
    create(python, folder)
    return True


def main(arguments: list[str]) -> int:
    """`make_venv FOLDER`; an error is one line and exit code 2."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: make_venv FOLDER", file=sys.stderr)
        return 2
    try:
        if ensure(sys.executable, Path(arguments[0])):
            print(f"made the virtual environment {arguments[0]}", file=sys.stderr)
    except RnngError as error:
        print(f"make_venv: error: {error}", file=sys.stderr)
        return 2
    return 0
