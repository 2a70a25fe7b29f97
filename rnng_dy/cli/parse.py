"""`rnng-dy parse` and `rnng-dy sample`: the best trees of sentences, or trees that are drawn."""

from collections.abc import Callable, Sequence

import click

from oracle.common.errors import RnngError
from oracle.samples import format_sample
from oracle.sentences import ScoredTree, SourceSentence, json_line
from rnng_dy import kinds
from rnng_dy.cli import inputs
from rnng_dy.cli.job import Job, Lines, job_options
from rnng_dy.cli.messages import warn
from rnng_dy.cli.options import JUDGE, Command, model_option, output_option, outputs_option
from rnng_dy.cli.rules import goes, is_given, option
from rnng_dy.cli.signature import SEARCHED, signature
from rnng_dy.search import decoding, scoring
from rnng_dy.search.decoding import BESIDE
from rnng_dy.search.parsing import BEAM
from rnng_dy.search.sampling import FLATTENED
from rnng_dy.settings import AT_LEAST_1, COUNT, FiniteRange
from rnng_dy.text.sources import SentenceReader, Source

LinesOf = Callable[[int, SourceSentence, Sequence[ScoredTree]], Lines]


@click.command(cls=Command)
@model_option(default="english")
@outputs_option({".trees": "brackets", ".jsonl": "all, a sentence per line"})
@inputs.parser_source
@goes("without `decode` mbr or `generator`")
@option("--nbest", "The K best, as `sentence ||| log p ||| tree`.", AT_LEAST_1, metavar="K")
@goes("with `decode` mbr or `generator`")
@option("--samples", "Trees drawn for MBR.", COUNT, metavar="K", default=100)
@inputs.decode_option("The greedy or best trees")
@option("--generator", f"Generative model: p^{BESIDE} q^{1 - BESIDE} decides.", JUDGE)
@inputs.search_options(inputs.seed_option, without=("search", "particles", "like_reference"))
@job_options
def parse(folder, source, outputs, nbest, samples, decode, generator, options, job) -> None:
    """Parse sentences: greedily with a parser, or by a search with a generative model.

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
    mbr = decode == "mbr" or generator is not None
    kind = kinds.kind_of(folder)
    decoder: decoding.Decoder
    if kind.generates_words and kind.has_trees:
        if mbr:
            others = "`rnng-dy rerank` is for samples"
            raise RnngError(f"`decode` mbr and `generator` are for a parser; {others}")
        decoder = decoding.SearchedTrees(nbest or 1, options)
    else:
        kind = kinds.kind("discriminative")
        names = [name for name in SEARCHED if not (nbest and name == "beam")]
        if searching := inputs.given_options(*names):
            more = ", and for a parser's --nbest" if searching[0] == "`beam`" else ""
            raise RnngError(f"{searching[0]} is for generative models{more}: {folder} is a parser")
        if nbest:
            beam = options.beam if is_given("beam") else max(BEAM, 2 * nbest)
            decoder = decoding.BestTrees(nbest, beam)
        else:
            decoder = decoding.MbrTrees(samples, options.seed) if mbr else decoding.GreedyTrees()
    model = job.open(kinds.ModelFolder(kind.kind, folder))
    if generator:
        judge = job.open(kinds.ModelFolder("generative", generator))
        scoring.require_labels(judge, model.vocabulary.nonterminals)
    lines_of = _best_lines if nbest is None else _sample_lines
    write_trees(job, source, decoder, output, _json_lines if form == ".jsonl" else lines_of)


@click.command(cls=Command)
@model_option()
@output_option()
@option("--samples", "Number of trees per sentence.", COUNT, "n", default=100)
@option("--alpha", "Power of q; 1 does not flatten.", FiniteRange(0, 100), default=FLATTENED)
@inputs.seed_option
@inputs.parser_source
@job_options
def sample(folder, source, output, n, alpha, seed, job) -> None:
    """Draw trees per sentence of INPUT from the parser's distribution, flattened by alpha.

    A line of the output has the number of the sentence from 0, the tree's log probability in nats
    under the flattened distribution, and the tree.

    Example: rnng-dy sample --model parser --alpha 0.8 --seed 1 test.oracle -o test.props
    """  # fmt: skip
    job.open(kinds.ModelFolder("discriminative", folder))
    write_trees(job, source, decoding.SampledTrees(n, alpha, seed), output, _sample_lines)


def write_trees(
    job: Job, source: Source, decoder: decoding.Decoder, output: str, lines_of: LinesOf
) -> None:
    """Write the lines that `lines_of` returns for the number, from 0, and trees of each sentence.

    Reports tags, sentences that do not fit into memory, and those with p = 0.
    """
    reader = SentenceReader(job.models[0], source)
    settings = decoder, lines_of.__name__, source._replace(path="")
    with job.output(output, *settings, inputs=[source.path]) as work:
        for batch in work.map(decoder, decoder.batches(reader.sentences())):
            decoded = [(n, found or decoding.without_memory(s)) for (n, s), found in batch]
            for _, (sentence, found) in decoded:
                if found.problem:
                    warn(f"{source.path}:{sentence.line}: {found.problem}")
            work.write([lines_of(number, s, found.trees) for number, (s, found) in decoded])
    reader.report()


def _sample_lines(number: int, sentence: SourceSentence, trees: Sequence[ScoredTree]) -> Lines:
    """Return the trees of a sentence as lines of a file of samples."""
    return [format_sample(number, tree.log_prob, tree.tree) for tree in trees]


def _best_lines(number: int, sentence: SourceSentence, trees: Sequence[ScoredTree]) -> Lines:
    """Return the tree of a sentence; an empty line without one."""
    return [tree.tree for tree in trees] or [""]


def _json_lines(number: int, sentence: SourceSentence, trees: Sequence[ScoredTree]) -> Lines:
    return [json_line(number + 1, sentence, trees, signature())]
