"""`rnng-dy next-words`: the most probable next words after texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import click

from oracle.brackets import unspelled
from oracle.common.files import placed, read_lines
from oracle.common.tables import joined
from oracle.sentences import SourceSentence
from rnng_dy.cli import inputs
from rnng_dy.cli.job import Job
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import (
    FILE,
    GENERATIVE,
    Command,
    device_option,
    model_option,
    outputs_option,
    write_output,
)
from rnng_dy.evaluation.unknown_words import unknown_in, with_words_as_read
from rnng_dy.kinds import ModelFolder
from rnng_dy.settings import COUNT

GAP = re.compile("__+")
"""A gap in a text, as in cloze tests."""
COLUMNS = ("text_id", "text", "rank", "word", "probability")


@click.command(cls=Command)
@model_option(GENERATIVE, default=inputs.DEFAULT_MODEL)
@click.option("-k", "k", type=COUNT, default=10, metavar="K", help="Number of words per text.")
@outputs_option({".tsv": "a table", ".csv": "the same"})
@inputs.search_options(inputs.seed_option, without=["like_reference"])
@click.argument("paths", type=FILE, metavar="INPUT", nargs=-1, required=True)
@device_option
def next_words(folder, k, outputs, options, paths, device) -> None:
    """Estimate the most probable next words after texts, as a table.

    INPUT is a file of running text, a text per line, or one or more texts in quotation marks. A
    text ends at its first gap of underscores, if it has one. Its last sentence counts, which is
    read alone. Classes of unknown words count as words, and the end of the sentence does not.

    Example: rnng-dy next-words "The keys to the cabinet ___ on the table." -k 5
    """
    model = Job(1, device).open(ModelFolder("generative", folder))
    source, texts = _texts(paths)
    begun = []
    for line, text in texts:
        if words := text.split():
            before = GAP.split(" ".join(words))[0].rstrip()
            with placed(source, line):
                last = [s.tokens for s in model.segmenter.sentences(before)][-1:]
            tokens = last[0] if last else ()
            begun.append((before, SourceSentence(tokens, None, None, line)))
    if message := unknown_in(with_words_as_read(model, [sentence for _, sentence in begun])):
        say(message)
    rows = [COLUMNS]
    for text, sentence in begun:
        with placed(source, sentence.line):
            best = model.next_words(sentence.tokens, k, options)
        for rank, (word, p) in enumerate(best, 1):
            rows.append((f"{sentence.line}", text, f"{rank}", unspelled(word), f"{p:.6g}"))
    for form, path in outputs.items():
        write_output(path, (f"{joined(row, form[1:])}\n" for row in rows))


def _texts(paths: Sequence[str]) -> tuple[str, Iterator[tuple[int, str]]]:
    """Return the name of the input for messages, and its texts, numbered from 1."""
    path = paths[0]
    if len(paths) == 1 and (path == "-" or os.path.exists(path) or " " not in path):
        return path, read_lines(path)
    say("INPUT is no file: it is read as running text")
    return "INPUT", iter(enumerate(paths, 1))
