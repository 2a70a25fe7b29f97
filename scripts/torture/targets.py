"""Which command reads what: the files that are damaged, and every command that is given them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.torture import arrays
from scripts.torture.data import (
    ADAM,
    GENERATIVE,
    OFTEN,
    ORACLES,
    PARSER,
    PARSER_SIZES,
    REPRODUCE,
    RNNG_SIZES,
    SIZES,
)
from scripts.torture.mutations import TEXT, Mutation
from scripts.torture.packed import ENDINGS, PACKED
from scripts.torture.places import CONTENT, KEPT, READ, READ_AS_A_WHOLE, READ_TWICE, WRITTEN, Put
from scripts.torture.structures import JSON, NPZ, TRAINING


class Target(NamedTuple):
    """A file to damage and a command that reads it."""

    format: str
    file: str
    command: str
    mutations: Sequence[Mutation]
    also: tuple[str, ...] = ()
    """Files that the command finds without being told."""
    puts: Sequence[Put] = (CONTENT,)
    """What may come into the file's place."""


OPTIONS = "options"
EPOCH = f"{OFTEN} --epochs 1 --model new"
DISCRIMINATIVE = f"train discriminative {ORACLES} {PARSER} {EPOCH}"
GENERATOR = f"train generative {GENERATIVE} {RNNG_SIZES} {EPOCH} --evaluate-from-epoch 0"
LSTM_LM = f"train lstm-lm {GENERATIVE} {SIZES} {ADAM} {EPOCH} --evaluate-from-epoch 0"
IMPORT = (
    "import-clab discriminative reference.disc.params --train-oracle many.oracle --pos --model new"
)
IMPORT_GENERATIVE = (
    "import-clab generative reference.gen.params --train-oracle many.gen.oracle "
    "--clusters reference.clusters.paths --model new"
)
RESUME = "--epochs 2 --resume --model"
RESUME_PARSER = (
    f"train discriminative {ORACLES} {PARSER} --pretrained vectors.txt {OFTEN} {RESUME} parser"
)
RESUME_GENERATOR = f"train generative {GENERATIVE} {RNNG_SIZES} {OFTEN} {RESUME} generator"
RESUME_LM = f"train lstm-lm {GENERATIVE} {SIZES} {ADAM} {OFTEN} {RESUME} lm"
PARSE = "parse --model parser test.oracle -o out"
PARSE_TEXT = "parse --model parser --text plain.txt --format json --nbest 2 -o out"
OWN_TREES = f"train discriminative --trees train.trees --hold-out 0.2 {PARSER_SIZES} {EPOCH}"
SHOW = "show system.trees --gold test.trees --format html -o out"
SAMPLE = "sample --model parser --samples 2 test.oracle -o out"
SCORE = "score --model generator test.props -o out"
PERPLEXITY = "perplexity test.gen.oracle --model lm -o out --json out.json"
KNESER_NEY = "perplexity test.gen.oracle --kneser-ney train.gen.oracle -o out --json out.json"
SURPRISAL = (
    "surprisal --model generator test.gen.oracle --beam 6 --fast-track 1 --word-beam 2 --end -o out --trees out.trees "
    "--beams out.beams --json out.json --html out.html"
)
PARTICLES = "surprisal --model generator --search particles --particles 9 --runs 2 plain.txt -o out"
LM_SURPRISAL = "surprisal --model lm plain.txt --merge plain.txt -o out --json out.json"
KNESER_NEY_SURPRISAL = (
    "surprisal --kneser-ney train.gen.oracle test.gen.oracle -o out --html out.html"
)
BESIDE = (
    "perplexity test.gen.oracle --model generator --beam 20 --fast-track 1 --word-beam 2 "
    "--samples test.props --likelihoods test.likelihoods -o out --json out.json"
)
COMPARE = (
    "compare test.trees system.trees system.trees --name a --name b --samples test.props test.likelihoods "
    "--samples test.props test.likelihoods"
)
ATTENTION = "attention --model gated test.trees --analysis -o out --json out.json --html out.html"
REPRODUCE_ANEW = (
    "reproduce trees --train train.trees --dev dev.trees --test test.trees --tags gold "
    "--stages data --dry-run -o out"
)

PREPARE = "prepare --from {} treebank.mrg -o out"
COMMANDS = [
    "prepare --from trees test.trees -o out",
    *(PREPARE.format(corpus) for corpus in ("ptb", "ctb", "trees")),
    *(PREPARE.format(corpus) for corpus in ("ptb --skip-preterminals", "ptb --encoding gb18030")),
    "oracle --train train.trees test.trees -o out",
    "oracle --train train.trees test.trees --generative --unk berkeley-unicode -o out",
    "clusters train.trees -c 4 -o out",
    "clusters train.gen.oracle -c 4 --refine -o out",
    "clusters plain.txt -c 4 --format text -o out",
    "clusters plain.txt -c 4 --min-count 2 --within-sentences -o out",
    "clusters show clusters.paths",
    "clusters show clusters.paths --html out",
    "tag test.trees --train train.trees -o out",
    "tag test.trees --jackknife 2 -o out --json out.json",
    "tag test.trees --tags tagged.txt -o out",
    *(DISCRIMINATIVE, f"{DISCRIMINATIVE} --pretrained vectors.txt", OWN_TREES, GENERATOR, LSTM_LM),
    *(RESUME_PARSER, RESUME_GENERATOR, RESUME_LM, IMPORT, IMPORT_GENERATIVE),
    *(PARSE, PARSE_TEXT),
    "parse --model parser test.trees -o out",
    "parse --model parser tagged.txt -o out",
    "parse --model parser --tagged tagged.txt -o out",
    "parse --model untagged bare.trees -o out",
    "parse --model untagged plain.txt -o out",
    SAMPLE,
    "sample --model parser --samples 2 test.trees -o out",
    "sample --model parser --samples 2 tagged.txt -o out",
    "sample --model untagged --samples 2 --untagged plain.txt -o out",
    "about parser",
    "plot parser lm -o out",
    SCORE,
    "score --model generator test.trees -o out",
    *(f"generate --model {model} -n 2 -o out" for model in ("generator", "lm")),
    *(PERPLEXITY, BESIDE, KNESER_NEY, f"{KNESER_NEY} --clusters clusters.paths"),
    *(SURPRISAL, PARTICLES, LM_SURPRISAL, KNESER_NEY_SURPRISAL),
    "suite suite.json --model lm --regions out --json out.json --html out.html",
    "suite pairs.txt --model lm --json out.json",
    "rerank test.props test.likelihoods -o out --ess",
    "rerank test.props test.likelihoods -o out --oracle test.oracle",
    "rerank test.props test.likelihoods -o out --oracle test.oracle --allow-missing",
    "evalb test.trees system.trees",
    "evalb test.trees system.trees --format evalb",
    "evalb test.trees system.trees --format json --params new",
    *(f"evalb test.trees system.trees --params rules.prm --format {style}"
      for style in ("table", "evalb", "json")),
    "compare test.trees system.trees system.trees --name a --name b",
    "compare test.trees system.trees test.trees",
    *(COMPARE, SHOW, "show test.trees --only-errors --gold system.trees"),
    *(ATTENTION, f"{ATTENTION} --head-rules rules.heads", REPRODUCE_ANEW),
]  # fmt: skip
"""Every command that reads files, in all ways in which it reads them."""
FORMAT_OF = {
    "treebank.mrg": "treebank",
    "vectors.txt": "word vectors",
    "pairs.txt": "suite",
    "suite.json": "suite",
    ".trees": "trees",
    ".gen.oracle": "generative oracle",
    ".oracle": "oracle",
    ".txt": "text",
    ".props": "samples",
    ".likelihoods": "likelihoods",
    ".paths": "clusters",
    "rules.prm": "EVALB parameters",
    "rules.heads": "head rules",
    ".params": "Boost archive",
}
"""By the end of a name; the first one counts."""
JSON_FILES = ("config.json", "vocabulary.json", "about.json", "text.json")
MODELS = ("parser", "generator", "lm")
TAGGER = "tagger/averaged_perceptron_tagger_xxx"
REPORTS = [f"{REPRODUCE} --dry-run", f"{REPRODUCE} --stages report"]


def _texts() -> Iterator[Target]:
    """The files of text that a command names."""
    for command in COMMANDS:
        for name in dict.fromkeys(command.split()):
            ends = [end for end in FORMAT_OF if name.endswith(end) and not name.startswith("out")]
            if ends and "--resume" not in command:
                yield Target(FORMAT_OF[ends[0]], name, command, TEXT)


def _packed(text: Target) -> Iterator[Target]:
    """A file of text as archives of it."""
    # an archive of the original program is read as it is
    if not text.file.endswith(".params") and "reproduce" not in text.command:
        for ending in ENDINGS:
            name = f"{text.file}{ending}"
            words = [name if word == text.file else word for word in text.command.split()]
            yield Target("packed", name, " ".join(words), PACKED)


def _files_of_models() -> Iterator[Target]:
    """The files of the models that a command names."""
    for command in COMMANDS:
        for model in [model for model in MODELS if model in command.split()]:
            files = {name: JSON for name in JSON_FILES} | {"parameters.npz": NPZ}
            if model == "parser":
                files["vectors.npz"] = NPZ
            if "--resume" in command:
                files |= {"training.npz": TRAINING, "log.jsonl": TEXT}
            if command.startswith("plot"):
                files = {"log.jsonl": TEXT}
            for name, mutations in files.items():
                yield Target(name, f"{model}/{name}", command, mutations)
    for part in ("weights", "tagdict", "classes"):
        yield Target("tagger", f"parser/{TAGGER}.{part}.json", PARSE_TEXT, JSON)


def _kept() -> Iterator[Target]:
    """Files that an earlier run left, or that stand beside others."""
    resume = "score --model generator test.props -o test.scores --resume"
    part = ("test.scores.part", "test.scores.part.key")
    for file in part:
        yield Target("part and key", file, resume, TEXT, part)
    for command in REPORTS:
        for name in ("stages.json", "hashes.json"):
            yield Target(name, f"results/{name}", command, JSON)
    for model in ("parser-corrected-1", "lstm-1"):
        yield Target("log.jsonl", f"results/{model}/log.jsonl", REPORTS[1], TEXT)
    for name, mutations in arrays.MUTATIONS.items():
        for command in (GENERATOR, LSTM_LM):
            folder = f"train.gen.oracle{arrays.ENDING}"
            file = f"{folder}/{name}"
            yield Target("arrays", file, command, mutations, (folder,), arrays.PUTS)


def _places(texts: Sequence[Target], models: Sequence[Target]) -> Iterator[Target]:
    """Something else in the place of a file that is read, of a model's, of an output, of what an earlier run left."""
    for _, file, command, *_ in texts:
        # what is read twice is no pipe
        puts = READ if command.split().count(file) == 1 else READ_TWICE
        puts = READ_AS_A_WHOLE if file.endswith(".params") else puts
        yield Target("places", file, command, (), puts=puts)
    for command in COMMANDS:
        if " -o out" in command:
            yield Target("places", "out", command, (), puts=WRITTEN)
    for _, file, command, *_ in models:
        yield Target("places", file, command, (), puts=READ_AS_A_WHOLE)
    for command in (PARSE, SAMPLE, SCORE):
        for name in ("out.part", "out.part.key"):
            for resume in ("", " --resume"):
                yield Target("places", name, command + resume, (), puts=KEPT)


def _targets() -> Iterator[Target]:
    texts, models = list(_texts()), list(_files_of_models())
    yield from (*texts, *models, *_kept())
    for text in texts:
        yield from _packed(text)
    yield from _places(texts, models)
    for command in COMMANDS:
        if "--resume" not in command:
            yield Target(OPTIONS, "", command, ())


TARGETS = list(_targets())
FORMATS = tuple(dict.fromkeys(target.format for target in TARGETS))
