"""`rnng-dy generate`: a sentence depends on the seed and its number alone."""

from __future__ import annotations

import pytest

from tests.commands import invoke
from tests.conftest import DATA

MODELS = DATA / "models-0.1.0"


def generated(model, *options):
    return invoke("generate", "--model", MODELS / model, *options).stdout.splitlines()


@pytest.mark.parametrize("options", [("generator",), ("generator", "--words"), ("lm",)])
def test_the_first_sentences_are_the_same_however_many_are_drawn(options):
    five = generated(*options, "-n", 5, "--seed", 3)
    assert len(set(five)) == 5
    assert generated(*options, "-n", 1, "--seed", 3) == five[:1]
    assert generated(*options, "-n", 3, "--seed", 3) == five[:3]
    assert generated(*options, "-n", 1, "--seed", 4) != five[:1]


@pytest.mark.parametrize("model", ["generator", "lm"])
def test_the_first_sentences_are_the_same_where_others_are_drawn_anew(model):
    """Sentences that are too long are thrown away, one at a time."""
    five = generated(model, "-n", 5, "--max-length", 2)
    assert five != generated(model, "-n", 5)
    assert generated(model, "-n", 1, "--max-length", 2) == five[:1]
    assert generated(model, "-n", 4, "--max-length", 2) == five[:4]
