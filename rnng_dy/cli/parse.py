"""`rnng-dy parse`: parse sentences with the parser or with the generative model alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import click

from oracle.common.errors import RnngError
from oracle.sentences import ScoredTree, json_line
from rnng_dy import model_folder
from rnng_dy.cli import inputs
from rnng_dy.cli.job import Lines, job_options
from rnng_dy.cli.options import GENERATIVE, Command, model_option, outputs_option
from rnng_dy.cli.rules import goes, is_given
from rnng_dy.model_folder import ModelFolder
from rnng_dy.search import decoding
from rnng_dy.search.decoding import BESIDE
from rnng_dy.settings import AT_LEAST_1, COUNT
from rnng_dy.text.sources import NumberedSentence, SentenceReader


@click.command(cls=Command)
@model_option(default="english")
@outputs_option({".trees": "brackets", ".jsonl": "all, a sentence per line"})
@inputs.parser_source
@goes("without `decode` mbr or `generator`")
@click.option(
    "--nbest",
    type=AT_LEAST_1,
    metavar="K",
    help="The K best trees, as `sentence from 0 ||| log probability ||| tree`.",
)
@goes("with `decode` mbr or `generator`")
@click.option("--samples", type=COUNT, metavar="K", default=100, help="Trees drawn for MBR.")
@inputs.decode_option("The greedy or best trees")
@click.option(
    "--generator",
    type=GENERATIVE,
    help=f"A generative model beside the parser: p^{BESIDE} q^{1 - BESIDE} decides.",
)
@inputs.seed_option
@inputs.search_options("search", "particles", "like_reference")
@job_options
def parse(folder, source, outputs, nbest, samples, mbr, generator, options, job) -> None:
    """Parse sentences: greedily with a parser, or by word-synchronous search with a generative model.

    INPUT is an oracle, a file of trees, or tokenised text with one sentence per line. An empty line
    gives an empty line. With a parser, --nbest K keeps the --beam most probable partial trees
    (default: the larger of 20 and 2K) and the greedy one. The other search options are for
    generative models. --decode mbr decides by trees drawn from q(y | x) without flattening. With
    --generator both models decide, which gives the best trees. `show` draws trees.

    Example: rnng-dy parse --model parser sentences.txt -o parsed.trees
    """
    if len(outputs) > 1:
        raise click.UsageError("give one -o: .jsonl has the trees, too")
    [(form, output)] = outputs.items()
    mbr = mbr or generator is not None
    wanted = decoding.Wanted(nbest, samples, mbr, options.seed, generator is not None)
    kind = model_folder.kind_of(folder)
    if kind.generates_words and kind.has_trees:
        decoder = decoding.generative_decoder(wanted, options)
    else:
        kind = model_folder.kind("discriminative")
        names = [name for name in inputs.OPTIONS if not (nbest and name == "beam")]
        if given := inputs.given_options(*names):
            more = ", and for a parser's --nbest" if given[0] == "`beam`" else ""
            raise RnngError(f"{given[0]} is for generative models{more}: {folder} is a parser")
        beam = options.beam if is_given("beam") else None
        decoder = decoding.parser_decoder(wanted, beam)
    reader = SentenceReader(job.open(ModelFolder(kind.kind, folder)), source)
    if generator:
        job.open(ModelFolder("generative", generator))
    lines_of = _best_lines if nbest is None else decoding.scored_lines
    if form == ".jsonl":
        lines_of = _json_lines
    left_out = job.write(
        output,
        decoder.batches(reader.sentences()),
        partial(decoding.decoded_lines, lines_of, decoder.trees),
        lambda item: lines_of(item, []),
        *(wanted, decoder.options, source._replace(path=""), form),
        inputs=[source.path],
    )
    reader.report(left_out)


def _best_lines(item: NumberedSentence, trees: Sequence[ScoredTree]) -> Lines:
    """Return the tree of a sentence; an empty line without one."""
    return [found.tree for found in trees] or [""]


def _json_lines(item: NumberedSentence, trees: Sequence[ScoredTree]) -> Lines:
    return [json_line(item.index + 1, item.sentence, trees)]
