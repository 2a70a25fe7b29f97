"""`rnng-dy prepare` and `rnng-dy oracle`: make trees and oracles from treebank files."""

from __future__ import annotations

from functools import partial

import click

from oracle.blocks import make_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError, RnngError
from oracle.common.files import replacing
from oracle.corpora import READERS
from oracle.training_data import Preparation
from oracle.transitions import DEFAULT, SYSTEMS, unlimited
from oracle.treebank import clean, is_no_text, is_trace, untraced, without_lemma, words
from oracle.unknown import RULES, UnknownWords, known_words
from rnng_dy.cli.messages import say
from rnng_dy.cli.options import FILE, Command, LiveChoice, output_option
from rnng_dy.cli.rules import is_given


@click.command(cls=Command)
@click.argument("source", type=FILE, nargs=-1)
@click.option(
    "--from",
    "kind",
    type=LiveChoice(READERS),
    required=True,
    help="Kind of SOURCE: files or folders of the Penn Treebank (.mrg, .parse), the Chinese Treebank or IcePaHC (.psd; "
    "without ids and lemmas), or files of trees. nltk takes no SOURCE.",
)
@click.option(
    "--sections",
    metavar="2-21,24",
    help="Sections of the Penn Treebank, or file numbers of the Chinese Treebank (1-270) or NLTK's sample (1-199).",
)
@click.option(
    "--encoding", metavar="NAME", help="Encoding.  [default: utf-8; ctb: utf-8, else gb18030]"
)
@click.option(
    "--strip-ids",
    is_flag=True,
    help="Remove nodes that are no text, as in the Penn Parsed Corpora of Historical English and IcePaHC: (ID ...), "
    "(CODE ...), (METADATA ...), comments, and bare traces such as *T*-1, *con* and 0.",
)
@click.option(
    "--cut-labels",
    "marks",
    metavar="MARKS",
    default="",
    help="End each label before one of these characters: ';#' makes NP of NP;*SBJ* and NP##head=N##.",
)
@click.option("--skip-preterminals", is_flag=True, help="Leave out trees of a preterminal only.")
@output_option("Trees to write.", "OUT.trees")
def prepare(source, kind, sections, encoding, strip_ids, marks, skip_preterminals, output) -> None:
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
    cleaner = partial(
        clean,
        is_left_out=is_no_text if strip_ids or reader.has_lemmas else is_trace,
        word_of=without_lemma if reader.has_lemmas else str,
        marks=marks,
    )
    trees = reader.read(source, sections, encoding)
    prepared = Preparation(trees, cleaner, skip_preterminals)
    with replacing(output) as stream:
        for located in prepared:
            stream.write(f"{located.text}\n")
        _require_trees(prepared.read, source)
    say(
        f"{prepared.read} trees read, {prepared.emptied} emptied, {prepared.skipped} preterminals skipped, "
        f"{prepared.left} written"
    )


@click.command(cls=Command)
@click.argument("trees", type=FILE, metavar="INPUT.trees")
@click.option(
    "--train",
    type=FILE,
    required=True,
    metavar="TRAIN.trees",
    help="The training trees; words that occur in them often are known.",
)
@click.option("--min-count", type=click.IntRange(1), default=2, help="Least count of a known word.")
@output_option("Oracle to write.", "OUT.oracle")
@click.option("--generative", is_flag=True, help="Oracle for generative models, without POS tags.")
@click.option(
    "--unk",
    type=click.Choice(RULES),
    default=RULES[0],
    help="Classes of unknown words: those of the original (ASCII letters), the same with all Unicode letters, or a "
    "single class.",
)
@click.option(
    "--transitions",
    type=LiveChoice(SYSTEMS),
    default=DEFAULT,
    help="Transition system whose actions build the trees.",
)
def oracle(trees, train, min_count, output, generative, unk, transitions) -> None:
    """Make an oracle from a file of trees.

    An oracle lists, for each tree, its words, their classes of unknown words, and the actions that
    build the tree.

    Example: rnng-dy oracle --train train.trees dev.trees -o dev.oracle
    """
    if min_count < 2 and not generative:
        raise click.UsageError(
            "--min-count 1 knows every word, and a parser learns its classes of unknown words from rare ones: leave it "
            "out, or add --generative"
        )
    # trees that are only a preterminal never count, so that train, dev and test get the same
    # vocabulary
    training = Preparation(read_trees(train), untraced, skip_preterminals=True)
    known = known_words((words(located.tree) for located in training), min_count)
    _require_trees(training.left, (train,))
    unknown_words = UnknownWords(unk, known)
    prepared = Preparation(read_trees(trees), untraced, False)
    with replacing(output) as stream:
        system = unlimited(SYSTEMS[transitions])
        write_oracle(make_oracle(prepared, unknown_words, generative, system), stream)
        _require_trees(prepared.read, (trees,))
    say(f"{prepared.read} trees read")


def _require_trees(count: int, source: tuple[str, ...]) -> None:
    if not count:
        raise InputError("no tree in this input", " ".join(source) or None)
