"""The cache of wheels: one folder for each set of inputs, written atomically, under a lock."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from oracle.errors import RnngError

from .target import Toolchain, report

RECIPE = Path(__file__).resolve().parent.parent
BUILD_FILES = (
    "setup.py",
    "pyproject.toml",
    "sdist.txt",
    "versions.txt",
    "build-requirements.txt",
    "cuda-requirements.txt",
    "zig-requirements.txt",
)


def cache_folder() -> Path:
    """$RNNG_DY_CACHE, or `rnng_dy` in the user's cache folder."""
    if os.environ.get("RNNG_DY_CACHE"):
        return Path(os.environ["RNNG_DY_CACHE"]).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rnng_dy"


def patches(recipe: Path = RECIPE) -> list[Path]:
    """The patches in the order in which they apply."""
    return sorted((recipe / "patches").glob("*.diff"))


def sources(recipe: Path = RECIPE) -> list[Path]:
    """Our own sources: Cython's go into the folder `python` of the tree, all others into `dynet`."""
    return sorted((recipe / "sources").iterdir())


def inputs(chain: Toolchain, recipe: Path = RECIPE) -> dict[str, object]:
    """Everything that goes into a wheel; the sdist stands in by its checksum in sdist.txt."""
    files = [*(recipe / name for name in BUILD_FILES), *patches(recipe), *sources(recipe)]
    python, compiler, cuda = chain.python, chain.compiler, chain.cuda
    return {
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "system": compiler.target or [python.platform, python.libc],
        "compiler": [compiler.version, compiler.march],
        "cuda": [cuda.version, cuda.architectures] if cuda else None,
    }


def key(values: dict[str, object]) -> str:
    """A name for a set of inputs: equal for equal ones.

    >>> key({"march": "x86-64"}) == key({"march": "x86-64-v3"})
    False
    """
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def wheel_in(folder: Path) -> Path | None:
    """The sound wheel of a folder; None where there is none or it is damaged (cut short, say)."""
    for wheel in sorted(folder.glob("*.whl")):
        try:
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                sound = archive.testzip() is None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
            sound = False
        if sound and any(name.startswith("_dynet.") for name in names):
            return wheel
        report(f"{wheel} is damaged and will be made again")
    return None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; the system lets it go when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("another set-up makes the same wheel; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cached_wheel(
    cache: Path, values: dict[str, object], build: Callable[[Path, Path], None]
) -> Path:
    """The wheel made from `values`, from the cache or else from `build(work, out)`.

    `build` leaves a wheel in `out`; `work` is an empty folder that goes when it is done.
    """
    folder = cache / f"dynet-{key(values)}"
    with locked(folder.with_suffix(".lock")):
        wheel = wheel_in(folder)
        if wheel:
            report(f"wheel from the cache: {wheel}")
            return wheel
        # left by a build that was killed, if there at all: this process has the lock
        work = folder.with_suffix(".build")
        shutil.rmtree(work, ignore_errors=True)
        out = work / "out"
        out.mkdir(parents=True)
        try:
            build(work, out)
            if wheel_in(out) is None:
                raise RnngError(f"the build left no sound wheel in {out}")
            (out / "inputs.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            out.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return next(folder.glob("*.whl"))
