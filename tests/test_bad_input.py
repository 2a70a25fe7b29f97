"""Every kind of bad input: exit code 2, one clear message, no traceback, nothing written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import click
import pytest

from oracle.brackets import read_trees
from oracle.treebank import LONGEST
from rnng_dy.cli import main
from tests.commands import invoke
from tests.conftest import tiny_trees
from tests.rnng_dy.conftest import make_generator, make_parser, save_oracles, sentences_of

TREE = "(S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .))\n"
TRACE = f"(S (NP (DT the)) (VP (VBD slept) (NP (-NONE- *T*-1))))\n{TREE}"
LONG = "the " * (LONGEST + 1)
LONG_TREE = f"{TREE}(S {'(DT the) ' * (LONGEST + 1)})\n"
LONG_BLOCK = f"# (S)\n{LONG}\n{LONG}\nNT(S)\n" + "SHIFT\n" * (LONGEST + 1) + "REDUCE\n"
SAMPLE = "0 ||| -1.5 ||| (S (NP the cat) (VP slept) .)\n"
PREPARE = "prepare --from trees bad -o out"
ORACLE = "oracle --train good.trees bad -o out"
TRAIN = "train discriminative --train {} --dev good.oracle --dev-trees good.trees --model new"
PRETRAINED = TRAIN.format("good.oracle") + " --pretrained bad"
TRAIN_GEN = "train generative --train {} --dev good.gen.oracle --clusters {} --model new"
PARSE = "parse --model parser {} -o out"
SAMPLING = "sample --model parser {} -o out"
SCORE = "score --model generator {} -o out"
RERANK = "rerank {} {} -o out"
EVALB = "evalb {} {}"
SURPRISAL = "surprisal --model generator {} -o out"
STIMULI = "surprisal --model generator --stimuli bad -o out"
SUITES = "suite {} --model generator -o out.json -o page.html -o sums.tsv"
READING = "reading-times good.tsv --times bad -o out --spillover 0"
TIMES = "item\tposition\tword\ttime\n"
SUITE = (
    '{"predictions": [{"formula": "(1;%a%) > 0"}], "items": [{"item_number": 1, "conditions": '
    '[{"condition_name": "a", "regions": [{"region_number": 1, "content": "it"}]}]}]}\n'
)

# what is wrong, the content of the file `bad`, the command, what the message must say
CASES = [
    # trees
    ("a bracket too few", "(S (NP (DT the))\n", PREPARE, "bad:1"),
    ("bytes that are not UTF-8", b"(S (NN caf\xe9))\n", PREPARE, "bad:1"),
    ("a tree file that is missing", None, ORACLE, "bad"),
    ("sections that are no numbers", TREE, "prepare --from ptb bad --sections x -o out", "x"),
    ("an encoding that nobody knows", TREE, f"{PREPARE} --encoding utf-99", "utf-99"),
    ("two test files of one name", TREE, "reproduce trees good.trees good.trees bad bad -o out", "rename one"),
    *((f"{part} file that is the training file", TREE, f"reproduce trees {files} -o out", f"TRAIN and {part} are")
      for part, files in (("DEV", "bad bad good.trees"), ("TEST", "bad good.trees good.props bad"))),
    ("samples as text", SAMPLE, "clusters bad -o out", "bad:1: a tree or likelihood among tokenised sentences"),
    ("the export format as text", "#BOS 1\n", "clusters bad -o out", "this is the export format"),
    ("unknown UNK rules", TREE, f"{ORACLE} --unk stanford", "stanford"),
    *((f"a trace: {command}", TRACE, command, "bad:1: a trace (-NONE-)")
      for command in (ORACLE, "oracle --train bad good.trees -o out", SCORE.format("bad"), "clusters bad -o out",
                      "tag bad --train good.trees -o out", "tag good.trees --train bad -o out")),
    *((f"a sentence of 10,001 words: {command}", content, command, f"bad:{line}: a sentence of 10001 words: divide it")
      for content, line, command in (
          (LONG, 1, PARSE.format("bad")), (LONG, 1, SAMPLING.format("bad --text")),
          (f"the\n{LONG}\n", 2, SURPRISAL.format("bad")), (LONG_TREE, 2, "perplexity bad --model generator"),
          (f"sentence\nit\n{LONG}\n", 3, STIMULI), (f"the ___\n{LONG}\n", 2, "next-words --model generator bad"),
          (f"{LONG}\tit\n", 1, SUITES.format("bad")),
          (LONG_TREE, 2, SCORE.format("bad")), (LONG_BLOCK, 1, TRAIN_GEN.format("bad", "good.paths")),
          (LONG_TREE, 2, "train generative --trees bad --hold-out 0.5 --model new"))),
    # oracles
    ("an oracle cut short", "# (S (NN a))\nNN\na\na\na\nNT(S)\nSHIFT\n", TRAIN.format("bad"), "bad:"),
    ("a generative oracle for the parser", None, TRAIN.format("good.gen.oracle"), "generative"),
    ("UNK classes of other rules", "# (S (NN a))\na\nRARE\nNT(S)\nSHIFT\nREDUCE\n\n",
     TRAIN_GEN.format("bad", "good.paths"), "RARE"),
    *((f"development trees of other {what}", content,
       "train discriminative --train good.oracle --dev good.oracle --dev-trees bad --model new", f"bad:1: its {what}")
      for what, content in (("words", TREE), ("constituents", tiny_trees(0, 40).replace("(NP ", "(XP ")))),
    # clusters and vectors
    ("clusters without tabs", "01 the 3\n", TRAIN_GEN.format("good.gen.oracle", "bad"), "bad:1"),
    ("training words without a cluster", "0\tthe\t3\n", TRAIN_GEN.format("good.gen.oracle", "bad"),
     "not in the clusters"),
    ("vectors of different length", "the 1 2\ncat 1\n", PRETRAINED, "bad:2"),
    ("vectors too large for a model", "the 1 2\ncat 1 1e10\n", PRETRAINED, "bad:2: a value that is not finite, or"),
    ("vectors of which some are missing", "9 2\nthe 1 2\n", PRETRAINED, "bad:1: [9, 2] words and values by this line"),
    ("vectors of other words", "THE 1 2\n", PRETRAINED, "bad: no vector of a lower-cased training word"),
    ("development trees with other tags", TREE.replace("NN ", "NOUN ").replace("DT", "DET").replace("VBD", "VERB"),
     "train discriminative --trees good.trees --dev-trees bad --pos --model new", "such as DET, are none of"),
    # models
    ("a model folder that is missing", TREE, "parse --model nowhere bad", "nowhere"),
    ("a parser for scoring", SAMPLE, "score --model parser bad", "discriminative"),
    ("a training folder that exists", None,
     "train discriminative --train good.oracle --dev good.oracle --dev-trees good.trees --model parser", "--resume"),
    ("resuming what was never trained", None,
     "train discriminative --train good.oracle --dev good.oracle --dev-trees good.trees --model parser --resume",
     "training.npz"),
    ("a vocabulary that is no JSON", None, "parse --model cut good.trees", "vocabulary.json"),
    ("parameters of another model", None, "parse --model swapped good.trees", "parameters.npz"),
    ("a model of a later version", None, "parse --model later good.trees", "version"),
    # input of the parser
    ("words without tags for a parser with tags", "the cat slept\n", PARSE.format("bad"), "bad:1"),
    ("no samples", TREE, SAMPLING.format("bad") + " --samples 0", "samples"),
    ("a negative alpha", TREE, SAMPLING.format("bad") + " --alpha -1", "alpha"),
    ("an alpha that is no number", TREE, SAMPLING.format("bad") + " --alpha nan", "alpha"),
    ("a device that nobody has", TREE, PARSE.format("bad") + " --device tpu", "tpu"),
    # samples and likelihoods
    ("a sample without log q", "0 ||| (S the)\n", SCORE.format("bad"), "bad:1"),
    ("a sample that cannot have been drawn", "0 ||| -inf ||| (S the)\n", SCORE.format("bad"), "bad:1: log q is -inf"),
    ("likelihoods of other samples", "3\t9.5\n4\t8.5\n", RERANK.format("good.props", "bad"), "bad"),
    ("MAP trees for samples", "4\t1.5\n", RERANK.format("good.props", "bad"), "good.props: MAP trees by `rerank`"),
    ("an oracle of other sentences", "4\t9.5\n", RERANK.format("good.props", "bad") + " --oracle good.oracle",
     "good.oracle"),
    # clusters and checkpoints of the original
    ("a corpus without words", "\n", "clusters bad -o out", "the corpus is empty"),
    ("a checkpoint that is no archive", TREE,
     "import-clab discriminative bad --train-oracle good.oracle --model new", "Boost"),
    # evaluation
    ("fewer trees than gold trees", TREE, EVALB.format("good.trees", "bad"), "bad"),
    ("a parameter file with an unknown statement", "NONSENSE 1\n",
     EVALB.format("good.trees", "good.trees") + " --params bad", "bad:1"),
    # options
    ("a command that does not exist", None, "prase", "prase"),
    ("a folder without a model to show", TREE, "models show .", "is no model folder, since it has no config.json"),
    ("an output that is named like a folder", None, "clusters good.oracle -c 4 -o new/", "new/ is a folder"),
    ("an archive that is none", "PK", "models export bad -o new.zip", "bad is a file, and a model is a folder"),
    ("weighted sentences of which some are held out", None,
     "train discriminative --trees good.trees --hold-out 0.5 --model new --set gold=2 --set gold_weight=2", "hold-out"),
    ("an earlier model's log p from a pipe", TREE, "perplexity bad --model generator --against -",
     "-: this is read several times: name a file"),
    ("a weight of no sentences", None, TRAIN.format("good.oracle") + " --set gold_weight=2", "goes with --set gold"),
    ("an option that does not exist", None, "parse --modle x bad", "modle"),
    ("a dropout of 1", None, TRAIN.format("good.oracle") + " --dropout 1", "dropout"),
    ("no sentences to generate", None, "generate --model generator -n 0", "-n"),
    # language models, tags, comparison, reproduction
    ("n-grams of a damaged tree", "(S (NP\n", "perplexity good.gen.oracle --scorer kneser-ney=bad", "bad:1"),
    ("a parser as language model", None, "perplexity good.gen.oracle --model parser", "parser"),
    ("sentences from a parser", None, "generate --model parser -o out", "parser"),
    # word-by-word surprisals
    ("a workbook with other bytes", b"PK\x03\x04\xff\n", STIMULI, "bad:1: an archive"),
    ("bytes in a text to continue", b"the cat\nthe \xff\n", "next-words --model generator bad -o out", "bad:2"),
    ("a tree with a label that the model lacks", f"{TREE}(S (XP (NN cat) (NN cat)))\n",
     SURPRISAL.format("bad") + " --along-trees", "bad:2: unseen in training: XP"),
    ("no particles", TREE, SURPRISAL.format("bad") + " --search particles --particles 0", "particles"),
    # test suites
    ("a suite of a region that is none", SUITE.replace("1;", "9;"), SUITES.format("bad"),
     "bad: prediction 1: item 1 has no region 9"),
    ("a pair without its other half", "the cat slept\n", SUITES.format("bad"), "bad:1"),
    ("a suite that is missing", None, SUITES.format("nowhere"), "agreement-pp"),
    ("trees without tags to tag", "(S the cat)\n", "tag bad --train good.trees -o out", "bad:1"),
    ("outputs of a tagger that is only kept", None, "tag --train good.trees --into parser -o out", "--into"),
    ("trees that the tagger has learned from", TREE, "tag bad --train bad -o out", "bad: most trees are in bad: tag"),
    ("no tagger", TREE, "tag bad -o out", "give either --train"),
    ("a server without words", None, "serve --model parser --limit words=0", "0 is not in the range"),
    ("a model to serve that is missing", None, "serve --model nowhere", "nowhere"),
    # reading times
    ("a table of times without a column", "item\tposition\tword\n", READING, "bad:1: no column 'time'"),
    ("words of another text", TIMES + "1\t1\ta\t300\n1\t2\tdog\t310\n", READING,
     "good.tsv:2: 'the cat'"),
    ("a table of surprisals that is none", TREE, "reading-times bad --times times.tsv", "bad:1: columns are"),
    # drawings
    ("gold trees of other sentences", TREE, "show good.trees --gold bad", "bad"),
    ("the best trees and samples at once", TREE, "parse --model parser bad --nbest 2 --samples 2", "--samples"),
    ("a treebank that is missing", None, "reproduce ptb nowhere -o new", "nowhere"),
    ("a seed that is too high", None, "reproduce nltk --seeds 99999999999 -o new", "4294967295"),
    ("a composition of words", None,
     "train lstm-lm --train good.gen.oracle --dev good.gen.oracle --model new --composition buggy", "compos"),
]  # fmt: skip


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    """A folder with sound files and models, none of which a case may change."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.trees").write_text(tiny_trees(0, 40), encoding="utf-8")
    trees = list(read_trees(folder / "good.trees"))
    save_oracles(folder, "good", trees)
    (folder / "good.props").write_text(SAMPLE, encoding="utf-8")
    (folder / "one.txt").write_text("the cat slept .\n", encoding="utf-8")
    (folder / "times.tsv").write_text(f"{TIMES}1\t1\tthe\t300\n", encoding="utf-8")
    (folder / "good.tsv").write_text("token\tsurprisal\nthe\t3\ncat\t9\n", encoding="utf-8")
    generator = make_generator(sentences_of(trees, True))
    parser = make_parser(sentences_of(trees, False))
    generator.save(folder / "generator")
    parser.save(folder / "parser")
    later = (folder / "parser/config.json").read_bytes().replace(b'"version": ', b'"version": 9')
    for name, file, content in (
        ("cut", "vocabulary.json", (folder / "parser/vocabulary.json").read_bytes()[:99]),
        ("swapped", "parameters.npz", (folder / "generator/parameters.npz").read_bytes()),
        ("later", "config.json", later),
    ):
        shutil.copytree(folder / "parser", folder / name)
        (folder / name / file).write_bytes(content)
    words = [w for w in generator.vocabulary.words.symbols if w != "<s>"]
    (folder / "good.paths").write_text("".join(f"0\t{w}\t1\n" for w in words), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("content", "command", "says"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_bad_input(good, tmp_path, monkeypatch, content, command, says):
    folder = tmp_path / "work"
    shutil.copytree(good, folder)
    monkeypatch.chdir(folder)
    if content is not None:
        (folder / "bad").write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    result = invoke(*command.split(), code=2)
    messages = [line for line in result.stderr.splitlines() if line.startswith("Error")]
    assert len(messages) == 1
    assert says in messages[0]
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
    assert not result.stdout


def commands(command: click.Command, *names: str) -> Iterator[tuple[str, ...]]:
    """The names of every command below, `train discriminative` as two."""
    if not isinstance(command, click.Group):
        yield names
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), *names, name)


# these read nothing but the machine
WITHOUT_INPUT = {("doctor",), ("models",)}


@pytest.mark.parametrize("names", sorted(set(commands(main)) - WITHOUT_INPUT), ids=" ".join)
def test_every_command_is_given_bad_input(names):
    assert any(tuple(command.split()[: len(names)]) == names for _, _, command, _ in CASES)
