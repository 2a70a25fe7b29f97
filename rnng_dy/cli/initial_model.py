"""`train --init`: the model that a training begins with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rnng_dy import checkpoint, engine, registry
from rnng_dy.execution.outputs import content_hash

if TYPE_CHECKING:
    # it loads NLTK, which --help need not wait for
    from rnng_dy.saved import SavedModel


def initial_model(
    kind: str, options: Mapping[str, object], device: str, **of_a_new_model: object
) -> SavedModel | None:
    """The model that --init names; None without it, and where --resume goes on with what was made of it.

    `of_a_new_model` are options that say what --init says, too. Raises UsageError for those, and RnngError where the
    model cannot be read or is of another kind.
    """
    source, folder = options["init"], options["folder"]
    if source is None:
        if options["extend"]:
            raise click.UsageError("--extend adds to the model of --init: give that")
        return None
    for name, value in of_a_new_model.items():
        if value is not None:
            raise click.UsageError(f"--{name} is for a new model: with --init it is the model's")
    if options["extend"] and kind == "lstm-lm":
        raise click.UsageError("--extend adds nonterminals and tags: a sequential model has none")
    if os.path.realpath(source) == os.path.realpath(folder):
        raise click.UsageError(
            "--init and --model name one folder: name a new one for the model that is made, or go on with the old "
            "training by --resume without --init"
        )
    if options["resume"] and os.path.exists(folder):
        return None
    engine.start(device)
    return registry.load(source, kind)


def initial_hash(options: Mapping[str, object]) -> dict[str, object]:
    """What --resume compares: the initial model but for its parameters, which may have gone on, too.

    Nothing where the model was given and is gone: it is not needed any more.
    """
    if options["init"] is None:
        return {"--init": None}
    files = [Path(options["init"], name) for name in (checkpoint.CONFIG, checkpoint.VOCABULARY)]
    return {"--init": content_hash(*files)} if all(map(Path.is_file, files)) else {}
