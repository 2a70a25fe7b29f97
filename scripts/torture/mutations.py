"""Ways to damage a file of text or bytes; each takes a random generator and the content, and returns the result."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from random import Random

Mutation = Callable[[Random, bytes], bytes]

DEEP = 5000
NASTY = [
    *(b"nan", b"inf", b"-inf", b"-1", b"0", b"1e999", b"-1e308", b"1e-320", b"99999999999999999999"),
    *(b"", b"(", b")", b"()", b"((", b"))", b"|||", b"#", b"# (S", b"\t", b"_", b"__", b"a_", b"_B"),
    *(b"NT()", b"NT(", b"SHIFT", b"REDUCE", b"GEN(x)", b"-NONE-", b"-LRB-", b"(-NONE- *)"),
    *("\u2028".encode(), "\u00a0".encode(), "\ufeff".encode(), "\u202e".encode(), "é".encode()),
    *(b"\0", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\x1b[31m", b"\r", b"\x0b", b"\x85"),
    *(b"UNK", b"UNK-LC", b"<s>", b"</s>", b"%s", b"{}", b"../../x", b"-o", b"a" * 100_000),
]  # fmt: skip
NUMBERS = [
    *(b"0", b"-0", b"-1", b"1", b"2", b"1.5", b"nan", b"-inf", b"inf", b"1e308", b"1e999", b"1e-400"),
    *(b"4294967296", b"9223372036854775808", b"-99999999999", b"0x10", b"1_0", "٣".encode(), b"1,5"),
]  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_TOKEN = re.compile(rb"[^\s()]+")


def flip_bits(random: Random, content: bytes) -> bytes:
    """Change one to eight bytes."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 8) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut_short(random: Random, content: bytes) -> bytes:
    """Remove the end."""
    return content[: random.randint(0, len(content))]


def cut_out(random: Random, content: bytes) -> bytes:
    """Remove a piece."""
    begin, end = sorted(random.randint(0, len(content)) for _ in range(2))
    return content[:begin] + content[end:]


def insert(random: Random, content: bytes) -> bytes:
    """Insert something malicious anywhere."""
    at = random.randint(0, len(content))
    return content[:at] + random.choice(NASTY) + content[at:]


def replace_token(random: Random, content: bytes) -> bytes:
    """Replace a word, a tag or a number by something malicious."""
    return _replaced(random, content, _TOKEN, NASTY)


def replace_number(random: Random, content: bytes) -> bytes:
    """Replace a number by another, or by something else."""
    return _replaced(random, content, _NUMBER, NUMBERS)


def _replaced(random: Random, content: bytes, pattern: re.Pattern, values: list[bytes]) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return insert(random, content)
    match = random.choice(found)
    return content[: match.start()] + random.choice(values) + content[match.end() :]


def delete_bracket(random: Random, content: bytes) -> bytes:
    """Remove a bracket."""
    found = [i for i, byte in enumerate(content) if byte in b"()[]{}"]
    if not found:
        return cut_out(random, content)
    at = random.choice(found)
    return content[:at] + content[at + 1 :]


def _on_lines(change: Callable[[Random, list[bytes]], object]) -> Mutation:
    """Return a mutation that changes the list of lines, if there are any."""

    @wraps(change)
    def mutation(random: Random, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        if lines:
            change(random, lines)
        return b"".join(lines)

    return mutation


@_on_lines
def delete_line(random: Random, lines: list[bytes]) -> None:
    """Remove a line."""
    del lines[random.randrange(len(lines))]


@_on_lines
def double_line(random: Random, lines: list[bytes]) -> None:
    """Repeat a line."""
    lines.insert(0, random.choice(lines))


@_on_lines
def swap_lines(random: Random, lines: list[bytes]) -> None:
    """Swap two lines."""
    i, j = (random.randrange(len(lines)) for _ in range(2))
    lines[i], lines[j] = lines[j], lines[i]


@_on_lines
def blank_line(random: Random, lines: list[bytes]) -> None:
    """Insert an empty line, or one of white space, between two others."""
    blank = random.choice([b"\n", b" \n", b"\t\r\n", b"\xc2\xa0\n"])
    lines.insert(random.randint(0, len(lines)), blank)


@_on_lines
def join_lines(random: Random, lines: list[bytes]) -> None:
    """Join two lines."""
    i = random.randrange(len(lines))
    lines[i] = lines[i].rstrip(b"\n")


def nest(random: Random, content: bytes) -> bytes:
    """Replace a line by an extremely deep tree, well formed or not."""
    depth = random.choice([50, 120, 1100, DEEP])
    closed = depth - random.choice([0, 0, 1])
    unary = random.random() < 0.5
    deep = b"(S " * depth if unary else b"(S (DT a) " * depth
    return _in_place_of_a_line(random, content, deep + b"(NN b)" + b")" * closed)


def long_line(random: Random, content: bytes) -> bytes:
    """Make a line of very many words."""
    words = b" ".join([b"dog_NN"] * random.choice([500, 20_000]))
    return _in_place_of_a_line(random, content, words)


def _in_place_of_a_line(random: Random, content: bytes, line: bytes) -> bytes:
    lines = content.splitlines() or [b""]
    i = random.randrange(len(lines))
    # the beginning of a sample or of an oracle's block stays
    begin = re.match(rb"\d+ \|\|\| \S+ \|\|\| |# ", lines[i])
    lines[i] = (begin[0] if begin else b"") + line
    return b"\n".join(lines) + b"\n"


def foreign_line_ends(random: Random, content: bytes) -> bytes:
    """Use line ends of Windows or of old Macs, or add a byte order mark."""
    if random.random() < 0.3:
        return b"\xef\xbb\xbf" + content
    return content.replace(b"\n", random.choice([b"\r\n", b"\r", b"\n\n"]))


def other_encoding(random: Random, content: bytes) -> bytes:
    """Encode the file in UTF-16 or UTF-32."""
    return content.decode("utf-8", "replace").encode(random.choice(["utf-16", "utf-32"]))


def empty(random: Random, content: bytes) -> bytes:
    """Return nothing, or next to nothing."""
    return random.choice([b"", b"\n", b" ", b"\0", b"\n\n\n", b"\0" * 4096])


ANY: list[Mutation] = [flip_bits, cut_short, cut_out, insert, empty]
TEXT: list[Mutation] = [
    *(*ANY, replace_token, replace_token, replace_number, replace_number, delete_bracket),
    *(delete_line, double_line, swap_lines, blank_line, join_lines),
    *(nest, long_line, foreign_line_ends, other_encoding),
]  # fmt: skip
