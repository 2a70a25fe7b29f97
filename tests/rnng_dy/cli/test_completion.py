"""Completion in shells, by click's protocol."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.commands import PYTHON, run

PROGRAM = """
import sys
from rnng_dy.__main__ import main
sys.argv = ["rnng-dy"]
try:
    main()
finally:
    assert not {loaded} & set(sys.modules), "loaded"
"""
NEVER, NOT_FOR_COMMANDS = {"dynet", "nltk"}, {"dynet", "nltk", "numpy"}


def asked(loaded, **variables):
    """What the program answers a shell that asks by variables."""
    program = PROGRAM.format(loaded=loaded)
    return run(None, program, command=PYTHON, env=os.environ | variables)


def complete(line, loaded=NEVER):
    """What bash is given for a line with its cursor at the end: type and value of each completion."""
    words = line.split(" ")
    cursor = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = asked(loaded, _RNNG_DY_COMPLETE="bash_complete", **cursor)
    assert done.stderr == ""
    return [tuple(row.split(",", 1)) for row in done.stdout.split("\n") if row]


def plain(line, loaded=NEVER):
    return [value for kind, value in complete(line, loaded) if kind == "plain"]


def test_commands_are_completed_without_loading_any():
    assert plain("rnng-dy par", NOT_FOR_COMMANDS) == ["parse"]
    assert {"train", "parse", "plot", "doctor"} <= set(plain("rnng-dy ", NOT_FOR_COMMANDS))
    assert "--version" in plain("rnng-dy --", NOT_FOR_COMMANDS)


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("rnng-dy train gen", ["generative"]),
        ("rnng-dy parse --mod", ["--model"]),
        ("rnng-dy evalb a b --format t", ["table"]),
        ("rnng-dy generate --device c", ["cpu", "cuda"]),
        (
            "rnng-dy train generative --composition ",
            ["corrected", "buggy", "gated-attention"],
        ),
        ("rnng-dy train discriminative --state no-b", ["no-buffer"]),
        ("rnng-dy reproduce nltk --stages data,tr", ["data,train"]),
        (
            "rnng-dy reproduce nltk --systems buggy,corrected/st",
            ["buggy,corrected/stack", "buggy,corrected/stack/in-order"],
        ),
        ("rnng-dy suite garden-path-npz --model m filler", ["filler-gap"]),
        ("rnng-dy clusters show --wor", ["--words"]),
        ("rnng-dy pars --mo", []),
    ],
)
def test_what_can_follow(line, completions):
    assert plain(line) == completions


@pytest.mark.parametrize(
    ("line", "completion"),
    [
        ("rnng-dy parse --model pa", ("file", "pa")),
        ("rnng-dy train generative --model pa", ("dir", "pa")),
        ("rnng-dy export pa", ("file", "pa")),
        ("rnng-dy parse --model m sen", ("file", "sen")),
        ("rnng-dy score --model m -o out", ("file", "out")),
        ("rnng-dy plot pa", ("dir", "pa")),
        ("rnng-dy reproduce ptb --treebank /", ("dir", "/")),
        ("rnng-dy evalb a b --params coll", ("file", "coll")),
    ],
)
def test_files_and_folders_are_left_to_the_shell(line, completion):
    assert complete(line)[0] == completion


@pytest.mark.parametrize(("shell", "checks"), [("bash", "bash -n"), ("zsh", ""), ("fish", "")])
def test_the_script_for_a_shell(shell, checks, tmp_path):
    done = asked(NOT_FOR_COMMANDS, _RNNG_DY_COMPLETE=f"{shell}_source")
    assert "rnng-dy" in done.stdout
    if checks and shutil.which(shell):
        script = tmp_path / "completion"
        script.write_text(done.stdout)
        run(None, script, command=checks.split())
