"""`rnng-dy completion`: print or install the script with which a shell completes commands, options and files."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from oracle.errors import RnngError
from oracle.files import replacing
from rnng_dy.cli.quiet import warn

SHELLS = ("bash", "zsh", "fish")
# zsh: without its completion system there is no compdef, and the script would fail
_BEFORE = {"zsh": "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"}


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Let new shells of the user complete.")
@click.pass_context
def completion(ctx: click.Context, shell: str | None, install: bool) -> None:
    """Print the script that completes commands, options and files in SHELL, or install it.

    Without SHELL, it is for the user's login shell.

    Example: rnng-dy completion --install bash
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise RnngError(
            f"no completion for the shell {shell!r}; name one: rnng-dy completion --install bash|zsh|fish"
        )
    program = ctx.find_root().command
    made = get_completion_class(shell)(program, {}, "rnng-dy", "_RNNG_DY_COMPLETE")
    text = _BEFORE.get(shell, "") + made.source()
    if install:
        _install(shell, text)
    else:
        click.echo(text)


def _install(shell: str, text: str) -> None:
    """Write the script and, unless the shell finds it by itself, a line in the shell's start-up file."""
    if shell == "fish":
        script = _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / "rnng-dy.fish"
    else:
        script = _folder("XDG_DATA_HOME", ".local/share") / "rnng_dy" / f"completion.{shell}"
    script.parent.mkdir(parents=True, exist_ok=True)
    with replacing(script) as stream:
        stream.write(text)
    warn(f"wrote {script}")
    undo = f"to undo it, remove {script}"
    if shell != "fish":
        start_up = _folder("ZDOTDIR" if shell == "zsh" else "", "") / f".{shell}rc"
        name = shlex.quote(str(script))
        line = os.fsencode(f"[ ! -r {name} ] || . {name}  # completion of rnng-dy\n")
        before = start_up.read_bytes() if start_up.exists() else b""
        if line in before:
            warn(f"{start_up} has the line already")
        else:
            with open(start_up, "ab") as stream:
                stream.write(line if before.endswith(b"\n") or not before else b"\n" + line)
            warn(f"added a line to {start_up}")
        undo += f" and the line with `completion of rnng-dy` in {start_up}"
    warn(f"new shells complete rnng-dy; {undo}")


def _folder(variable: str, default: str) -> Path:
    """Return the folder that an environment variable names, or a folder in the user's home."""
    return Path(os.environ.get(variable) or Path.home() / default)
