"""`rnng-dy` itself: its version, and commands that it does not have."""

import pytest

from rnng_dy import __version__
from tests.commands import invoke


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("prase", "parse"), ("train discriminate", "discriminative"), ("train lstm", "lstm-lm")],
)
def test_a_mistyped_command_suggests_the_right_one(typed, meant):
    result = invoke(*typed.split(), code=2)
    last = typed.split()[-1]
    assert result.stderr.endswith(f"Error: No such command {last!r}. Did you mean {meant!r}?\n")


@pytest.mark.parametrize("typed", ["cook", "train cook"])
def test_a_command_that_is_like_none_suggests_nothing(typed):
    assert invoke(*typed.split(), code=2).stderr.endswith("Error: No such command 'cook'.\n")


def test_the_version():
    assert invoke("--version").stdout.strip().endswith(f"version {__version__}")


@pytest.mark.parametrize("command", ["generate", "sample in.oracle", "score in.props"])
def test_a_model_that_is_needed_is_asked_for(command):
    assert "Missing option '--model'" in invoke(*command.split(), code=2).stderr
