"""Opening files."""

from __future__ import annotations

import errno
import io
import os
import sys

import pytest

from oracle.streams import open_input, open_output


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
