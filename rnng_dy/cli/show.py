"""`rnng-dy show`: draw trees in the terminal or on a page, optionally with gold trees."""

from __future__ import annotations

from pathlib import Path

import click

from oracle.corpora import parse_sections
from rnng_dy.cli.paths import FILE, check_files, outputs_option, write_output
from rnng_dy.drawing.parsed_trees import DRAWINGS, drawing
from rnng_dy.drawing.terminal import columns_of, section_lines
from rnng_dy.drawing.tree_files import chosen_sections, read_tree_file


@click.command()
@click.argument("trees", type=FILE, metavar="TREES")
@click.option("--gold", type=FILE, metavar="GOLD.trees", help="Gold trees of the same sentences.")
@outputs_option(
    {
        ".txt": "trees drawn in characters",
        ".html": "a page with a search field",
        ".svg": "a drawing",
    }
)
@click.option(
    "--sentences", "numbers", metavar="1-10,12", help="Draw only these sentences, counted from 1."
)
@click.option(
    "--only-errors", is_flag=True, help="With --gold: draw only sentences whose brackets differ."
)
def show(trees, gold, outputs, numbers, only_errors) -> None:
    """Draw trees, or samples with their log probabilities; with --gold, mark wrong and missed constituents.

    TREES is a file of trees or samples. A constituent that the other tree lacks, by EVALB's rules with the gold tags,
    is red, and *NP* in characters. If all brackets of a sentence are right, its tree is drawn once. A drawing in
    characters that is too wide for the terminal is replaced by brackets.

    Example: rnng-dy show greedy.trees --gold test.trees --only-errors
    """
    if only_errors and gold is None:
        raise click.UsageError("--only-errors needs --gold")
    check_files(outputs.values())
    ranges = parse_sections(numbers) or ()
    system = read_tree_file(trees)
    reference = None if gold is None else read_tree_file(gold)
    chosen = chosen_sections(system, reference, ranges, only_errors)
    # a drawing in characters needs no other sentence
    sections = chosen if list(outputs) == [".txt"] else list(chosen)
    for form, path in outputs.items():
        if form in DRAWINGS:
            title, description = f"Trees of {Path(trees).name}", f"{len(sections):,} sentences"
            write_output(path, drawing(form, sections, title, description))
        else:
            columns = columns_of(path)
            lines = (f"{x}\n" for each in sections for x in section_lines(each, columns, True))
            write_output(path, lines)
