"""Contents of files, also of those in a zip archive."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import BinaryIO


def open_regular(path: str | os.PathLike | zipfile.Path) -> BinaryIO:
    """Open a file for reading."""
    return io.BytesIO(path.read_bytes()) if isinstance(path, zipfile.Path) else open(path, "rb")


def read_regular(path: str | os.PathLike | zipfile.Path) -> bytes:
    """Return all bytes of a file."""
    return path.read_bytes() if isinstance(path, zipfile.Path) else Path(path).read_bytes()
