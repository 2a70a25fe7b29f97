"""Packed files: what they hold is read and written, whatever opens them."""

from __future__ import annotations

import gzip
import lzma
import os

import pytest
from click.testing import CliRunner

from oracle.errors import InputError
from oracle.streams import file_hash, open_input, open_output
from oracle.treebank import read_ptb, read_trees
from rnng_dy.cli import main

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


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


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
    assert len(list(read_ptb([tmp_path], "0"))) == 2


def test_commands_give_the_same_with_packed_files(path, tmp_path, ending):
    plain, oracle = tmp_path / "plain.trees", tmp_path / f"two.oracle{ending}"
    assert run("prepare", "--from", "trees", path) == TREES
    run("prepare", "--from", "trees", path, "-o", plain)
    run("oracle", "--train", path, path, "-o", oracle)
    text = UNPACK[ending](oracle.read_bytes()).decode()
    assert text == run("oracle", "--train", plain, plain)
    assert run("clusters", oracle) == run("clusters", plain, "--format", "trees")
    assert run("evalb", path, plain) == run("evalb", plain, plain)
    tagged = tmp_path / f"tagged.trees{ending}"
    run("tag", path, "--train", plain, "-o", tagged)
    assert run("evalb", tagged, plain) == run("evalb", plain, plain)
