"""Archives of .gz and .xz that are unusual, damaged or far larger than they seem, and their true content."""

from __future__ import annotations

import gzip
import lzma
import zlib
from functools import cache
from random import Random

from scripts.torture.mutations import NASTY, Mutation, cut_out, cut_short, empty, flip_bits

ENDINGS = (".gz", ".xz")
PADDINGS = (0, 4, 4, 64, 4096, 100_000)
BOMB = 300_000_000
"""Unpacked bytes of a bomb, which itself has some kilobytes."""


def pack(content: bytes, ending: str) -> bytes:
    """Return an archive of one stream."""
    return lzma.compress(content) if ending == ".xz" else gzip.compress(content, mtime=0)


def truth(archive: bytes, ending: str) -> bytes | None:
    """Return the whole content of an archive; None if it, or a part of it, is no archive."""
    try:
        return (_unxz if ending == ".xz" else gzip.decompress)(archive) if archive else None
    except (EOFError, OSError, lzma.LZMAError, zlib.error):
        return None


def _unxz(archive: bytes) -> bytes:
    found = []
    while archive:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        found.append(stream.decompress(archive))
        if not stream.eof:
            raise EOFError
        archive = stream.unused_data.lstrip(b"\0")
        if (len(stream.unused_data) - len(archive)) % 4:
            raise lzma.LZMAError
    return b"".join(found)


def _ending(archive: bytes) -> str:
    return ".gz" if archive.startswith(b"\x1f\x8b") else ".xz"


def _streams(random: Random, archive: bytes) -> list[bytes]:
    """Return the content in two to four archives."""
    lines = (truth(archive, _ending(archive)) or b"").splitlines(keepends=True)
    cuts = sorted(random.randint(0, len(lines)) for _ in range(random.randint(1, 3)))
    parts = zip([0, *cuts], [*cuts, len(lines)], strict=True)
    return [pack(b"".join(lines[begin:end]), _ending(archive)) for begin, end in parts]


def several_streams(random: Random, archive: bytes) -> bytes:
    """Return streams in a row, with padding between them and at the end: a sound archive."""
    return b"".join(s + b"\0" * random.choice(PADDINGS) for s in _streams(random, archive))


def damaged_later_stream(random: Random, archive: bytes) -> bytes:
    """Return a sound first stream and a damaged later one."""
    first, *others = _streams(random, archive)
    i = random.randrange(len(others))
    others[i] = random.choice([flip_bits, cut_short, cut_out])(random, others[i])
    padding = b"\0" * random.choice(PADDINGS)
    return first + padding + b"".join(others)


def odd_padding(random: Random, archive: bytes) -> bytes:
    """Return a stream followed by a number of zeros that .xz does not allow."""
    return archive + b"\0" * random.choice([1, 2, 3, 5, 1023])


def something_behind(random: Random, archive: bytes) -> bytes:
    """Return a stream followed by something that is no stream."""
    return archive + random.choice([b"", b"\0\0\0\0"]) + random.choice(NASTY)


def bomb(random: Random, archive: bytes) -> bytes:
    """Return some kilobytes that unpack to hundreds of megabytes, alone or after the content."""
    # lines that pack less well could form a sound archive, which would be read to its end
    line = random.choice([b"\0", b"\n", b"a\n", b"("])
    packed = _bomb(line, _ending(archive))
    return packed if random.random() < 0.5 else archive + packed


@cache
def _bomb(line: bytes, ending: str) -> bytes:
    """Return repeated streams of the same megabyte, which pack fast."""
    part = pack(line * (1_000_000 // len(line)), ending)
    return part * (BOMB // 1_000_000)


PACKED: list[Mutation] = [
    *[several_streams] * 3,
    *[damaged_later_stream] * 3,
    *(odd_padding, something_behind, bomb, flip_bits, cut_short, cut_out, empty),
]
