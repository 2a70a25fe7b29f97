"""Sending work to a worker on another machine: pickled, together with the contents of the files that it reads."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rnng_dy.execution.work import IN_FILES


def pack(open_work: Callable) -> tuple[bytes, Mapping[str, Mapping[str, bytes]]]:
    """Return pickled work, which refers to its files by hash, and the contents of the files by hash and name.

    Raises OSError if a file cannot be read.
    """
    stream = io.BytesIO()
    packer = _Packer(stream)
    packer.dump(open_work)
    return stream.getvalue(), packer.contents


def unpack(pickled: bytes, folders: Mapping[str, str]) -> Callable:
    """Return the work, which reads its files in `folders`; these are named by the hashes of their contents."""
    return _Unpacker(io.BytesIO(pickled), folders).load()


class _Packer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO):
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.contents: dict[str, dict[str, bytes]] = {}

    def persistent_id(self, obj: object) -> tuple | None:
        """See pickle: return the reference that replaces an object in `IN_FILES`."""
        if not isinstance(obj, IN_FILES):
            return None
        content = {name: path.read_bytes() for name, path in sorted(obj.files().items())}
        key = hash_of(content)
        self.contents[key] = content
        return key, type(obj), tuple(obj)


class _Unpacker(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, folders: Mapping[str, str]):
        super().__init__(stream)
        self._folders = folders

    def persistent_load(self, pid: tuple) -> object:
        """See pickle."""
        key, kind, fields = pid
        return kind(*fields).moved(self._folders[key])


def hash_of(content: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of files, names included."""
    digest = hashlib.sha256()
    for name, of_file in content.items():
        digest.update(f"{name}\0{len(of_file)}\0".encode("utf-8", "surrogateescape"))
        digest.update(of_file)
    return digest.hexdigest()


class Files:
    """Files that arrive in memory; the first use moves them into a temporary folder, deleted with this object."""

    def __init__(self, content: Mapping[str, bytes]):
        self._content: Mapping[str, bytes] | None = content
        self._folder: tempfile.TemporaryDirectory | None = None

    def folder(self, parent: str) -> str:
        """Return the folder of the files, made in `parent` on first use. Raises OSError if they cannot be written."""
        content = self._content
        if content is not None:
            folder = tempfile.TemporaryDirectory(prefix="rnng_dy-", dir=parent)
            try:
                for name, of_file in content.items():
                    path = Path(folder.name, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(of_file)
            except OSError:
                # delete it at once: on a full disk others need the room
                folder.cleanup()
                raise
            self._folder, self._content = folder, None
        return self._folder.name

    def __reduce__(self) -> tuple[Any, ...]:
        # pickled when sent to another worker, perhaps while `folder` writes
        content = self._content
        if content is None:
            root = Path(self._folder.name)
            paths = sorted(path for path in root.rglob("*") if path.is_file())
            content = {os.fspath(path.relative_to(root)): path.read_bytes() for path in paths}
        return Files, (content,)
