"""Commands with an absurd value of an option."""

from __future__ import annotations

import shlex
from random import Random

import click

from rnng_dy.cli import main

NUMBERS = [
    *("nan", "inf", "-inf", "1e308", "1e-320", "-1e-5", "1e999", "-1", "0", "1", "0.5", "2"),
    *("", "x", "1_0", "0x10", " 1", "٣", "1,2", "--help"),
]  # fmt: skip
LARGE = ["100000", "1000000", "4294967295", "4294967296", "99999999999999999999"]
TEXTS = [
    *("", ".", "..", "-", "~", "nan", "no/such/file", "a" * 300, "\udcff", "\u2028", "%s", "parser", "test.trees"),
    *("test.oracle", "utf-16", "rot13", "1-", "3-1", "1-99999999999", "a,b", "a,b,c", ",", "1,1", "cuda", "cuda:x"),
]  # fmt: skip
PLACES = ["", ".", "-", "~", "no/such/file", "a" * 300, "new/", "\udcff", "a b"]
# large values only ask for more work
WORK = {"epochs", "n", "jobs", "seeds", "batch_size", "particles", "runs"}
# options that write files; they get no device, which a mistake would replace
WRITTEN = {"output", "numbers", "html", "folder", "trees", "beams", "as_json", "page"}
LEFT_ALONE = {"resume", "help", "version", "source", "corpus"}


def change_option(random: Random, command: str) -> tuple[str, str]:
    """Return the command with one more option, and the option's name."""
    words = command.split()
    parameters = [p for p in _command(words).params if p.name not in LEFT_ALONE]
    options = [p for p in parameters if isinstance(p, click.Option)]
    option = random.choice(options)
    flag = max(option.opts, key=len)
    if option.is_flag:
        return f"{command} {flag}", flag
    values = [random.choice(_values(option)) for _ in range(option.nargs)]
    return f"{command} {flag} {' '.join(map(shlex.quote, values))}", flag


def _command(words: list[str]) -> click.Command:
    command = main
    context = click.Context(main)
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(context, word)
    return command


def _values(option: click.Option) -> list[str]:
    if option.name in WRITTEN:
        return PLACES
    if isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType)):
        return NUMBERS if option.name in WORK else NUMBERS + LARGE
    return TEXTS
