"""`rnng-dy prepare` and `rnng-dy oracle`: from treebank files to oracles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import click

from oracle.corpora import READERS
from oracle.errors import InputError
from oracle.files import make_oracle, open_output, write_oracle
from oracle.lazy import nltk
from oracle.ppche import is_no_text, without_lemma
from oracle.transitions import DEFAULT, SYSTEMS, unlimited
from oracle.treebank import (
    LocatedTree,
    PreterminalRoots,
    clean,
    format_tree,
    is_preterminal,
    is_trace,
    read_trees,
    unlabelled,
    words,
)
from oracle.unknown import RULES, UnknownWords, known_words
from rnng_dy.cli.options import TRANSITIONS, LiveChoice
from rnng_dy.cli.output_files import check_files
from rnng_dy.cli.paths import FILE, require_read_once
from rnng_dy.cli.quiet import say

skip_preterminals_option = click.option(
    "--skip-preterminals", is_flag=True, help="Leave out trees that are only a preterminal."
)


class Counted:
    """Passes trees on and counts them."""

    def __init__(self, trees: Iterable[LocatedTree]):
        self._trees = trees
        self.count = 0

    def __iter__(self) -> Iterator[LocatedTree]:
        for located in self._trees:
            self.count += 1
            yield located


@click.command()
@click.argument("source", type=FILE, nargs=-1)
@click.option(
    "--from",
    "kind",
    type=LiveChoice(READERS),
    required=True,
    help="What SOURCE is: files or folders of the PTB (.mrg), the CTB or IcePaHC (.psd, with --strip-ids and "
    "--strip-lemmas), tree files; nltk needs none.",
)
@click.option(
    "--sections",
    metavar="2-21,24",
    help="Sections of the PTB, or file numbers of the CTB (1-270) or of NLTK's sample (1-159).",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="Of the files.  [default: utf-8; ctb: utf-8, else gb18030]",
)
@click.option(
    "--strip-ids",
    is_flag=True,
    help="Leave out what PPCHE's treebanks have beside the words: (ID ...), (CODE ...), (METADATA ...), comments, and "
    "bare traces such as *T*-1, *con* and 0.",
)
@click.option(
    "--strip-lemmas",
    is_flag=True,
    help="Take words from word-lemma: what is before the last hyphen.",
)
@click.option(
    "--unlabelled",
    "one_label",
    is_flag=True,
    help="Give all constituents one label, X; POS tags stay.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    default="-",
    metavar="OUT.trees",
    help="Trees to write.  [default: -]",
)
@skip_preterminals_option
def prepare(
    source: tuple[str, ...],
    kind: str,
    sections: str | None,
    encoding: str | None,
    strip_ids: bool,
    strip_lemmas: bool,
    one_label: bool,
    output: str,
    skip_preterminals: bool,
) -> None:
    """Make a file of one tree a line from a treebank.

    Function tags, indices, traces, emptied constituents and the outer wrapper are taken out.

    Example: rnng-dy prepare wsj --from ptb --sections 2-21 -o train.trees
    """
    check_files([output], source)
    trees = Counted(_source_trees(source, kind, sections, encoding))
    has_lemmas = READERS[kind].has_lemmas
    cleaner = _cleaner(strip_ids or has_lemmas, strip_lemmas or has_lemmas)
    emptied = written = 0
    roots = PreterminalRoots(skip_preterminals)

    def cleaned() -> Iterator[LocatedTree]:
        nonlocal emptied
        for located in trees:
            tree = cleaner(located.tree)
            if tree is None:
                emptied += 1
            else:
                yield located._replace(tree=tree)

    with open_output(output) as stream:
        for located in roots.without(cleaned()):
            tree = unlabelled(located.tree) if one_label else located.tree
            stream.write(f"{format_tree(tree)}\n")
            written += 1
        _require_trees(trees.count, source)
    say(
        f"{trees.count} trees read, {emptied} emptied, {roots.count} preterminals skipped, "
        f"{written} written"
    )


def _cleaner(strip_ids: bool, strip_lemmas: bool) -> Callable[[nltk.Tree], nltk.Tree | None]:
    return partial(
        clean,
        is_left_out=is_no_text if strip_ids else is_trace,
        word_of=without_lemma if strip_lemmas else str,
    )


def _source_trees(
    source: tuple[str, ...], kind: str, sections: str | None, encoding: str | None
) -> Iterator[LocatedTree]:
    reader = READERS.make(kind)
    if not reader.needs_source and (source or encoding):
        raise click.UsageError(f"--from {kind} takes no SOURCE and no --encoding")
    if reader.needs_source and not source:
        raise click.UsageError(f"--from {kind} needs a SOURCE")
    if sections and not reader.has_sections:
        *others, last = (name for name, other in READERS.items() if other.has_sections)
        raise click.UsageError(f"--sections needs --from {', '.join(others)} or {last}")
    return reader.trees(source, sections, encoding)


@click.command()
@click.argument("trees", type=FILE, metavar="INPUT.trees")
@click.option(
    "--train",
    type=FILE,
    required=True,
    metavar="TRAIN.trees",
    help="The training trees; a word that occurs in them at least twice is known.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    default="-",
    metavar="OUT.oracle",
    help="Oracle to write.  [default: -]",
)
@click.option("--generative", is_flag=True, help="For the generative model: no tags.")
@click.option(
    "--unk",
    type=click.Choice(RULES),
    default=RULES[0],
    show_default=True,
    help="Classes of unknown words: the original's (ASCII), with Unicode's letters, or one class.",
)
@click.option(
    "--transitions",
    type=TRANSITIONS,
    default=DEFAULT,
    show_default=True,
    help="Transition system whose actions build the trees.",
)
@skip_preterminals_option
def oracle(
    trees: str,
    train: str,
    output: str,
    generative: bool,
    unk: str,
    transitions: str,
    skip_preterminals: bool,
) -> None:
    """Make an oracle, the actions that build each tree, from a file of trees.

    Example: rnng-dy oracle --train train.trees dev.trees -o dev.oracle
    """
    check_files([output], [trees, train])
    require_read_once(trees, train)
    # preterminals never count, whether skipped or refused: one vocabulary for train, dev and test
    training = (words(t.tree) for t in read_trees(train) if not is_preterminal(t.tree))
    unknown_words = UnknownWords(unk, known_words(training))
    counted = Counted(read_trees(trees))
    roots = PreterminalRoots(skip_preterminals)
    with open_output(output) as stream:
        system = unlimited(SYSTEMS[transitions])
        blocks = make_oracle(roots.without(counted), unknown_words, generative, system)
        write_oracle(blocks, stream)
        _require_trees(counted.count, (trees,))
    say(f"{counted.count} trees read, {roots.count} preterminals skipped")


def _require_trees(count: int, source: tuple[str, ...]) -> None:
    if not count:
        raise InputError("no tree in this input", " ".join(source) or None)
