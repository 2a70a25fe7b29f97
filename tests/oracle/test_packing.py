"""Packed files: what they hold is read and written, whatever opens them."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os

import pytest

from oracle import packing
from oracle.brackets import read_trees
from oracle.corpora import PennTreebank
from oracle.errors import InputError
from oracle.packing import UNCHECKED, unpacked
from oracle.streams import file_hash, open_input, open_output, read_lines
from tests.commands import invoke

UNPACK = {".gz": gzip.decompress, ".xz": lzma.decompress}
TREES = "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))\n(S (NP (DT The) (NN dog)) (VP (VBZ runs)))\n"


@pytest.fixture(params=UNPACK)
def ending(request):
    return request.param


@pytest.fixture
def path(tmp_path, ending):
    """A packed file of two trees."""
    path = tmp_path / f"two.trees{ending}"
    with open_output(path) as stream:
        stream.write(TREES)
    return path


def test_what_is_written_is_packed_as_its_name_says(path, ending):
    assert UNPACK[ending](path.read_bytes()).decode() == TREES


def test_what_is_written_is_read_again(path):
    with open_input(path) as stream:
        assert stream.read() == TREES


def test_bytes_that_are_not_utf8_survive(tmp_path, ending):
    path, text = tmp_path / f"x{ending}", "caf\udce9\r\n"
    with open_output(path) as stream:
        stream.write(text)
    with open_input(path) as stream:
        assert list(stream) == [text]


def test_the_same_content_gives_the_same_bytes(path, tmp_path, ending):
    again = tmp_path / f"other{ending}"
    with open_output(again) as stream:
        stream.writelines(TREES.splitlines(keepends=True))
    assert again.read_bytes() == path.read_bytes()


def test_a_hash_is_that_of_the_content(path, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text(TREES)
    assert file_hash(path) == file_hash(plain)


@pytest.mark.parametrize("kept", [-1, -9, 20, 3, 1])
def test_a_file_that_is_cut_short_is_named(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=f"^{path}: .* damaged or cut short"):
        list(read_trees(path))


def test_a_file_that_is_damaged_is_named(path):
    content = bytearray(path.read_bytes())
    content[-14] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}: .* damaged"):
        list(read_trees(path))


def test_a_file_that_is_not_packed_is_named(path):
    path.write_text(TREES)
    with pytest.raises(InputError, match=f"^{path}: no .z file, .* another name"):
        list(read_trees(path))


def test_an_output_that_is_not_completed_changes_nothing(path):
    before = path.read_bytes()
    with pytest.raises(ValueError), open_output(path) as stream:
        stream.write("half")
        raise ValueError
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_folders_of_packed_treebank_files_are_read(tmp_path, ending):
    for name in ("wsj_0001.mrg", "wsj_0001.pos"):
        with open_output(tmp_path / f"{name}{ending}") as stream:
            stream.write(TREES)
    assert len(list(PennTreebank().read([tmp_path], "0"))) == 2


def test_commands_give_the_same_with_packed_files(path, tmp_path, ending):
    plain, oracle = tmp_path / "plain.trees", tmp_path / f"two.oracle{ending}"
    assert invoke("prepare", "--from", "trees", path).stdout == TREES
    invoke("prepare", "--from", "trees", path, "-o", plain)
    invoke("oracle", "--train", path, path, "-o", oracle)
    text = UNPACK[ending](oracle.read_bytes()).decode()
    assert text == invoke("oracle", "--train", plain, plain).stdout
    assert (
        invoke("clusters", oracle).stdout == invoke("clusters", plain, "--format", "trees").stdout
    )
    assert invoke("evalb", path, plain).stdout == invoke("evalb", plain, plain).stdout
    tagged = tmp_path / f"tagged.trees{ending}"
    invoke("tag", path, "--train", plain, "-o", tagged)
    assert invoke("evalb", tagged, plain).stdout == invoke("evalb", plain, plain).stdout


# archives as other programs make them

PACK = {".gz": gzip.compress, ".xz": lzma.compress}
LINES = TREES.splitlines(keepends=True)


def content_of(path):
    with open_input(path) as stream:
        return stream.read()


@pytest.mark.parametrize("zeros", [0, 4, 4096, 300_000])
def test_every_stream_is_read_with_padding_between_them_and_at_the_end(path, ending, zeros):
    streams = [PACK[ending](line.encode()) for line in LINES]
    path.write_bytes(b"".join(stream + b"\0" * zeros for stream in streams))
    assert content_of(path) == TREES
    assert file_hash(path) == hashlib.sha256(TREES.encode()).hexdigest()


@pytest.mark.parametrize("block", [1, 100, 65536])
def test_an_archive_is_read_from_a_pipe_in_parts_of_any_size(path, block):
    content = path.read_bytes()

    class Slow(io.RawIOBase):
        at = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            part = content[self.at : self.at + min(len(buffer), block)]
            buffer[: len(part)] = part
            self.at += len(part)
            return len(part)

    assert unpacked(io.BufferedReader(Slow()), path).read() == TREES.encode()


@pytest.mark.parametrize("place", [-1, -5, -12, 1, 7, 20])
def test_a_second_stream_that_is_damaged_is_an_error(path, ending, place):
    first, second = (PACK[ending](line.encode()) for line in LINES)
    damaged = bytearray(second)
    damaged[place] ^= 0xFF
    path.write_bytes(first + damaged)
    # the name, the time and the system of a gzip member are no part of what it holds
    if ending == ".gz" and place == 7:
        assert content_of(path) == TREES
        return
    with pytest.raises(InputError, match=f"^{path}: .* damaged or cut short"):
        content_of(path)


@pytest.mark.parametrize("rest", [b"x", b"(S (NN a))\n", b"\0\0\0\0x", b"\xfd7zXZ\0", b"\x1f\x8b"])
def test_what_follows_a_stream_and_is_none_is_an_error(path, rest):
    path.write_bytes(path.read_bytes() + rest)
    with pytest.raises(InputError, match=f"^{path}: .* damaged or cut short"):
        content_of(path)


@pytest.mark.parametrize("zeros", [1, 2, 3, 5])
def test_padding_of_an_xz_is_of_four_bytes_each(tmp_path, zeros):
    path = tmp_path / "x.xz"
    path.write_bytes(lzma.compress(b"a\n") + b"\0" * zeros)
    with pytest.raises(InputError, match="padding"):
        content_of(path)


def test_an_empty_file_is_no_archive(path):
    path.write_bytes(b"")
    with pytest.raises(InputError, match=f"^{path}: no .z file"):
        content_of(path)


def test_an_archive_that_unpacks_to_far_more_than_text_does_is_refused(tmp_path, ending):
    path = tmp_path / f"bomb{ending}"
    path.write_bytes(PACK[ending](b"a\n" * (UNCHECKED // 2 + 1000)))
    with pytest.raises(InputError, match=f"^{path}: .* unpack it"):
        list(read_lines(path))
    with pytest.raises(InputError, match="unpack it"):
        file_hash(path)


def test_a_large_archive_of_text_is_read(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(packing, "UNCHECKED", 10)
    path = tmp_path / f"large{ending}"
    text = "".join(f"{n}\n" for n in range(10_000))
    path.write_bytes(PACK[ending](text.encode()))
    assert content_of(path) == text
