"""Completion in shells, by click's protocol."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests import pages
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
    assert {"train", "parse", "doctor"} <= set(plain("rnng-dy ", NOT_FOR_COMMANDS))
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


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder in which `rnng-dy` is on the path."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / "bin" / "rnng-dy"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom rnng_dy.__main__ import main\nmain()\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(pages.CHECKOUT))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def install(*arguments, code=0):
    return run(None, "completion", "--install", *arguments, command=("rnng-dy",), code=code)


COMPLETED = {
    "bash": "COMP_WORDS=(rnng-dy doc); COMP_CWORD=1; $(complete -p rnng-dy | sed 's/.*-F *//; s/ .*//') rnng-dy;"
    " echo ${COMPREPLY[@]}",
    "zsh": "echo $_comps[rnng-dy] $(COMP_WORDS='rnng-dy doc' COMP_CWORD=1 _RNNG_DY_COMPLETE=zsh_complete rnng-dy)",
    "fish": "complete --do-complete 'rnng-dy doc'",
}


@pytest.mark.parametrize("shell", COMPLETED)
def test_a_new_shell_completes_the_name_of_a_command(shell, home):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    install(shell)
    done = run(None, "-i", "-c", COMPLETED[shell], command=(shell,))
    assert "doctor" in done.stdout
    assert "rnng_dy_completion" in done.stdout or shell != "zsh"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_installing_twice_changes_nothing_and_keeps_the_users_lines(shell, home):
    rc = home / f".{shell}rc"
    rc.write_bytes(b"alias ll='ls -l' # \xe9")
    said = install(shell).stderr
    first = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert first[rc].startswith(b"alias ll='ls -l' # \xe9\n") and first[rc].count(b"\n") == 2
    again = install(shell).stderr
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == first
    script = home / ".local" / "share" / "rnng_dy" / f"completion.{shell}"
    assert str(script) in said and str(rc) in said and "undo" in said
    assert "has the line already" in again
    # the line that stays behind does no harm
    script.unlink()
    if shutil.which(shell):
        assert run(None, "-c", f". {rc}", command=(shell,)).stderr == ""


def test_fish_needs_no_line(home):
    said = install("fish").stderr
    written = [path for path in home.rglob("*") if path.is_file() and path.name != "rnng-dy"]
    assert written == [home / ".config" / "fish" / "completions" / "rnng-dy.fish"]
    assert str(written[0]) in said


def test_the_shell_is_the_users_unless_named(home, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    install()
    assert (home / ".config" / "fish").exists()
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "name one: rnng-dy completion --install bash|zsh|fish" in install(code=2).stderr


def test_without_install_the_script_is_printed(home):
    done = run(None, "completion", "bash", command=("rnng-dy",))
    assert "_rnng_dy_completion()" in done.stdout
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["rnng-dy"]
