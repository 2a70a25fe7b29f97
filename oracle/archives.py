"""Zip archives that are read as folders: names, sizes and hashes are checked, and nothing is unpacked to the disk."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from oracle.errors import InputError
from oracle.files import from_json

FORMAT, VERSION = "rnng_dy archive", 1
MANIFEST = "manifest.json"
"""The member that lists size and SHA-256 of all others."""
MOST, UNCHECKED = 100, 1 << 23
"""An archive may unpack to MOST times its size, and always to UNCHECKED bytes: models pack 1 to 5 times."""
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
FIRST_DATE = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that equal contents give equal archives."""


class Archive(Mapping[str, bytes]):
    """The contents of an archive's files by name; reading one raises InputError if it is damaged."""

    def __init__(self, path: str | os.PathLike):
        """Open an archive of `packed`.

        Raises InputError, naming the file and the member, for names that are no plain paths below a folder, links,
        duplicates, sizes far above the archive's, members that the manifest lacks or has alone, and other versions.
        """
        self._path = os.fspath(path)
        self._most = max(UNCHECKED, MOST * os.path.getsize(path))
        with self._blamed():
            # kept open: an archive that is replaced while it is read stays whole
            self._zip = zipfile.ZipFile(path)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            self._require_plain(member)
            if member.filename in self._members:
                raise self._error(member.filename, "two members have this name")
            if not member.is_dir():
                self._members[member.filename] = member
        self._require_bounded(self._members.values())
        self._hashes = self._read_manifest()

    def __getitem__(self, name: str) -> bytes:
        if name not in self._hashes:
            raise KeyError(name)
        content = self._unpacked(name)
        if sha256(content).hexdigest() != self._hashes[name]:
            raise self._error(name, "its SHA-256 is not that of the manifest")
        if name.endswith(".npz"):
            with self._blamed(name), zipfile.ZipFile(io.BytesIO(content)) as arrays:
                self._require_bounded(arrays.infolist(), name)
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self._hashes)

    def __len__(self) -> int:
        return len(self._hashes)

    def _unpacked(self, name: str) -> bytes:
        with self._blamed(name):
            return self._zip.read(self._members[name])

    def _require_plain(self, member: zipfile.ZipInfo) -> None:
        """Raise InputError for a member that is not just a file or folder below the top folder."""
        name = member.filename
        parts = name.removesuffix("/").split("/")
        if name != member.orig_filename or {"", ".", ".."} & {*parts} or {"\\", ":"} & {*name}:
            raise self._error(member.orig_filename, "the name is no path below a folder")
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise self._error(name, "it is a link or another special file")
        if member.flag_bits & 1 or member.compress_type not in PACKINGS:
            raise self._error(name, "it is encrypted, or neither stored nor deflated")

    def _require_bounded(self, members: Iterable[zipfile.ZipInfo], name: str | None = None) -> None:
        if sum(member.file_size for member in members) > self._most:
            raise self._error(name, f"it unpacks to over {MOST} times its size")

    def _read_manifest(self) -> dict[str, str]:
        """Return the SHA-256 of all members by name, in the order of the names."""
        if MANIFEST not in self._members:
            reason = f"it has no {MANIFEST}, as archives of `rnng-dy export` do"
            raise InputError(
                f"{reason}: if it holds a model folder, unpack it and name that", self._path
            )
        content = self._unpacked(MANIFEST)
        try:
            manifest = from_json(content)
            if manifest["format"] != FORMAT:
                raise ValueError(f"it is no {FORMAT}")
            version = manifest["version"]
            if version == VERSION:
                hashes = {name: listed["sha256"] for name, listed in manifest["members"].items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._error(MANIFEST, f"{type(error).__name__}: {error}") from None
        if version != VERSION:
            raise InputError(
                f"written by another version of rnng_dy (archive format {version}, this one reads {VERSION}): install "
                "that version",
                self._path,
            )
        there = self._members.keys() - {MANIFEST}
        for name in sorted(hashes.keys() ^ there):
            reason = f"{MANIFEST} does not list it" if name in there else "it is missing"
            raise self._error(name, reason)
        return dict(sorted(hashes.items()))

    @contextmanager
    def _blamed(self, name: str | None = None) -> Iterator[None]:
        """Turn exceptions into an InputError: zipfile raises a dozen kinds for a damaged file."""
        try:
            yield
        except (MemoryError, InputError):
            raise
        except Exception as error:
            raise self._error(name, str(error)) from None

    def _error(self, name: str | None, reason: str) -> InputError:
        place = self._path if name is None else f"{self._path}/{name}"
        return InputError(
            f"damaged ({reason}): get the archive again, or export the model again", place
        )


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Return an archive of named contents; equal contents give equal bytes."""
    listed = {
        name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in sorted(contents.items())
    }
    manifest = {"format": FORMAT, "version": VERSION, "members": listed}
    members = {**contents, MANIFEST: json.dumps(manifest, indent=1).encode() + b"\n"}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(members.items()):
            member = zipfile.ZipInfo(name, FIRST_DATE)
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def is_archive(path: str | os.PathLike) -> bool:
    """Return whether a file is a zip archive, or one that is damaged: by its name or its first bytes."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        return stream.read(2) == b"PK" or is_archive_name(path)


def is_archive_name(path: str | os.PathLike) -> bool:
    """Return whether a name ends as archives' names do.

    >>> is_archive_name("english.rnng.zip"), is_archive_name("english")
    (True, False)
    """
    return Path(path).suffix.lower() == ".zip"


class Member:
    """A file or folder among named contents, such as those of an archive.

    It has those methods of `pathlib.Path` with which model folders are read. Paths of files use `/`.
    """

    def __init__(self, contents: Mapping[str, bytes], path: str, name: str = ""):
        """Use the path of the archive for messages; `name` is the path inside of it, empty for the top folder."""
        self._contents, self.path, self._name = contents, path, name

    def __truediv__(self, name: str) -> Member:
        return Member(self._contents, self.path, f"{self._name}/{name}" if self._name else name)

    def __str__(self) -> str:
        return f"{self.path}/{self._name}" if self._name else self.path

    def is_file(self) -> bool:
        """Return whether this is a file."""
        return self._name in self._contents

    def is_dir(self) -> bool:
        """Return whether this is a folder that is not empty."""
        return not self._name or any(name.startswith(f"{self._name}/") for name in self._contents)

    def exists(self) -> bool:
        """Return whether this is a file or a folder."""
        return self.is_file() or self.is_dir()

    def files(self) -> dict[str, Member]:
        """Return all files of the contents, by name."""
        return {name: Member(self._contents, self.path, name) for name in self._contents}

    def read_bytes(self) -> bytes:
        """Return the content of a file. Raises InputError if it is damaged, FileNotFoundError if there is none."""
        if not self.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        return self._contents[self._name]


def open_regular(path: str | os.PathLike | Member) -> BinaryIO:
    """Open a file for reading."""
    return io.BytesIO(path.read_bytes()) if isinstance(path, Member) else open(path, "rb")


def is_there(path: str | os.PathLike | Member) -> bool:
    """Return whether a name is taken, also by a link to nothing."""
    return path.exists() if isinstance(path, Member) else os.path.lexists(path)


def read_regular(path: str | os.PathLike | Member) -> bytes:
    """Return all bytes of a file."""
    with open_regular(path) as stream:
        return stream.read()
