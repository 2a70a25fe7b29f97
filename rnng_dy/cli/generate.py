"""`rnng-dy generate` and `rnng-dy next-words`: what a generative model would say."""

import re

import click

from oracle.brackets import format_tree, unspelled
from oracle.common.files import placed, read_lines, replacing
from oracle.common.tables import joined
from oracle.sentences import SourceSentence
from oracle.treebank import words
from rnng_dy.cli import inputs
from rnng_dy.cli import options as shared
from rnng_dy.cli.job import Job
from rnng_dy.cli.messages import say
from rnng_dy.cli.rules import flag, option
from rnng_dy.evaluation.unknown_words import unknown_in, with_words_as_read
from rnng_dy.kinds import ModelFolder
from rnng_dy.search.sampling import generate_trees
from rnng_dy.settings import COUNT

GAP = re.compile("__+")
"""A gap in a text, as in cloze tests."""
COLUMNS = ("text_id", "text", "rank", "word", "probability")


@click.command(cls=shared.Command)
@shared.model_option(shared.GENERATIVE)
@option("-n", "Number of sentences.", click.IntRange(min=1), "n", default=10)
@inputs.seed_option
@option("--max-length", "Longer sentences are drawn again.", click.IntRange(1), default=200)
@flag("--words", "Print the words, not the trees.", "only_words")
@shared.output_option()
@shared.device_option
def generate(folder, n, seed, max_length, only_words, output, device) -> None:
    """Generate sentences with their trees from a generative model.

    The model generates no POS tags; XX stands in their place.

    Example: rnng-dy generate --model generator -n 10 --seed 1
    """  # fmt: skip
    model = Job(1, device).open(ModelFolder("generative", folder))
    with replacing(output) as stream:
        for tree, _ in generate_trees(model, n, seed, max_length):
            line = " ".join(words(tree)) if only_words else format_tree(tree)
            print(line, file=stream, flush=True)


@click.command(cls=shared.Command)
@shared.model_option(shared.GENERATIVE, default=inputs.DEFAULT_MODEL)
@option("-k", "Number of words per text.", COUNT, "k", default=10, metavar="K")
@shared.outputs_option({".tsv": "a table", ".csv": "the same"})
@inputs.search_options(inputs.seed_option, without=["like_reference"])
@click.argument("paths", type=shared.FILE, metavar="INPUT", nargs=-1, required=True)
@shared.device_option
def next_words(folder, k, outputs, options, paths, device) -> None:
    """Estimate the most probable next words after texts, as a table.

    INPUT is a file of running text, a text per line, or one or more texts in quotation marks. A
    text ends at its first gap of underscores, if it has one. Its last sentence counts, which is
    read alone. Classes of unknown words count as words, and the end of the sentence does not.

    Example: rnng-dy next-words "The keys to the cabinet ___ on the table." -k 5
    """
    model = Job(1, device).open(ModelFolder("generative", folder))
    source = inputs.source_of(paths, is_text=True, one_per_line=True, tagged=None)
    lines = None if source.text is None else enumerate(source.text.split("\n"), 1)
    begun = []
    for line, text in lines or read_lines(source.path):
        if tokens := text.split():
            before, *gap = GAP.split(" ".join(tokens), maxsplit=1)
            with placed(source.path, line):
                # a gap shows that a period before it ends no text
                read = model.segmenter.sentences(before + " ___" * len(gap))
            tokens = read[-1].tokens[: -1 if gap else None] if read else ()
            begun.append((before.rstrip(), SourceSentence(tokens, None, None, line)))
    if message := unknown_in(with_words_as_read(model, [sentence for _, sentence in begun])):
        say(message)
    rows = [COLUMNS]
    for text, sentence in begun:
        with placed(source.path, sentence.line):
            best = model.next_words(sentence.tokens, k, options)
        for rank, (word, p) in enumerate(best, 1):
            rows.append((f"{sentence.line}", text, f"{rank}", unspelled(word), f"{p:.6g}"))
    for form, path in outputs.items():
        shared.write_output(path, (f"{joined(row, form[1:])}\n" for row in rows))
