"""Which command reads which file: the files to damage, and every command that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.torture import arrays, commands
from scripts.torture.mutations import ANY, TEXT, Mutation
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
    """Files that the command reads although its arguments do not name them."""
    puts: Sequence[Put] = (CONTENT,)
    """Things that may replace the file."""


OPTIONS = "options"
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
"""Formats by the end of a name; the first match counts."""
JSON_FILES = ("config.json", "vocabulary.json", "about.json", "text.json")
MODELS = ("parser", "generator", "lm")
TAGGER = "tagger/averaged_perceptron_tagger_xxx"


def _texts() -> Iterator[Target]:
    """Yield the text files that a command names."""
    for command in commands.COMMANDS:
        for name in dict.fromkeys(command.split()):
            ends = [end for end in FORMAT_OF if name.endswith(end) and not name.startswith("out")]
            if ends and "--resume" not in command:
                yield Target(FORMAT_OF[ends[0]], name, command, TEXT)


def _packed(text: Target) -> Iterator[Target]:
    """Yield a text file as archives of it."""
    # an archive of the original program is read unchanged
    if not text.file.endswith(".params") and "reproduce" not in text.command:
        for ending in ENDINGS:
            name = f"{text.file}{ending}"
            words = [name if word == text.file else word for word in text.command.split()]
            yield Target("packed", name, " ".join(words), PACKED)


def _files_of_models() -> Iterator[Target]:
    """Yield the files of the models that a command names."""
    for command in commands.COMMANDS:
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
        yield Target("tagger", f"parser/{TAGGER}.{part}.json", commands.PARSE_TEXT, JSON)
    yield Target("archive", "parser.rnng.zip", commands.PARSE_BY_ARCHIVE, ANY)


def _kept() -> Iterator[Target]:
    """Yield files that an earlier run left, or that lie beside other files."""
    resume = "score --model generator test.props -o test.scores --resume"
    part = ("test.scores.part", "test.scores.part.key")
    for file in part:
        yield Target("part and key", file, resume, TEXT, part)
    for command in commands.REPORTS:
        for name in ("stages.json", "hashes.json"):
            yield Target(name, f"results/{name}", command, JSON)
    for model in ("parser-corrected-1", "lstm-1"):
        yield Target("log.jsonl", f"results/{model}/log.jsonl", commands.REPORTS[1], TEXT)
    for name, mutations in arrays.MUTATIONS.items():
        for command in (commands.GENERATOR, commands.LSTM_LM):
            folder = f"train.gen.oracle{arrays.ENDING}"
            file = f"{folder}/{name}"
            yield Target("arrays", file, command, mutations, (folder,), arrays.PUTS)


def _places(texts: Sequence[Target], models: Sequence[Target]) -> Iterator[Target]:
    """Yield replacements of inputs, of files of models, of outputs, and of files of an earlier run."""
    for _, file, command, *_ in texts:
        # a file that is read twice cannot be a pipe
        puts = READ if command.split().count(file) == 1 else READ_TWICE
        puts = READ_AS_A_WHOLE if file.endswith(".params") else puts
        yield Target("places", file, command, (), puts=puts)
    for command in commands.COMMANDS:
        if " -o out" in command:
            yield Target("places", "out", command, (), puts=WRITTEN)
    for _, file, command, *_ in models:
        yield Target("places", file, command, (), puts=READ_AS_A_WHOLE)
    for command in (commands.PARSE, commands.SAMPLE, commands.SCORE):
        for name in ("out.part", "out.part.key"):
            for resume in ("", " --resume"):
                yield Target("places", name, command + resume, (), puts=KEPT)


def _targets() -> Iterator[Target]:
    texts, models = list(_texts()), list(_files_of_models())
    yield from (*texts, *models, *_kept())
    for text in texts:
        yield from _packed(text)
    yield from _places(texts, models)
    for command in commands.COMMANDS:
        if "--resume" not in command:
            yield Target(OPTIONS, "", command, ())


TARGETS = list(_targets())
FORMATS = tuple(dict.fromkeys(target.format for target in TARGETS))
