"""Names of files that lead nowhere, in a circle or to what has no end, or that do things to a terminal."""

from __future__ import annotations

import os

import click
import pytest

from oracle.errors import InputError
from rnng_dy.cli import COMMANDS, errors_reported, load_command
from rnng_dy.cli.paths import PathName

from .commands import IN_SHELL, SHELL, refused, run
from .rnng_dy.conftest import trees, write_untrained  # noqa: F401


@pytest.fixture(scope="module")
def data(trees, tmp_path_factory):  # noqa: F811
    """A folder with untrained models, oracles, trees and samples, and with names that lead nowhere."""
    folder = tmp_path_factory.mktemp("data")
    write_untrained(folder, trees)
    (folder / "loop").symlink_to("other")
    (folder / "other").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    return folder


READING = [
    "prepare --from trees {}",
    "prepare --from ptb {}",
    "oracle --train {} some.trees",
    "evalb some.trees {}",
    "tag {} --jackknife 2",
    "clusters {}",
    "parse --model parser {}",
    "sample --model parser {}",
    "score --model generator {}",
    "rerank {} some.trees",
    "surprisal --model generator {}",
    "perplexity {} --model generator",
    "suite {} --model generator",
    "show {}",
    "evalb some.trees {} some.trees",
    "train generative --train {} --dev some.gen.oracle --model new",
    "train generative --train some.gen.oracle --dev {} --model new",
    "train generative --trees {} --hold-out 0.5 --model new",
    "train discriminative --train some.oracle --dev some.oracle --dev-trees some.trees --pretrained {} --model new",
    "train generative --train some.gen.oracle --dev some.gen.oracle --init {} --model new",
    "import-clab discriminative {} --train-oracle some.oracle --model new",
    "import-clab generative some.trees --train-oracle some.gen.oracle --clusters {} --model new",
    "models show {}",
    "generate --model {}",
    "reproduce trees {} some.trees some.trees -o new",
    "parse --model parser some.oracle --jobs {}",
]  # fmt: skip


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("name", ["loop", "/dev/fd/9999"])
def test_an_input_that_leads_nowhere_is_refused_by_name(data, command, name):
    said = refused(data, *(word.format(name) for word in command.split()))
    assert name in said
    assert not (data / "new").exists()


WRITING = [
    "prepare --from trees some.trees -o {}",
    "oracle --train some.trees some.trees -o {}",
    "parse --model parser some.oracle -o {}",
    "score --model generator some.trees -o {}",
    "surprisal --model generator some.gen.oracle --beam 2 --fast-track 1 --word-beam 1 -o {}",
]


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("name", ["/dev/fd/9999", "loop/out"])
def test_an_output_that_leads_nowhere_is_refused_by_name(data, command, name):
    refused(data, *(word.format(name) for word in command.split()))


def test_a_pipe_is_read_as_the_file_would_be(data):
    (data / "some.props").write_text("0 ||| -1 ||| (S Go)\n" * 50)
    for file in ("some.trees", "some.props"):
        for command in ("score --model generator", "show"):
            straight, piped = (
                run(data, f"{IN_SHELL} {command} {name}", command=SHELL, text=False)
                for name in (file, f"<(cat {file})")
            )
            assert straight.stdout and straight.stdout == piped.stdout


def names_of(command: click.Command):
    """The parameters of a command, or of those in a group, that are names of files."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from names_of(inner)
    else:
        yield from ((command, p) for p in command.params if isinstance(p.type, PathName))


def test_no_command_takes_an_empty_name():
    found = [pair for name in COMMANDS for pair in names_of(load_command(name))]
    assert len(found) > 60
    for command, parameter in found:
        with pytest.raises(click.BadParameter, match="empty name"):
            parameter.type.convert("", parameter, click.Context(command))


NASTY = "\x1b[2J\x1b]0;title\x07\r\x85\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ("evalb", "some.trees", f"some.trees{NASTY}"),
        (f"evalb{NASTY}",),
        ("parse", "--model", NASTY, "some.oracle"),
        ("parse", "--model", "parser", "some.oracle", "--jobs", NASTY),
    ],
)
def test_control_characters_of_a_name_do_nothing_to_a_terminal(data, arguments):
    said = refused(data, *arguments)
    assert "Error: " in said and not set(NASTY) & set(said) - set("[2J]0;title")


@pytest.mark.parametrize(
    "error", [InputError("a", NASTY), OSError(2, "gone", NASTY), KeyboardInterrupt(NASTY)]
)
def test_whatever_ends_a_command_is_told_without_control_characters(error, capsys):
    with pytest.raises(SystemExit), errors_reported():
        raise error
    assert "\\x1b[2J" in (said := capsys.readouterr().err) and "\x1b" not in said


def test_a_library_that_cannot_be_loaded_is_told_in_a_sentence(capsys):
    with pytest.raises(SystemExit) as caught, errors_reported():
        raise ImportError("\n\nIMPORTANT: PLEASE READ THIS\n\nlibx.so: failed to map segment\n")
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("Error: libx.so: failed to map segment: ") and "ulimit -v" in said
