"""The command for tables of sentences, tokens and trees from raw text."""

from __future__ import annotations

import json
from pathlib import Path

import click

from oracle.brackets import read_trees
from oracle.treebank import words
from rnng_dy import registry
from rnng_dy.text.segmenter import Segmenter
from scripts.raw_text.figures import Gold, segmentation_figures, tree_figures


@click.command()
@click.argument("trees")
@click.option("--model", metavar="FOLDER", help="A parser, with a tagger if it reads tags.")
@click.option("--train", metavar="TREES", help="Without a parser: learn tokens from these.")
@click.option("--text", metavar="FILE", help="Write the text, one sentence per line.")
@click.option("--json", "as_json", metavar="FILE", help="Write the figures.")
def main(
    trees: str, model: str | None, train: str | None, text: str | None, as_json: str | None
) -> None:
    """What comes back from the text of TREES: gold trees, one per line, with POS tags.

    Makes the trees text again, and measures how its sentences, tokens and, with a parser, trees come back from that:
    from one sentence per line, and from running text, all sentences with a blank between them and no paragraphs. Tokens
    count where they are written as in the treebank and stand at the same characters. Trees are scored by EVALB's rules
    (COLLINS.prm) where sentence and tokens are gold's; and all of them by the characters from the first to the last
    word of a bracket, by the same rules for labels and punctuation.
    """
    if model and train:
        raise click.UsageError("--train is for text without a --model")
    gold = Gold.of([located.tree for located in read_trees(trees)])
    if text:
        Path(text).write_text("\n".join([*gold.texts, ""]), encoding="utf-8")
    if model:
        segmenter = registry.load(model).segmenter
    elif train:
        segmenter = Segmenter.of_training(words(located.tree) for located in read_trees(train))
    else:
        segmenter = Segmenter()
    figures = segmentation_figures(gold, segmenter)
    if model:
        figures |= tree_figures(gold, model)
    for name, figure in figures.items():
        print(f"{name:60} {figure:10.2f}" if isinstance(figure, float) else f"{name:60} {figure:7}")
    if as_json:
        Path(as_json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
