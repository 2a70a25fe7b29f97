"""`python3 -m scripts.english.unlabelled ARCHIVES`: the gain of self-training and of ensembles, for general English.

It runs in the output folder of `scripts.english` and makes each file once. All parsers learn from the trees of MASC and
GUM with jackknifed tags, and have the same tagger. Self-trained parsers also learn from the first parser's trees of
other sentences: of MASC's texts without trees, or of as many training sentences of CRAFT, whose trees are not read. Of
MASC's sentences, one parser gets the samples that a generative model of the same gold trees finds most probable.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

import scripts.script_start  # noqa: F401
from oracle.brackets import parse_line
from oracle.training_data import evenly_spaced
from rnng_dy.evaluation.evalb import Scores, SentenceScore
from rnng_dy.model import TAGGER
from scripts.english.__main__ import GENERATOR, PARSER
from scripts.english.commands import make, run
from scripts.english.domains import lines
from scripts.english.figures import MOST, scores
from scripts.english.texts import tagged_text
from scripts.english.treebanks import GENERAL, TREEBANKS, write

SEEDS = (1, 2, 3)
TREES = "general.trees"
LENGTHS = range(5, 41)
"""Numbers of words of the sentences that are parsed for training."""
WAYS = {"greedy": "", "mbr": "--decode mbr"}
"""The options of each way to decode, by the endings of files."""


def main() -> None:
    """Print F1 of the development trees of each treebank and of all, with own tags: of greedy and of MBR trees."""
    archives = Path(sys.argv[1])
    write(Path(TREES), trees := [line for name in GENERAL for line in lines(name)])
    make("general.tagged.trees", f"tag {TREES} --jackknife 10 --jobs 2")
    make("dev.general.trees", f"tag dev.trees --train {TREES}")
    craft = (parse_line(line).leaves() for line in lines("craft"))
    texts = {"general": tagged_text(archives, Path()), "biomedical": craft}
    for name, sentences in texts.items():
        fitting = [f"{' '.join(s)}\n" for s in sentences if len(s) in LENGTHS]
        write(Path(f"{name}.tokens"), evenly_spaced(fitting, len(trees)))
    singles = [single(seed) for seed in SEEDS]
    print("| parser |", *(f"{name}: greedy, MBR |" for name in (*TREEBANKS, "all")))
    row("single", *singles[:1])
    for name in texts:
        row(name, silver(name, singles[0], name))
    row("chosen", silver("chosen", singles[0], "general", "--choose-by", generator()))
    row("ensemble", *singles)


def single(seed: int) -> str:
    """Train a parser on gold trees; return its folder."""
    folder = f"parser.jackknifed.{seed}"
    oracle = "oracle --train general.tagged.trees --transitions in-order"
    make("general.tagged.oracle", f"{oracle} general.tagged.trees")
    make("dev.general.oracle", f"{oracle} dev.general.trees")
    data = "--train general.tagged.oracle --dev dev.general.oracle --dev-trees dev.trees"
    run(f"train discriminative {data} --model {folder} --resume --seed {seed} --jobs 2 {PARSER}")
    if not Path(folder, TAGGER).exists():
        run(f"tag --train {TREES} --into {folder}")
    return folder


def generator() -> str:
    """Train a generative model on gold trees; return its folder."""
    for part in ("general", "dev"):
        oracle = f"oracle --train {TREES} {part}.trees --generative"
        make(f"{part}.general.gen.oracle", oracle)
    make("general.paths", "clusters general.general.gen.oracle")
    data = "--train general.general.gen.oracle --dev dev.general.gen.oracle"
    into = "--clusters general.paths --model generator.general --resume"
    run(f"train generative {data} {into} {GENERATOR}")
    return "generator.general"


def silver(name: str, parser: str, text: str, *options: str) -> str:
    """Train a parser on gold trees and on trees of a text by another parser; return its folder."""
    data = f"--trees general.tagged.trees --dev-trees dev.general.trees {text}.tokens"
    training = "--preset fast --dropout 0.3 --evaluate-every 15000 --jobs 2"
    run(f"self-train --model {parser} {data} --into silver.{name} --resume {training}", *options)
    return f"silver.{name}/parser"


def row(name: str, *folders: str) -> None:
    """Print the F1 of a parser, or of an ensemble."""
    models = " ".join(f"--model {folder}" for folder in folders)
    found = [[decoded(name, models, treebank, way) for treebank in TREEBANKS] for way in WAYS]
    pairs = zip(*([*parts, tuple(chain(*parts))] for parts in found), strict=True)
    cells = (", ".join(f"{Scores(part).f1:.1f}" for part in pair) for pair in pairs)
    print(f"| {name} |", *(f" {cell} |" for cell in cells), sep="", flush=True)


def decoded(name: str, models: str, treebank: str, way: str) -> tuple[SentenceScore, ...]:
    """Return the scores of a parser's trees of a treebank's evenly spaced development sentences."""
    gold, file = f"{treebank}.dev.some", f"{name}.{treebank}.dev.{way}"
    write(Path(gold), evenly_spaced(lines(treebank, "dev"), MOST))
    make(file, f"parse {models} --tags own --jobs 2 {WAYS[way]} {gold}")
    return scores(gold, file)


if __name__ == "__main__":
    main()
