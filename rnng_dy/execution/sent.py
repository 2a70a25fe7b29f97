"""Work on its way to a worker of another machine: pickled, with the files that it reads by their content."""

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
    """Pickle work that names files by the hashes of their content; by these hashes the content of each file by name.

    Raises OSError where a file cannot be read.
    """
    stream = io.BytesIO()
    packer = _Packer(stream)
    packer.dump(open_work)
    return stream.getvalue(), packer.contents


def unpack(pickled: bytes, folders: Mapping[str, str]) -> Callable:
    """The work, which reads its files in `folders`, given by the hashes of what is in them."""
    return _Unpacker(io.BytesIO(pickled), folders).load()


class _Packer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO):
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.contents: dict[str, dict[str, bytes]] = {}

    def persistent_id(self, obj: object) -> tuple | None:
        """See pickle: what stands for something that lies in files."""
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
    """SHA-256 of files, their names included."""
    digest = hashlib.sha256()
    for name, of_file in content.items():
        digest.update(f"{name}\0{len(of_file)}\0".encode("utf-8", "surrogateescape"))
        digest.update(of_file)
    return digest.hexdigest()


class Files:
    """Files in memory as they come, in a folder of their own from their first use on, which goes when this goes."""

    def __init__(self, content: Mapping[str, bytes]):
        self._content: Mapping[str, bytes] | None = content
        self._folder: tempfile.TemporaryDirectory | None = None

    def folder(self, parent: str) -> str:
        """Where the files are, in a folder that is made in `parent`. Raises OSError where they cannot be written."""
        content = self._content
        if content is not None:
            folder = tempfile.TemporaryDirectory(prefix="rnng_dy-", dir=parent)
            try:
                for name, of_file in content.items():
                    path = Path(folder.name, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(of_file)
            except OSError:
                # at once: on a full disk others want the room
                folder.cleanup()
                raise
            self._folder, self._content = folder, None
        return self._folder.name

    def __reduce__(self) -> tuple[Any, ...]:
        # from one worker to another, which may be while `folder` writes
        content = self._content
        if content is None:
            root = Path(self._folder.name)
            paths = sorted(path for path in root.rglob("*") if path.is_file())
            content = {os.fspath(path.relative_to(root)): path.read_bytes() for path in paths}
        return Files, (content,)
