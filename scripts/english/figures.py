"""`python3 -m scripts.english.figures`: score the English models on held-out documents.

Words have the tags of the parser's own tagger. It runs in the output folder of `scripts.english`,
and makes each file in `scored` once.
"""

import sys
from pathlib import Path

from oracle.training_data import evenly_spaced
from rnng_dy.evaluation.evalb import Scores, score_systems
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.search.decoding import BESIDE
from rnng_dy.search.importance import read_sampled
from scripts.english.commands import make

SPLITS = ("masc.dev", "craft.dev", "gum.dev", "gum.test")
MOST = 400
"""The most trees of a split that are scored, evenly spaced."""
WAYS = ("greedy", "mbr", "map", "both")
"""Ways to decode, as endings of files."""


def main() -> None:
    """Print tagging accuracy, F1 of four decodings and perplexity of each split, in Markdown."""
    if not Path("train.trees").exists():
        sys.exit("Error: run `python3 -m scripts.english` and enter its output folder")
    Path("scored").mkdir(exist_ok=True)
    print("| documents | tags | greedy | MBR | reranked | both models | perplexity |")
    print("|---|---|---|---|---|---|---|")
    for split in SPLITS:
        print(f"| {split} | {' | '.join(f'{x:.1f}' for x in figures(split))} |", flush=True)


def figures(split: str) -> list[float]:
    """Return tagging accuracy, F1 of each of WAYS, and perplexity of some sentences of a split."""
    lines = Path(f"{split}.trees").read_text(encoding="utf-8").splitlines(keepends=True)
    name = f"scored/{split}"
    Path(f"{name}.trees").write_text("".join(evenly_spaced(lines, MOST)), encoding="utf-8")
    decode(name)
    own_tags = scores(name, WAYS[0], gold_tags=False).figures()
    sampled = read_sampled(f"{name}.props", f"{name}.scores")
    log_ps = [sentence.estimate.log_marginal for sentence in sampled]
    perplexity = likelihood(log_ps, [sentence.words for sentence in sampled]).perplexity
    return [own_tags["tagging_accuracy"], *(scores(name, way).f1 for way in WAYS), perplexity]


def decode(name: str) -> None:
    """Parse and sample the trees of a file by all of WAYS."""
    oracle = f"{name}.oracle"
    make(oracle, f"oracle --train train.trees {name}.trees")
    models = "--model english.rnng.zip --own-tags --jobs 2"
    make(f"{name}.greedy", f"parse {models} --format trees {oracle}")
    make(f"{name}.mbr", f"parse {models} --format trees --decode mbr {oracle}")
    make(f"{name}.props", f"sample {models} --seed 1 {oracle}")
    make(f"{name}.scores", f"score --model english-judge.rnng.zip --jobs 2 {name}.props")
    rerank = f"rerank {name}.props {name}.scores --oracle {oracle}"
    make(f"{name}.map", rerank)
    make(f"{name}.both", f"{rerank} --decode mbr --weight {BESIDE}")


def scores(name: str, way: str, gold_tags: bool = True) -> Scores:
    """Return the scores of the trees that a way of decoding has made."""
    return score_systems(f"{name}.trees", [f"{name}.{way}"], gold_tags=gold_tags)[0]


if __name__ == "__main__":
    main()
