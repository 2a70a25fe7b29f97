"""Several outputs of a command by -o: the ending says the form."""

import click
import pytest
from click.testing import CliRunner

from rnng_dy.cli.options import outputs_option


@click.command()
@outputs_option({".tsv": "a table", ".json": "all numbers", ".trees": "trees"})
def command(outputs: dict[str, str]) -> None:
    click.echo(" ".join(f"{ending}={path}" for ending, path in outputs.items()))


@pytest.mark.parametrize(
    ("arguments", "outputs"),
    [
        ([], ".tsv=-"),
        (["-o", "a.json"], ".json=a.json"),
        (["-o", "-", "-o", "a.trees.gz"], ".tsv=- .trees=a.trees.gz"),
        (["--format", "json", "-o", "-", "-o", "b.tsv"], ".json=- .tsv=b.tsv"),
        (["-o", "unnamed"], ".tsv=unnamed"),
        (["-o", "named.otherwise", "--format", "json"], ".json=named.otherwise"),
        (["--format", "trees", "-o", "/dev/stderr"], ".trees=/dev/stderr"),
    ],
)
def test_the_ending_says_the_form(arguments: list[str], outputs: str) -> None:
    assert CliRunner().invoke(command, arguments).output == outputs + "\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-o", "a.tsv", "-o", "b.tsv"], "would both hold tsv"),
        (["-o", "a.tsv", "-o", "-"], "would both hold tsv"),
        (["--format", "json", "-o", "a.tsv"], "--format is for standard output"),
        (["--format", "xml"], "'xml' is not one of"),
        (["-o", "a.otherwise"], "this command writes .tsv, .json, .trees; or --format"),
    ],
)
def test_what_two_forms_cannot_be(arguments: list[str], reason: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert reason in result.output
