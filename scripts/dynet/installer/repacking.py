"""Adds files to a wheel and changes its tag."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

# of entries whose files have no date of their own
DATE = (2020, 1, 1, 0, 0, 0)


def repack(wheel: Path, files: Mapping[str, bytes], tag: str) -> Path:
    """Replace a pure wheel by one of this tag, with more files; return its path."""
    name, version = wheel.name.split("-")[:2]
    new = wheel.with_name(f"{name}-{version}-{tag}.whl")
    written = wheel.with_name(f"{new.name}.part")
    record = []
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(written, "w") as archive:

        def write(entry: zipfile.ZipInfo, data: bytes) -> None:
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            record.append(f"{entry.filename},sha256={digest.decode()},{len(data)}")

        for entry in old.infolist():
            if entry.filename.endswith(".dist-info/RECORD"):
                listing = entry
            elif entry.filename.endswith(".dist-info/WHEEL"):
                write(entry, _retagged(old.read(entry).decode(), tag).encode())
            else:
                write(entry, old.read(entry))
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            write(entry, data)
        archive.writestr(listing, "\n".join([*record, f"{listing.filename},,", ""]))
    wheel.unlink()
    return written.replace(new)


def _retagged(text: str, tag: str) -> str:
    r"""Return the file WHEEL of a wheel that has compiled modules.

    >>> _retagged("Root-Is-Purelib: true\nTag: py3-none-any\n", "cp310-abi3-linux_x86_64")
    'Root-Is-Purelib: false\nTag: cp310-abi3-linux_x86_64\n'
    """
    text = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    return re.sub(r"^Tag: .*$", f"Tag: {tag}", text, flags=re.MULTILINE)
