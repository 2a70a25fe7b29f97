"""`python3 -m scripts.english`: make the English models that the package brings.

Every file is made once: a run that was interrupted continues where it was.
"""

import argparse
import os
from pathlib import Path

from rnng_dy.model_folder import TAGGER
from scripts.english.commands import make, run
from scripts.english.texts import OPEN, segmented, tagged_text, write_different, write_sentences
from scripts.english.treebanks import GENERAL, write_trees
from scripts.english.vectors import write_vectors

DATA = (
    "MASC I (ANC, unrestricted), CRAFT (CC BY 3.0), GUM (CC BY 4.0), other text: see ATTRIBUTION.md"
)
TERMS = "--licence", "CC BY 4.0", "--data", DATA
VECTORS, MASC, TEXT, SOME, ALL = "vectors.txt", "masc.txt", "open.txt", "some.txt", "all.txt"
"""Word vectors, and sentences without trees: SOME and ALL get trees by models."""
TRAINING = "--preset fast --dropout 0.3 --set evaluate_every=15000"
PARSER = f"--pos --no-tagger --set lstm_input=160 --hidden 160 --epochs 6 {TRAINING}"
SELF_TRAINING = f"--epochs 4 --learning-rate 0.002 {TRAINING}"
# half the paper's dimensions: this model only judges the parser's trees
JUDGE = "--preset fast --epochs 4 --set lstm_input=128 --hidden 128 --set evaluate_every=15000"
OF_TEXT = (
    "--preset fast --epochs 1 --dropout 0 --batch-size 32 --learning-rate 0.003 "
    "--set evaluate_every=100000 --set evaluate_from_epoch=0"
)


def main() -> None:
    """Make what is missing in the output folder."""
    parser = argparse.ArgumentParser(prog="scripts.english", description=__doc__)
    shared = os.environ.get("RNNG_DY_SHARED", "../shared")
    archives, texts = Path(shared, "treebanks", "open"), Path(shared, "open_text")
    for name, folder in {"archives": archives, "output": Path("english"), "texts": texts}.items():
        parser.add_argument(f"--{name}", type=Path, default=folder, help="[default: %(default)s]")
    options = parser.parse_args()
    texts = [(options.texts / f"{name}.txt.xz").resolve(strict=True) for name in OPEN]
    print("On two cores all steps together take about six hours.", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    trees(options.archives, texts, options.output)
    os.chdir(options.output)
    oracles()
    make_parser()
    make_language_models()


def trees(archives: Path, texts: list[Path], folder: Path) -> None:
    """Write the trees of all splits, sentences without trees, and word vectors."""
    if not (folder / "dev.trees").exists():
        print(*write_trees(archives, folder), sep="\n", flush=True)
    steps = {
        MASC: lambda to: write_sentences(tagged_text(archives, folder), to),
        TEXT: lambda to: write_sentences(segmented(texts, folder / "train.trees"), to),
        SOME: lambda to: write_different(folder, to, {MASC: 12_000, TEXT: 50_000}, range(5, 41)),
        ALL: lambda to: write_different(folder, to, {TEXT: 10**7}, range(3, 81)),
        VECTORS: lambda to: write_vectors(folder, to, MASC, TEXT),
    }
    for file, write in steps.items():
        if not (folder / file).exists():
            write(folder / file)


def oracles() -> None:
    """Tag the trees as the parser will find them, and make oracles and clusters."""
    make("train.tagged.trees", "tag train.trees --jackknife 10 --jobs 2")
    make("dev.tagged.trees", "tag dev.trees --train train.trees")
    for split in ("train", "dev"):
        tagged = f"oracle --train train.tagged.trees {split}.tagged.trees"
        make(f"{split}.oracle", f"{tagged} --transitions in-order")
        make(f"{split}.gen.oracle", f"oracle --train train.trees {split}.trees --generative")
    make("clusters.paths", "clusters train.gen.oracle --refine")


def make_parser() -> None:
    """Train and export the parser, which also learns from trees that two models make of text."""
    data = "--train train.oracle --dev dev.oracle --dev-trees dev.trees"
    words = f"--pretrained {VECTORS} --set word_size=16"
    into = f"--model parser --resume {PARSER} {words} {weighted()}"
    run(f"train discriminative {data} {into}")
    if not Path("parser", TAGGER).exists():
        run("tag --train tagger.trees --into parser")
    data = "--train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths"
    run(f"train generative {data} --open --model judge --resume {JUDGE} {weighted()}")
    export("judge", "english-judge", bits=16)
    both = "--model parser --generator english-judge.rnng.zip"
    make("parsed.trees", f"parse {both} --samples 50 {SOME} --jobs 2")
    make("silver.trees", "prepare --from trees train.tagged.trees parsed.trees")
    trees = "--trees silver.trees --dev-trees dev.tagged.trees --init parser --extend"
    run(f"train discriminative {trees} --model silver --resume {SELF_TRAINING} {weighted()}")
    export("silver", "english", bits=8)


def make_language_models() -> None:
    """Train and export the generative model on gold trees and the parser's, and an LSTM."""
    Path("texts").mkdir(exist_ok=True)
    make("texts/parsed.trees", f"parse --model english.rnng.zip {ALL} --jobs 2")
    make("all.trees", "prepare --from trees train.trees texts/parsed.trees")
    for split in ("all", "dev"):
        oracle = f"oracle --train all.trees {split}.trees --generative --min-count 5"
        make(f"texts/{split}.gen.oracle", oracle)
    make("texts/clusters.paths", "clusters texts/all.gen.oracle --refine")
    data = "--train texts/all.gen.oracle --dev texts/dev.gen.oracle --clusters texts/clusters.paths"
    how = f"--open --resume {OF_TEXT} {weighted()}"
    # the stack alone: the full state learns agreement from the last words
    run(f"train generative {data} {how} --state stack --model generator")
    export("generator", "english-generative", bits=8)
    run(f"train lstm-lm {data} {how} --model lstm")
    export("lstm", "english-lstm", bits=8)


def export(folder: str, name: str, bits: int) -> None:
    """Write an archive of a model with its terms."""
    make(f"{name}.rnng.zip", f"models export {folder} --bits {bits}", *TERMS)


def weighted() -> str:
    """Return the options by which the first training trees, of general English, count twice."""
    files = (Path(f"{name}.train.trees") for name in GENERAL)
    general = sum(file.read_bytes().count(b"\n") for file in files)
    return f"--set gold_weight=2 --jobs 2 --set gold={general}"


if __name__ == "__main__":
    main()
