"""Long jobs write where they are told, and lose nothing."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oracle.errors import RnngError
from rnng_dy.cli.progress import Progress
from rnng_dy.execution.outputs import PartialFile, content_hash, write_batches

CHECKOUT = Path(__file__).resolve().parents[3]
BATCHES = [["a", "b"], ["c"], ["d", "e"]]
WHOLE = "a\nb\nc\nd\ne\n"


def run(output, resume=False, key="k", stop_at=None):
    """Write the batches, interrupted where `stop_at` comes; gives the batches that were computed."""
    computed = []

    def lines_of(batches):
        for batch in batches:
            if batch[0] == stop_at:
                raise KeyboardInterrupt
            computed.append(batch)
            yield batch

    write_batches(BATCHES, lines_of, str(output), key, resume, Progress("test", 5))
    return computed


def interrupted(output):
    with pytest.raises(KeyboardInterrupt, match=r"out\.part, --resume continues"):
        run(output, stop_at="d")


def test_a_file_appears_when_it_is_complete(tmp_path):
    run(tmp_path / "out")
    assert (tmp_path / "out").read_text() == WHOLE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_interrupted_job_goes_on_where_it_was(tmp_path):
    interrupted(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run(tmp_path / "out", resume=True) == [["d", "e"]]
    assert (tmp_path / "out").read_text() == WHOLE


def test_a_batch_that_was_cut_is_done_again(tmp_path):
    interrupted(tmp_path / "out")
    (tmp_path / "out.part").write_text("a\nb\nhalf")
    assert run(tmp_path / "out", resume=True) == [["c"], ["d", "e"]]
    assert (tmp_path / "out").read_text() == WHOLE


def damages(content):
    """Contents that differ: a byte, a line or the end that is another, missing, twice or elsewhere."""
    for i, byte in enumerate(content):
        for other in (byte ^ 1, ord("\n")):
            yield content[:i] + bytes([other]) + content[i + 1 :]
        yield content[:i] + content[i + 1 :]
        yield content[:i]
    lines = content.splitlines(keepends=True)
    for i, line in enumerate(lines):
        yield b"".join(lines[:i] + lines[i + 1 :])
        for j in range(len(lines)):
            yield b"".join([*lines[:j], line, *lines[j:]])
            yield b"".join([*lines[:j], b"1\n", *lines[j:]])
    yield content + b"\n\n1\n99999\n\xff\xfe\n"


@pytest.mark.parametrize(
    ("name", "done"), [("out.part", {0, 3, 4, 5}), ("out.part.key", {0, 1, 2, 3, 4, 5})]
)
def test_whatever_is_damaged_what_is_before_it_is_gone_on_with(tmp_path, name, done):
    batches = [["a", "b"], [], [], ["ä\rc", "\udcff"], ["d"], ["last"]]
    file = PartialFile(str(tmp_path / "out"), "k", False)
    for batch in batches[:-1]:
        file.write(batch)
    whole = "".join(f"{x}\n" for batch in batches for x in batch)
    sound = {p: p.read_bytes() for p in tmp_path.iterdir()}
    kept = set()
    for damaged in {*damages((tmp_path / name).read_bytes())}:
        for path, content in sound.items():
            path.write_bytes(damaged if path.name == name else content)
        file = PartialFile(str(tmp_path / "out"), "k", True)
        kept.add(file.done)
        for batch in batches[file.done :]:
            file.write(batch)
        file.finish()
        assert (tmp_path / "out").read_bytes() == whole.encode("utf-8", "surrogateescape")
    assert kept == done


def test_the_part_of_another_job_is_not_read(tmp_path):
    """Whatever its size: this one is larger than the memory."""
    with open(tmp_path / "out.part", "wb") as stream:
        stream.truncate(1 << 42)
    run(tmp_path / "out", resume=True)
    assert (tmp_path / "out").read_text() == WHOLE


def test_the_part_of_another_job_is_not_gone_on_with(tmp_path, capsys):
    interrupted(tmp_path / "out")
    assert len(run(tmp_path / "out", resume=True, key="other")) == 3
    assert (tmp_path / "out").read_text() == WHOLE
    assert (
        "out.part is not of this model, input and options, or damaged: " in capsys.readouterr().err
    )
    # nor is there anything to say where nothing was done
    run(tmp_path / "other", resume=True)
    assert "damaged" not in capsys.readouterr().err


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    run(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == WHOLE


def test_a_device_is_written_to_and_not_replaced(capfd):
    run("/dev/null")
    assert Path("/dev/null").is_char_device()
    run("-")
    assert capfd.readouterr().out == WHOLE


def test_a_folder_is_refused_before_any_work(tmp_path):
    with pytest.raises(RnngError, match="folder"):
        run(tmp_path)


def test_hashes_see_options_files_and_arrays(tmp_path):
    (tmp_path / "f").write_text("x")
    first = content_hash(1, tmp_path / "f")
    assert first == content_hash(1, tmp_path / "f") != content_hash(2, tmp_path / "f")
    (tmp_path / "f").write_text("y")
    assert content_hash(1, tmp_path / "f") != first
    # long arrays too, whose repr leaves out the middle
    ones = np.ones(5000)
    assert content_hash(ones) != content_hash(np.where(np.arange(5000) == 2500, 2, ones))


def test_the_output_is_packed_where_its_name_says(tmp_path):
    output = tmp_path / "out.gz"
    with pytest.raises(KeyboardInterrupt):
        run(output, stop_at="c")
    assert run(output, resume=True) == BATCHES[1:]
    assert gzip.decompress(output.read_bytes()).decode() == WHOLE
    assert [path.name for path in tmp_path.iterdir()] == ["out.gz"]


def test_the_part_is_where_the_linked_output_is(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/out")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "link", stop_at="d")
    assert sorted(p.name for p in (tmp_path / "far").iterdir()) == ["out.part", "out.part.key"]
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == []


def test_two_jobs_with_one_output_do_not_mix(tmp_path):
    """The second one, of another process, begins while the first is in its work."""
    second = (
        "import sys\n"
        "from oracle.errors import RnngError\n"
        "from tests.rnng_dy.execution.test_outputs import run\n"
        "try:\n    run(sys.argv[1], key='other')\nexcept RnngError as error:\n    sys.exit(str(error))\n"
    )
    command = [sys.executable, "-c", second, str(tmp_path / "out")]

    def lines_of(batches):
        for batch in batches:
            found = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT)
            assert found.returncode == 1
            assert "is being written by another command" in found.stderr
            yield batch

    write_batches(BATCHES[:2], lines_of, str(tmp_path / "out"), "k", False, Progress("test", 3))
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
