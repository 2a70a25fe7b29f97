"""Files: lines, encodings, compression, outputs, errors and locks."""

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import threading
from pathlib import Path

import filelock
import pytest

from oracle.common.errors import InputError, RnngError
from oracle.common.files import file_hash, locked, open_text, placed, read_lines, reading, replacing
from tests.commands import PYTHON, invoke, started

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
DECOMPRESS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
TREES = "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))\n(S (NP (DT The) (NN dog)) (VP (VBZ runs)))\n"


def written(path, text):
    with replacing(path) as stream:
        stream.write(text)
    return path


def content_of(path):
    with reading(path), open_text(path) as stream:
        return stream.read()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# text


@pytest.mark.parametrize("ending", ["", *COMPRESS])
def test_lines_end_at_line_feeds_alone_and_bytes_that_are_not_utf8_survive(tmp_path, ending):
    text = "a\r\nb\u2028c\u0085d\x0ce\ncaf\udce9\n"
    path = written(tmp_path / f"file{ending}", text)
    content = DECOMPRESS.get(ending, bytes)(path.read_bytes())
    assert content == text.encode("utf-8", "surrogateescape")
    with open_text(path) as stream:
        assert list(stream) == ["a\r\n", "b\u2028c\u0085d\x0ce\n", "caf\udce9\n"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, encoding):
    path = tmp_path / "file"
    path.write_text("猫 a\nb\n", encoding=encoding)
    given = "utf-8" if encoding == "utf-8-sig" else encoding
    assert list(read_lines(path, given)) == [(1, "猫 a\n"), (2, "b\n")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\nThe caf\xe9\n", ":2: not utf-8 after 'The caf': save it as text"),
        ("a\n".encode("utf-16"), ":1: not utf-8"),
        (b"a b\rc d\r", ":1: lines end in CR alone"),
        ("ab".encode("utf-16-le"), ":1: not utf-8"),
    ],
)
def test_what_is_no_text_in_utf8_is_named_with_its_line(tmp_path, content, reason):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError) as told:
        list(read_lines(path))
    assert str(told.value).startswith(f"{path}{reason}")


def test_a_dash_is_standard_input_and_output(monkeypatch):
    source = io.TextIOWrapper(io.BytesIO("é\u2028\r\n".encode()), encoding="ascii")
    sink = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", source)
    monkeypatch.setattr(sys, "stdout", sink)
    sink.write("before ")
    with open_text("-") as stream, replacing("-") as out:
        out.write(stream.read())
    print("after")
    sys.stdout.flush()
    assert sink.buffer.getvalue() == "before é\u2028\r\nafter\n".encode()
    assert not source.buffer.closed


# compression


@pytest.mark.parametrize("ending", COMPRESS)
def test_the_same_content_gives_the_same_bytes_and_the_same_hash(tmp_path, ending):
    first, second = (written(tmp_path / f"{name}{ending}", TREES) for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert file_hash(first) == file_hash(written(tmp_path / "plain", TREES))


@pytest.mark.parametrize("zeros", [0, 4, 4096, 300_000])
@pytest.mark.parametrize("ending", COMPRESS)
def test_every_stream_is_read_with_padding_between_them_and_at_the_end(tmp_path, ending, zeros):
    path = tmp_path / f"file{ending}"
    streams = [COMPRESS[ending](line.encode()) for line in TREES.splitlines(keepends=True)]
    path.write_bytes(b"".join(stream + b"\0" * zeros for stream in streams))
    assert content_of(path) == TREES


@pytest.mark.parametrize("kept", [-1, -9, 20, 3])
@pytest.mark.parametrize("ending", COMPRESS)
def test_a_compressed_file_that_is_cut_short_is_named(tmp_path, ending, kept):
    path = written(tmp_path / f"file{ending}", TREES)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=f"^{path}:"):
        content_of(path)


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_file_that_is_not_compressed_or_damaged_is_named(tmp_path, ending):
    path = tmp_path / f"file{ending}"
    whole = COMPRESS[ending](TREES.encode())
    damaged = bytearray(whole)
    damaged[-14] ^= 0xFF
    for content in (TREES.encode(), damaged, whole + damaged):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"^{path}:"):
            list(read_lines(path))
        with pytest.raises(InputError, match=f"^{path}:"):
            file_hash(path)


def test_commands_give_the_same_with_compressed_files(tmp_path):
    path, plain = written(tmp_path / "t.trees.gz", TREES), tmp_path / "plain.trees"
    invoke("prepare", "--from", "trees", path, "-o", plain)
    assert plain.read_text() == TREES
    invoke("oracle", "--train", path, path, "-o", tmp_path / "t.oracle.xz")
    assert content_of(tmp_path / "t.oracle.xz") == invoke("oracle", "--train", plain, plain).stdout


# errors


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no number"), "file:7: no number; make it again"),
        (KeyError("words"), "file:7: KeyError: 'words'; make it again"),
        (RecursionError("deep"), "file:7: deep; make it again"),
        (NotImplementedError("odd"), "file:7: odd; make it again"),
        (InputError("known", "other", 3), "other:3: known"),
    ],
)
def test_whatever_a_reader_raises_has_file_line_and_reason(error, message):
    with pytest.raises(InputError) as told, reading("file", remedy="make it again") as location:
        location.line = 7
        raise error
    assert str(told.value) == message


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "none"), MemoryError()])
def test_what_is_no_content_of_a_file_passes(error):
    with pytest.raises(type(error)), reading("file"):
        raise error


# outputs


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_an_output_that_is_not_completed_changes_nothing(tmp_path, name, interruption):
    path = written(tmp_path / name, "before")
    with pytest.raises(interruption), replacing(path) as stream:
        stream.write("half")
        raise interruption
    assert content_of(path) == "before"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("within", [placed, reading])
def test_an_error_that_has_a_file_gets_no_other(within):
    with pytest.raises(InputError, match=r"^words\.txt:2: no number$"), within("train.trees"):
        raise InputError("no number", "words.txt", 2)


def test_a_file_can_be_replaced_while_it_is_read(tmp_path):
    path = written(tmp_path / "file", "a\nb\n")
    with open_text(path) as source, replacing(path) as stream:
        stream.writelines(reversed(list(source)))
    assert content_of(path) == "b\na\n"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("file")
    written(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


@pytest.mark.parametrize(
    ("name", "number"),
    [("none/file", errno.ENOENT), ("folder", errno.EISDIR), ("/dev/full", errno.ENOSPC)],
)
def test_an_output_that_cannot_be_is_an_error_with_its_name(tmp_path, name, number):
    if name == "/dev/full" and not os.path.exists(name):
        pytest.skip("no /dev/full on this system")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as told:
        written(tmp_path / name, "text")
    assert (told.value.errno, told.value.filename) == (number, str(tmp_path / name))


def test_an_output_in_a_folder_without_the_right_to_write_is_an_error_before_the_work(
    tmp_path, monkeypatch
):
    def refuse(*arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", "a lock")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    # a file system without locks
    with locked(tmp_path / "out"):
        pass
    folder = tmp_path / "model"
    folder.mkdir()
    monkeypatch.setattr("os.access", lambda path, right: Path(path) == folder)
    with locked(folder):
        pass
    with pytest.raises(PermissionError) as told, locked(tmp_path / "out"):
        pass
    assert told.value.filename == str(tmp_path / "out")


# locks

HOLD = """
import sys
from oracle.common.files import locked
with locked(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def writer(tmp_path):
    """A process that holds the lock of tmp_path/out."""
    with started(*PYTHON, HOLD, tmp_path / "out", stdin=-1, stdout=-1) as process:
        assert process.stdout.readline() == b"open\n"
        yield process


def test_the_second_writer_of_an_output_is_refused(tmp_path, writer):
    (tmp_path / "link").symlink_to("out")
    for name in ("out", "link"):
        says = f"^{tmp_path / name} is being written"
        with pytest.raises(RnngError, match=says), locked(tmp_path / name):
            pass
    writer.communicate(b"\n")
    assert names(tmp_path) == ["link"]


def test_a_killed_writer_is_no_hindrance(tmp_path, writer):
    writer.kill()
    writer.wait()
    with locked(tmp_path / "out"):
        pass
    assert names(tmp_path) == []


def test_blocks_nest_but_not_across_threads(tmp_path):
    refused = []

    def other():
        try:
            with locked(tmp_path / "out"):
                pass
        except RnngError as error:
            refused.append(error)

    with locked(tmp_path / "out"), locked(f"{tmp_path}/./out"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1
    other()
    assert len(refused) == 1


def test_a_file_that_cannot_be_read_further_is_named_in_place_of_the_output():
    with pytest.raises(OSError) as caught, reading("in.txt"):
        raise OSError(errno.EIO, "Input/output error")
    assert caught.value.filename == "in.txt"
