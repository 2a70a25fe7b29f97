"""`rnng-dy prepare` and `rnng-dy oracle`: make trees and oracles from treebank files."""

from functools import partial

import click

from oracle.blocks import make_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError, RnngError
from oracle.common.files import replacing
from oracle.corpora import READERS
from oracle.training_data import Preparation
from oracle.transitions import SYSTEMS, unlimited
from oracle.treebank import clean, is_no_text, is_trace, labels_of, untraced, without_lemma, words
from oracle.unknown import RULES, UnknownWords, known_words
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import FILE, Command, LiveChoice, output_option
from rnng_dy.cli.rules import flag, is_given, option


@click.command(cls=Command)
@click.argument("source", type=FILE, nargs=-1)
@option(
    "--from",
    "Kind of SOURCE: files or folders of the Penn Treebank, the Chinese Treebank or IcePaHC "
    "(without ids and lemmas), or files of trees. nltk takes no SOURCE.",
    LiveChoice(READERS),
    "kind",
    required=True,
)
@option(
    "--sections", "Sections of ptb, or files of ctb (1-270) or nltk (1-199).", metavar="2-21,24"
)
@option("--encoding", "Encoding.  [default: utf-8; ctb: utf-8, else gb18030]", metavar="NAME")
@flag(
    "--strip-ids",
    "Remove nodes that are no text, as in the Penn Parsed Corpora of Historical English: "
    "(ID ...), (CODE ...), (METADATA ...), comments, and bare traces such as *T*-1, *con* and 0.",
)
@option(
    "--cut-labels",
    "End labels before one of these characters: ';#' makes NP of NP;*SBJ* and NP##head=N##.",
    name="marks",
    metavar="MARKS",
    default="",
)
@option(
    "--keep-labels",
    "Keep the constituents with these labels alone, below a root S; the children of others go "
    "up to their parent.",
    metavar="NP,VP",
)
@flag("--skip-preterminals", "Leave out trees of a preterminal only.")
@output_option("Trees to write.", "OUT.trees")
def prepare(
    source, kind, sections, encoding, strip_ids, marks, keep_labels, skip_preterminals, output
) -> None:
    """Make a file with one tree per line from a treebank.

    Removes function tags, indices, traces, constituents that this empties, and the outer pair of
    brackets.

    Example: rnng-dy prepare wsj --from ptb --sections 2-21 -o train.trees
    """
    reader = READERS[kind]()
    if bool(source) != reader.needs_source:
        how = "needs a" if reader.needs_source else "takes no"
        raise click.UsageError(f"--from {kind} {how} SOURCE")
    if sections and not reader.has_sections:
        others = (name for name, other in READERS.items() if other.has_sections)
        raise click.UsageError(f"--sections needs --from {' or '.join(others)}")
    for name, is_idle in (("encoding", not reader.needs_source), ("strip_ids", reader.has_lemmas)):
        if is_idle and is_given(name):
            raise RnngError(f"`{name}` does nothing with --from {kind}: leave it out")
    labels = keep_labels.split(",") if keep_labels is not None else []
    cleaner = partial(
        clean,
        is_left_out=is_no_text if strip_ids or reader.has_lemmas else is_trace,
        word_of=without_lemma if reader.has_lemmas else str,
        marks=marks,
        labels=labels,
    )
    trees = reader.read(source, sections, encoding)
    prepared, unused = Preparation(trees, cleaner, skip_preterminals), set(labels)
    with replacing(output) as stream:
        for located in prepared:
            stream.write(f"{located.text}\n")
            if unused:
                unused -= labels_of(located.tree)
        if not prepared.read:
            raise InputError("no tree in this input", " ".join(source) or None)
        if unused:
            raise RnngError(f"--keep-labels: no constituent has the label {min(unused)!r}")
    say(
        f"{prepared.read} trees read, {prepared.emptied} emptied, "
        f"{prepared.skipped} preterminals skipped, {prepared.kept} written"
    )


@click.command(cls=Command)
@click.argument("trees", type=FILE, metavar="INPUT.trees")
@option("--train", "Trees that decide known words.", FILE, required=True, metavar="TRAIN.trees")
@option("--min-count", "Least count of a known word.", click.IntRange(1), default=2)
@output_option("Oracle to write.", "OUT.oracle")
@flag("--generative", "Oracle for generative models, without POS tags.")
@option(
    "--unk",
    "Classes of unknown words: the original's (ASCII letters), for all letters, or one.",
    click.Choice(RULES),
    default=RULES[0],
)
@option("--transitions", "Transition system.", LiveChoice(SYSTEMS), default=SYSTEMS.default)
def oracle(trees, train, min_count, output, generative, unk, transitions) -> None:
    """Make an oracle from a file of trees.

    An oracle lists, for each tree, its words, their classes of unknown words, and the actions that
    build the tree.

    Example: rnng-dy oracle --train train.trees dev.trees -o dev.oracle
    """
    if min_count < 2 and not generative:
        raise click.UsageError(
            "--min-count 1 knows every word, and a parser learns its classes of unknown words from "
            "rare ones: leave it out, or add --generative"
        )
    # trees that are only a preterminal never count, so that train, dev and test get the same
    # vocabulary
    training = Preparation(read_trees(train), untraced, True, train)
    known = known_words((words(located.tree) for located in training), min_count)
    training.require_trees()
    prepared = Preparation(read_trees(trees), untraced, False, trees)
    with replacing(output) as stream:
        system = unlimited(SYSTEMS[transitions])
        write_oracle(make_oracle(prepared, UnknownWords(unk, known), generative, system), stream)
        prepared.require_trees()
    say(f"{prepared.read} trees read")
