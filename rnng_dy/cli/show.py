"""`rnng-dy show`: draw trees in the terminal or on a page, optionally with gold trees."""

from pathlib import Path

import click

from rnng_dy.cli.options import FILE, Command, outputs_option, write_output
from rnng_dy.cli.rules import flag, goes, option
from rnng_dy.drawing.pages import parts
from rnng_dy.drawing.sections import columns_of, read_tree_file, section_lines, sections_of
from rnng_dy.drawing.trees import svg_file


@click.command(cls=Command)
@click.argument("trees", type=FILE, metavar="TREES")
@option("--gold", "Gold trees of the same sentences.", FILE, metavar="GOLD.trees")
@outputs_option({".txt": "trees drawn in characters", ".html": "a page", ".svg": "a drawing"})
@goes("with `gold`")
@flag("--only-errors", "With --gold: only sentences with errors.")
def show(trees, gold, outputs, only_errors) -> None:
    """Draw trees, or samples with their log probabilities, and mark errors against --gold.

    TREES is a file of trees or samples. A constituent that the other tree lacks, by EVALB's rules
    with the gold tags, is red, and *NP* in characters. If all brackets of a sentence are right, its
    tree is drawn once. A drawing in characters that is too wide for the terminal is replaced by
    brackets.

    Example: rnng-dy show greedy.trees --gold test.trees --only-errors
    """
    system = read_tree_file(trees)
    reference = None if gold is None else read_tree_file(gold)
    sections = list(sections_of(system, reference, only_errors))
    numbered = len(sections) > 1
    title, description = f"Trees of {Path(trees).name}", f"{len(sections):,} sentences"
    page = {"sections": sections, "title": title, "description": description}
    for form, path in outputs.items():
        if form == ".html":
            write_output(path, parts("trees.html", **page))
        elif form == ".svg":
            write_output(path, svg_file(row for s in sections for row in s.captioned(numbered)))
        else:
            lines = (x for s in sections for x in section_lines(s, columns_of(path), numbered))
            write_output(path, (f"{line}\n" for line in lines))
