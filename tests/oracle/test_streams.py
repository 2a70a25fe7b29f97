"""Opening files."""

from __future__ import annotations

import errno
import io
import os
import sys

import pytest

from oracle import byte_streams
from oracle.errors import InputError
from oracle.regular_files import open_regular
from oracle.streams import from_json, open_input, open_output, read_lines


def test_lines_end_at_line_feeds_alone(tmp_path):
    path = tmp_path / "file"
    text = "a\r\nb\u2028c\u0085d\x0ce\n"
    with open_output(path) as stream:
        stream.write(text)
    assert path.read_bytes() == text.encode()
    with open_input(path) as stream:
        assert list(stream) == ["a\r\n", "b\u2028c\u0085d\x0ce\n"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
def test_an_output_that_is_not_completed_changes_nothing(tmp_path, interruption):
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(interruption), open_output(path) as stream:
        stream.write("half")
        raise interruption
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_can_be_replaced_while_it_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_text("a\nb\n")
    with open_input(path) as source, open_output(path) as stream:
        stream.writelines(reversed(list(source)))
    assert path.read_text() == "b\na\n"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("file")
    with open_output(tmp_path / "link") as stream:
        stream.write("text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with open_output(path) as stream:
            stream.write("text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert path.is_fifo()


@pytest.mark.parametrize(
    ("name", "number"), [("none/file", errno.ENOENT), ("folder", errno.EISDIR)]
)
def test_an_output_that_cannot_be_is_an_error_with_its_name(tmp_path, name, number):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as caught, open_output(tmp_path / name):
        pass
    assert caught.value.errno == number
    assert caught.value.filename == str(tmp_path / name)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error_with_its_name():
    with pytest.raises(OSError) as caught, open_output("/dev/full") as stream:
        stream.write("text")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_a_dash_is_standard_input_and_output(monkeypatch):
    source = io.TextIOWrapper(io.BytesIO("é\u2028\r\n".encode()), encoding="ascii")
    sink = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", source)
    monkeypatch.setattr(sys, "stdout", sink)
    sink.write("before ")
    with open_input("-") as stream, open_output("-") as out:
        out.write(stream.read())
    print("after")
    sys.stdout.flush()
    assert sink.buffer.getvalue() == "before é\u2028\r\nafter\n".encode()
    assert not source.buffer.closed


# lines without an end, and files that are none


@pytest.fixture
def short_lines(monkeypatch):
    monkeypatch.setattr(byte_streams, "LONGEST_LINE", 1000)


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_longer_than_the_limit_is_refused_and_named(tmp_path, short_lines, end):
    path = tmp_path / "file"
    path.write_text("a\n" + "b" * 1000 + "\nc\n" + "d" * 1001 + end)
    for read in (lambda: list(read_lines(path)), lambda: whole(path)):
        with pytest.raises(InputError, match=f"^{path}:4: a line of more than 1,000 bytes"):
            read()


def test_lines_up_to_the_limit_are_read(tmp_path, short_lines):
    path = tmp_path / "file"
    text = ("b" * 1000 + "\n") * 1000 + "c" * 1000
    path.write_text(text)
    assert whole(path) == text
    assert [number for number, _ in read_lines(path)] == list(range(1, 1002))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_that_gives_zeros_without_an_end_is_refused(device):
    with pytest.raises(InputError, match=f"^{device}:1: a line of more than"):
        whole(device)


def test_lines_of_a_pipe_come_while_it_is_written(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.write(descriptor, b"a\nb")
        with open_input(path) as stream:
            assert stream.readline() == "a\n"
            os.write(descriptor, b"c\n")
            assert stream.readline() == "bc\n"
    finally:
        os.close(descriptor)


def whole(path):
    with open_input(path) as stream:
        return stream.read()


@pytest.mark.parametrize("name", ["pipe", "/dev/zero", "/dev/full", "loop", "folder", "none"])
def test_a_file_that_is_read_as_a_whole_is_a_regular_one(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as caught:
        open_regular(tmp_path / name)
    assert caught.value.filename == os.fspath(tmp_path / name)
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    with open_regular(tmp_path / "link") as stream:
        assert stream.read() == b"content"


@pytest.mark.parametrize(
    "text", [r'"\ud800"', r'{"a": ["\udfff"]}', r'{"\ud83d": 1}', r'"\ude00\ud83d"']
)
def test_half_of_a_character_is_no_json(text):
    for given in (text, text.encode()):
        with pytest.raises(ValueError, match="surrogates not allowed"):
            from_json(given)


def test_characters_in_two_halves_and_bytes_that_are_not_utf8_are_json():
    assert from_json(r'"\ud83d\ude00 \u00e9"') == "\U0001f600 \xe9"
    assert from_json(b'"\\u00e9 x"') == "\xe9 x"
    assert from_json('"caf\udce9 \\u00e9"') == "caf\udce9 \xe9"
