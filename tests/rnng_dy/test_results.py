"""The results of a long job are kept beside its output until that is made."""

import os
from pathlib import Path

import pytest

from oracle.common.errors import RnngError
from rnng_dy.checkpoint import content_hash
from rnng_dy.cli.job import Results
from rnng_dy.parallel import Workers
from tests.commands import invoke

from .conftest import make_parser

WORD = "caf\udce9"
"""A word whose bytes are not UTF-8."""


@pytest.fixture
def folder(here, sentences):
    make_parser(sentences, tags=False).save("parser")
    Path("in.txt").write_text("the dog ran .\na cat sat .\n" * 200)
    return here


def kept(output, key="key"):
    return Results(str(output), key)


def test_items_are_kept_with_all_their_lines(tmp_path):
    first = kept(tmp_path / "out")
    first.write([["a"], []])
    first.write([["b", WORD]])
    first.close()
    again = kept(tmp_path / "out")
    assert (again.batches, again.items) == (2, 3)
    again.write([["last"]])
    assert list(again.lines()) == ["a", "b", WORD, "last"]
    again.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_half_written_batch_is_made_again(tmp_path, cut):
    first = kept(tmp_path / "out")
    first.write([["whole"]])
    first.write([["half"]])
    first.close()
    os.truncate(first.part, first.part.stat().st_size - cut)
    assert kept(tmp_path / "out").batches == 1


@pytest.mark.parametrize("damage", [b"(S (NP b))", b'["(S (NP b))"]', b"\0\xff", b"\n"])
@pytest.mark.parametrize("name", ["out.part", "out.part.key"])
def test_what_its_checksum_does_not_match_is_made_again_with_all_after_it(tmp_path, name, damage):
    first = kept(tmp_path / "out")
    for tree in "abc":
        first.write([[f"(S (VP {tree}))"]])
    first.close()
    lines = (tmp_path / name).read_bytes().splitlines(keepends=True)
    # the key has a line more, the first
    lines[-2] = damage + b"\n"
    (tmp_path / name).write_bytes(b"".join(lines))
    again = kept(tmp_path / "out")
    assert (again.batches, again.items) == (1, 1)
    for tree in "bc":
        again.write([[f"(S (VP {tree}))"]])
    assert [*again.lines()] == [f"(S (VP {tree}))" for tree in "abc"]
    again.close()
    assert kept(tmp_path / "out").batches == 3


def test_a_part_without_its_key_is_the_users_own_file(tmp_path):
    (tmp_path / "out.part").write_text("mine")
    says = r"out\.part is no result of this command, since out\.part\.key"
    with pytest.raises(RnngError, match=says):
        kept(tmp_path / "out")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_the_results_of_another_job_are_not_resumed(tmp_path):
    first = kept(tmp_path / "out")
    first.write([["a"]])
    first.close()
    other = kept(tmp_path / "out", key="other")
    assert (other.batches, other.is_another) == (0, True)
    assert list(other.lines()) == []


def test_a_job_that_was_killed_before_its_first_batch_is_no_other(tmp_path):
    killed = kept(tmp_path / "out")
    assert not kept(tmp_path / "out").is_another
    killed.close()


def test_results_of_nothing_are_not_kept(tmp_path):
    kept(tmp_path / "out").close()
    assert os.listdir(tmp_path) == []


def test_hashes_see_options_files_and_arrays(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    different = [content_hash(part) for part in (1, "1", tmp_path / "a", tmp_path / "b")]
    assert len(set(different)) == 4
    assert content_hash(tmp_path / "a") == different[2]


@pytest.mark.parametrize("batches", [1, 4, 13])
def test_a_stopped_command_continues_with_the_next_batch(folder, monkeypatch, batches):
    arguments = ("sample", "--model", "parser", "in.txt", "--samples", 2, "-o", "out")
    invoke(*arguments)
    whole = Path("out").read_bytes()
    written = []

    def stopped(self, batch):
        write(self, batch)
        written.append(len(batch))
        if len(written) == batches:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        write = Results.write
        patch.setattr(Results, "write", stopped)
        said = invoke(*arguments, code=130).stderr
    assert "the same command continues with " in said
    assert Path("out.part").read_text().count("\n") == batches
    asked = []

    def counted(self, function, batches):
        return mapped(self, function, (asked.extend(batch) or batch for batch in batches))

    mapped = Workers.map
    monkeypatch.setattr(Workers, "map", counted)
    invoke(*arguments)
    assert Path("out").read_bytes() == whole
    assert len(asked) == 400 - sum(written)
    assert sorted(os.listdir()) == ["in.txt", "out", "parser"]


def test_what_is_read_from_a_pipe_cannot_be_resumed(folder):
    arguments = ("parse", "--model", "parser", "-", "-o", "out")
    for name in ("out.part", "out.part.key"):
        Path(name).write_text('["(S (XX old))"]\n')
    invoke(*arguments, input="the dog ran .\n")
    assert "old" not in Path("out").read_text() and "old" in Path("out.part").read_text()
