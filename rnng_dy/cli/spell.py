"""`rnng-dy spell`: give a model an open vocabulary."""

from __future__ import annotations

from collections import Counter

import click

from oracle.errors import placed
from rnng_dy.cli.paths import FILE, GENERATIVE
from rnng_dy.cli.quiet import warn
from rnng_dy.folders import require_folder
from rnng_dy.known_models import located
from rnng_dy.text.sources import RawText, Source


@click.command()
@click.option(
    "--train",
    "path",
    type=FILE,
    required=True,
    help="Trees, an oracle, or tokenised text with one sentence per line; the best choice is what the model was "
    "trained on.",
)
@click.option("--text", "is_text", is_flag=True, help="The file of --train is running text.")
@click.option(
    "--into",
    "folder",
    type=GENERATIVE,
    metavar="MODEL",
    required=True,
    help="Folder of a generative model or an LSTM language model, which gets the spelling model.",
)
def spell(path, is_text, folder) -> None:
    """Train a spelling model on the words of a text that a model does not know, and keep it in the model's folder.

    With --open, `surprisal`, `suite`, `score` and `perplexity` then give every string a probability: that of its class
    of unknown words, times that of its spelling in this class. `train --open` makes the spelling model itself.

    Example: rnng-dy spell --train train.trees --into generator
    """
    from rnng_dy.training.spelling import keep_spelling, model_without_spelling, spelling_of

    folder = str(located(folder))
    require_folder(folder)
    model = model_without_spelling(folder)
    source = Source(path, RawText() if is_text else None)
    sentences = source.read(lambda: model.segmenter, warn)
    with placed(path):
        spelling = spelling_of(model, Counter(t for s in sentences for t in s.tokens))
    keep_spelling(spelling, folder)
    words, classes = len(spelling.words), len(spelling.classes.names)
    click.echo(f"{folder}: spelling of {words} words in {classes} classes of unknown words")
