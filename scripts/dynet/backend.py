"""The build backend of pyproject.toml: setuptools' own (PEP 517, 660), with DyNet in each wheel.

It takes the options of scripts/install_dynet from `-C dynet="--cuda"`, or from the environment
variable DYNET_FLAGS.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

import scripts.script_start  # noqa: F401

from .command import FOLDER, builds_for, modules_of, options
from .target import CHECKOUT, BuildError

Settings = Mapping[str, str] | None
STABLE_ABI = "cp310-abi3"
"""Builds of DyNet load into Python 3.10 and later."""
# the date of entries whose files have none
DATE = (2020, 1, 1, 0, 0, 0)


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Write the wheel into a folder and return its name; exit if DyNet cannot be built."""
    return _with_dynet(build_meta.build_wheel, folder, settings, metadata)


def build_editable(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Write the wheel of an editable install: it has DyNet; the packages stay in the checkout."""
    return _with_dynet(build_meta.build_editable, folder, settings, metadata)


def _with_dynet(
    build: Callable[..., str], folder: str, settings: Settings, metadata: str | None
) -> str:
    flags = (settings or {}).get("dynet") or os.environ.get("DYNET_FLAGS", "")
    try:
        wheels, platform = builds_for(options(shlex.split(flags)))
    except BuildError as error:
        sys.exit(f"error: {error}")
    # pip removes a folder only if a file lies in it directly
    files = {f"{FOLDER}/NOTICE.txt": (CHECKOUT / "LICENSES" / "NOTICE.txt").read_bytes()}
    for level, wheel in wheels.items():
        files |= modules_of(wheel, level)
    # setuptools would pack modules of an earlier build that no longer exist
    shutil.rmtree(CHECKOUT / "build" / "lib", ignore_errors=True)
    made = Path(folder) / build(folder, settings, metadata)
    return repack(made, files, f"{STABLE_ABI}-{platform}").name


def repack(wheel: Path, files: Mapping[str, bytes], tag: str) -> Path:
    """Replace a pure wheel by one of this tag, with more files; return its path."""
    name, version = wheel.name.split("-")[:2]
    new = wheel.with_name(f"{name}-{version}-{tag}.whl")
    record = []
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(new, "w") as archive:

        def write(entry: zipfile.ZipInfo, data: bytes) -> None:
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            record.append(f"{entry.filename},sha256={digest.decode()},{len(data)}")

        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith(".dist-info/WHEEL"):
                data = data.replace(b"Root-Is-Purelib: true", b"Root-Is-Purelib: false")
                data = re.sub(rb"(?m)^Tag: .*$", f"Tag: {tag}".encode(), data)
            if not entry.filename.endswith(".dist-info/RECORD"):
                write(entry, data)
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            write(entry, data)
        listing = f"{name}-{version}.dist-info/RECORD"
        archive.writestr(listing, "\n".join([*record, f"{listing},,", ""]))
    wheel.unlink()
    return new
