"""Which command reads what: the files that are damaged, and every command that is given them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.torture.arrays import ENDING, FILES, PUTS, mutations_of
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
from scripts.torture.places import KEPT, READ, READ_AS_A_WHOLE, READ_TWICE, WRITTEN, Put
from scripts.torture.structures import JSON, NPZ, TRAINING


class Target(NamedTuple):
    """A file to damage and a command that reads it."""

    format: str
    file: str
    command: str
    mutations: Sequence[Mutation]
    also: tuple[str, ...] = ()
    """Files that the command finds without being told."""
    puts: Sequence[Put] = (Path.write_bytes,)
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
TAGGER = [
    f"tagger/averaged_perceptron_tagger_xxx.{part}.json"
    for part in ("weights", "tagdict", "classes")
]
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

TEXTS = {
    "trees": [
        ("test.trees", "prepare --from trees test.trees -o out"),
        ("test.trees", "oracle --train train.trees test.trees -o out"),
        ("test.trees", "oracle --train train.trees test.trees --generative --unk berkeley-unicode -o out"),
        ("train.trees", "oracle --train train.trees test.trees -o out"),
        ("test.trees", "evalb test.trees system.trees"),
        ("system.trees", "evalb test.trees system.trees --format evalb"),
        ("system.trees", "evalb test.trees system.trees --format json --params new"),
        ("test.trees", "compare test.trees system.trees system.trees --name a --name b"),
        ("system.trees", "compare test.trees system.trees test.trees"),
        ("test.trees", "parse --model parser test.trees -o out"),
        ("bare.trees", "parse --model untagged bare.trees -o out"),
        ("test.trees", "sample --model parser --samples 2 test.trees -o out"),
        ("test.trees", "score --model generator test.trees -o out"),
        ("train.trees", "clusters train.trees -c 4 -o out"),
        ("test.trees", "tag test.trees --train train.trees -o out"),
        ("train.trees", "tag test.trees --train train.trees -o out"),
        ("test.trees", "tag test.trees --jackknife 2 -o out --json out.json"),
        ("dev.trees", DISCRIMINATIVE),
        ("train.trees", OWN_TREES),
        ("system.trees", SHOW),
        ("test.trees", SHOW),
        ("test.trees", ATTENTION),
        ("test.trees", "show test.trees --only-errors --gold system.trees"),
        ("train.trees", REPRODUCE_ANEW),
        ("test.trees", REPRODUCE_ANEW),
    ],
    "treebank": [
        ("treebank.mrg", "prepare --from ptb treebank.mrg -o out"),
        ("treebank.mrg", "prepare --from ptb treebank.mrg --skip-preterminals -o out"),
        ("treebank.mrg", "prepare --from ctb treebank.mrg -o out"),
        ("treebank.mrg", "prepare --from trees treebank.mrg -o out"),
        ("treebank.mrg", "prepare --from ptb treebank.mrg --encoding gb18030 -o out"),
    ],
    "oracle": [
        ("train.oracle", DISCRIMINATIVE),
        ("dev.oracle", DISCRIMINATIVE),
        ("test.oracle", PARSE),
        ("test.oracle", SAMPLE),
        ("test.oracle", "rerank test.props test.likelihoods -o out --oracle test.oracle"),
        ("many.oracle", IMPORT),
    ],
    "generative oracle": [
        ("train.gen.oracle", GENERATOR),
        ("dev.gen.oracle", GENERATOR),
        ("train.gen.oracle", LSTM_LM),
        ("dev.gen.oracle", LSTM_LM),
        ("train.gen.oracle", KNESER_NEY),
        ("test.gen.oracle", KNESER_NEY),
        ("test.gen.oracle", PERPLEXITY),
        ("test.gen.oracle", SURPRISAL),
        ("test.gen.oracle", KNESER_NEY_SURPRISAL),
        ("train.gen.oracle", KNESER_NEY_SURPRISAL),
        ("test.gen.oracle", BESIDE),
        ("train.gen.oracle", "clusters train.gen.oracle -c 4 --refine -o out"),
        ("many.gen.oracle", IMPORT_GENERATIVE),
    ],
    "text": [
        ("plain.txt", "parse --model untagged plain.txt -o out"),
        ("plain.txt", "sample --model untagged --samples 2 --untagged plain.txt -o out"),
        ("tagged.txt", "parse --model parser tagged.txt -o out"),
        ("tagged.txt", "parse --model parser --tagged tagged.txt -o out"),
        ("tagged.txt", "sample --model parser --samples 2 tagged.txt -o out"),
        ("plain.txt", PARTICLES),
        ("plain.txt", LM_SURPRISAL),
        ("plain.txt", "clusters plain.txt -c 4 --format text -o out"),
        ("plain.txt", "clusters plain.txt -c 4 --min-count 2 --within-sentences -o out"),
        ("tagged.txt", "tag test.trees --tags tagged.txt -o out"),
    ],
    "suite": [
        ("suite.json", "suite suite.json --model lm --regions out --json out.json --html out.html"),
        ("pairs.txt", "suite pairs.txt --model lm --json out.json"),
    ],
    "samples": [
        ("test.props", SCORE),
        ("test.props", "rerank test.props test.likelihoods -o out --ess"),
        ("test.props", "rerank test.props test.likelihoods -o out --oracle test.oracle --allow-missing"),
        ("test.props", BESIDE),
        ("test.props", COMPARE),
    ],
    "likelihoods": [
        ("test.likelihoods", "rerank test.props test.likelihoods -o out --ess"),
        ("test.likelihoods", BESIDE),
        ("test.likelihoods", COMPARE),
    ],
    "clusters": [
        ("clusters.paths", "clusters show clusters.paths"),
        ("clusters.paths", "clusters show clusters.paths --html out"),
        ("clusters.paths", GENERATOR),
        ("clusters.paths", LSTM_LM),
        ("clusters.paths", f"{KNESER_NEY} --clusters clusters.paths"),
        ("reference.clusters.paths", IMPORT_GENERATIVE),
    ],
    "word vectors": [("vectors.txt", f"{DISCRIMINATIVE} --pretrained vectors.txt")],
    "EVALB parameters": [
        ("rules.prm", f"evalb test.trees system.trees --params rules.prm --format {style}")
        for style in ("table", "evalb", "json")
    ],
    "head rules": [("rules.heads", f"{ATTENTION} --head-rules rules.heads")],
    "Boost archive": [("reference.disc.params", IMPORT), ("reference.gen.params", IMPORT_GENERATIVE)],
}  # fmt: skip
USES = {
    "parser": [PARSE, SAMPLE, PARSE_TEXT, "about parser"],
    "generator": [SCORE, SURPRISAL, BESIDE, "generate --model generator -n 2 -o out"],
    "lm": [PERPLEXITY, LM_SURPRISAL, "generate --model lm -n 2 -o out"],
}
RESUMES = {"parser": RESUME_PARSER, "generator": RESUME_GENERATOR, "lm": RESUME_LM}
REPORTS = [f"{REPRODUCE} --dry-run", f"{REPRODUCE} --stages report"]


def _targets() -> list[Target]:
    found = [
        Target(format, file, command, TEXT)
        for format, pairs in TEXTS.items()
        for file, command in pairs
    ]
    for model, commands in USES.items():
        for command in (*commands, RESUMES[model]):
            found += [
                Target(name, f"{model}/{name}", command, JSON)
                for name in ("config.json", "vocabulary.json", "about.json", "text.json")
            ]
            found.append(Target("parameters.npz", f"{model}/parameters.npz", command, NPZ))
        resume = RESUMES[model]
        found.append(Target("training.npz", f"{model}/training.npz", resume, TRAINING))
        found.append(Target("log.jsonl", f"{model}/log.jsonl", resume, TEXT))
    found += [Target("tagger", f"parser/{name}", PARSE_TEXT, JSON) for name in TAGGER]
    found.append(Target("log.jsonl", "parser/log.jsonl", "plot parser lm -o out", TEXT))
    for command in (*USES["parser"], RESUME_PARSER):
        found.append(Target("vectors.npz", "parser/vectors.npz", command, NPZ))
    resume = "score --model generator test.props -o test.scores --resume"
    part = ("test.scores.part", "test.scores.part.key")
    found += [Target("part and key", file, resume, TEXT, part) for file in part]
    for command in REPORTS:
        for name in ("stages.json", "hashes.json"):
            found.append(Target(name, f"results/{name}", command, JSON))
    for model in ("parser-corrected-1", "lstm-1"):
        found.append(Target("log.jsonl", f"results/{model}/log.jsonl", REPORTS[1], TEXT))
    found += [*_packed_targets(), *_places(), *_arrays_targets()]
    sound = [DISCRIMINATIVE, GENERATOR, LSTM_LM, IMPORT, IMPORT_GENERATIVE, COMPARE, REPRODUCE_ANEW]
    sound += [command for commands in USES.values() for command in commands]
    sound += [KNESER_NEY, KNESER_NEY_SURPRISAL, PARTICLES]
    sound += [command for pairs in (TEXTS["trees"], TEXTS["clusters"]) for _, command in pairs]
    found += [Target(OPTIONS, "", command, ()) for command in dict.fromkeys(sound)]
    return found


def _packed_targets() -> Iterator[Target]:
    """Every command that reads a file of text, with that file packed."""
    for pairs in TEXTS.values():
        for file, command in pairs:
            # an archive of the original program is read as it is
            if not file.endswith(".params") and "reproduce" not in command:
                for ending in ENDINGS:
                    words = [f"{file}{ending}" if w == file else w for w in command.split()]
                    yield Target("packed", f"{file}{ending}", " ".join(words), PACKED)


def _places() -> Iterator[Target]:
    """Something else in the place of a file that is read, of a model's, of an output, of what an earlier run left."""
    for pairs in TEXTS.values():
        for file, command in pairs:
            # what is read twice is no pipe
            puts = READ if command.split().count(file) == 1 else READ_TWICE
            puts = READ_AS_A_WHOLE if file.endswith(".params") else puts
            yield Target("places", file, command, (), puts=puts)
            if " -o out" in command:
                yield Target("places", "out", command, (), puts=WRITTEN)
    for model, commands in USES.items():
        for command in (*commands, RESUMES[model]):
            for name in (
                "config.json",
                "vocabulary.json",
                "about.json",
                "text.json",
                "parameters.npz",
            ):
                yield Target("places", f"{model}/{name}", command, (), puts=READ_AS_A_WHOLE)
        for name in ("training.npz", "log.jsonl"):
            yield Target("places", f"{model}/{name}", RESUMES[model], (), puts=READ_AS_A_WHOLE)
    for command in (PARSE, SAMPLE, SCORE):
        for name in ("out.part", "out.part.key"):
            for resume in ("", " --resume"):
                yield Target("places", name, command + resume, (), puts=KEPT)


def _arrays_targets() -> Iterator[Target]:
    """The arrays of an oracle that is trained on."""
    for name in FILES:
        for command in (GENERATOR, LSTM_LM):
            folder = f"train.gen.oracle{ENDING}"
            yield Target("arrays", f"{folder}/{name}", command, mutations_of(name), (folder,), PUTS)


TARGETS = _targets()
FORMATS = tuple(dict.fromkeys(target.format for target in TARGETS))
