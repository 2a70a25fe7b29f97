"""Every command: its help, the names of its options, and what it says of wrong ones."""

import re
import shlex
from pathlib import Path

import click
import pytest

from rnng_dy.cli import COMMANDS, main
from tests.commands import PYTHON, invoke, run
from tests.conftest import tiny_trees

SENTENCE = re.compile(r"(?=[A-Z`-]).*\.(\s+\[default: .+\])?", re.DOTALL)


def all_commands(command, *names):
    yield names
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from all_commands(command.get_command(context, name), *names, name)


def command_of(names):
    command = main
    for name in names:
        command = command.get_command(click.Context(command), name)
    return command


EVERY = [names for names in all_commands(main) if names]
LEAVES = [names for names in EVERY if not isinstance(command_of(names), click.Group)]


def test_the_list_of_commands_needs_no_command():
    listed = invoke("--help").stdout
    for name, summary in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", listed, re.MULTILINE)
        assert SENTENCE.fullmatch(summary)


def test_help_and_completion_load_no_large_library():
    program = (
        "import sys; from rnng_dy.cli import COMMANDS, main;"
        "[main.get_command(None, name) for name in COMMANDS];"
        "print({'_dynet', 'dynet', 'jinja2', 'nltk', 'starlette'} & set(sys.modules))"
    )
    assert run(None, program, command=PYTHON).stdout == "set()\n"


@pytest.mark.parametrize("names", EVERY, ids=" ".join)
def test_help_is_made_of_sentences(names):
    command = command_of(names)
    assert SENTENCE.fullmatch(command.help.partition("Example:")[0].strip())
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help and SENTENCE.fullmatch(option.help), option.opts
    assert "] [default:" not in " ".join(invoke(*names, "--help").stdout.split())


@pytest.mark.parametrize("names", LEAVES, ids=" ".join)
def test_the_example_is_a_command(names):
    command = command_of(names)
    examples = re.findall(r"^ *Example: (.*)$", command.help, re.MULTILINE)
    assert examples
    for example in examples:
        program, *arguments = shlex.split(example)
        assert (program, *arguments[: len(names)]) == ("rnng-dy", *names)
        # parses all and converts all, and runs nothing
        command.make_context(" ".join(names), arguments[len(names) :])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("train generative --composition gold", "not one of 'corrected', 'buggy'"),
        ("prepare --from wsj", "'ptb', 'ctb', 'nltk', 'icepahc', 'trees'"),
        ("prepare --from trees --encoding klingon some.trees", "try utf-8, gb18030"),
        (
            "reproduce nltk --stages trian",
            "'data', 'train', 'infer', 'baselines', 'search', 'report'",
        ),
        ("reproduce nltk --systems new", "corrected, buggy"),
        ("reproduce nltk --systems buggy,buggy/full", "each once"),
        ("reproduce nltk --seeds a", "'a' is not a valid integer"),
        ("evalb some.trees some.trees --params colins", "colins"),
        ("suite agreemnt", "agreement-pp, agreement-relative"),
        ("oracle --genrative", "Did you mean '--generative'?"),
        ("train generative --batch 3", "'--batch-size'"),
    ],
)
def test_what_is_wrong_names_what_is_right(typed, said, here):
    Path("some.trees").write_text(tiny_trees(0, 1), encoding="utf-8")
    # click makes the lines of a long message as wide as a terminal
    assert said in " ".join(invoke(*shlex.split(typed), code=2).stderr.split())
