"""`rnng-dy generate`: a sentence depends on the seed and its number alone."""

import pytest

from tests.commands import invoke
from tests.conftest import DATA

MODEL = DATA / "models-0.1.0" / "generator"


def generated(*options):
    return invoke("generate", "--model", MODEL, *options).stdout.splitlines()


@pytest.mark.parametrize("options", [(), ("--words",)])
def test_the_first_sentences_are_the_same_however_many_are_drawn(options):
    five = generated(*options, "-n", 5, "--seed", 3)
    assert len(set(five)) == 5
    assert generated(*options, "-n", 1, "--seed", 3) == five[:1]
    assert generated(*options, "-n", 3, "--seed", 3) == five[:3]
    assert generated(*options, "-n", 1, "--seed", 4) != five[:1]


def test_the_first_sentences_are_the_same_where_others_are_drawn_anew():
    """Sentences that are too long are thrown away, one at a time."""
    five = generated("-n", 5, "--max-length", 2)
    assert five != generated("-n", 5)
    assert generated("-n", 1, "--max-length", 2) == five[:1]
    assert generated("-n", 4, "--max-length", 2) == five[:4]
