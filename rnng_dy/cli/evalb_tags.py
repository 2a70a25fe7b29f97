"""`--tags` of commands that score trees: whose POS tags EVALB goes by."""

from __future__ import annotations

import click

OWN, GOLD = "own", "gold"

tags_option = click.option(
    "--tags",
    type=click.Choice([OWN, GOLD]),
    default=OWN,
    help="POS tags by which EVALB deletes punctuation: those of each tree, as EVALB does, or the gold tree's in both. "
    "With other tags than gold a tree keeps other words, and its sentence is not scored.",
)


def hint_at_tags(errors: int, tags: str) -> None:
    """Say what may be done about sentences whose words differ from gold after EVALB's deletions."""
    if errors and tags == OWN:
        click.echo(
            f"{errors} with other words than gold: where only tags differ, --tags gold scores them",
            err=True,
        )
