"""`python3 -m scripts.english.figures`: score the English models on the development and test documents.

Words have the tags of the parser's own tagger. It runs in the output folder of `scripts.english`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import scripts.script_start  # noqa: F401
from oracle.training_data import evenly_spaced
from scripts.english.commands import output

PARTS = ("masc.dev", "craft.dev", "gum.dev", "gum.test")
MOST = 400
"""The most trees of a part that are scored, evenly spaced."""


def main() -> None:
    """Print a table in Markdown: tagging accuracy, F1 of four decodings, perplexity."""
    print("| part | sentences | tags | greedy | MBR | reranked | reranked MBR | perplexity |")
    print("|---|---|---|---|---|---|---|---|")
    for part in PARTS:
        lines = Path(f"{part}.trees").read_text(encoding="utf-8").splitlines(keepends=True)
        gold = Path("scored", f"{part}.trees")
        gold.parent.mkdir(exist_ok=True)
        gold.write_text("".join(chosen := evenly_spaced(lines, MOST)), encoding="utf-8")
        numbers = " | ".join(f"{number:.1f}" for number in figures(gold))
        print(f"| {part} | {len(chosen)} | {numbers} |", flush=True)


def figures(gold: Path) -> list[float]:
    """Return the numbers of a row."""
    name = str(gold.with_suffix(""))
    oracle = f"{name}.oracle"
    output(f"oracle --train train.trees {gold} -o {oracle}")
    models = "--model english.rnng.zip --tags own --jobs 2"
    output(f"parse {models} {oracle} -o {name}.greedy")
    output(f"parse {models} --decode mbr {oracle} -o {name}.mbr")
    output(f"sample {models} --alpha 0.8 --seed 1 {oracle} -o {name}.props")
    output(f"score --model english-generative.rnng.zip --jobs 2 {name}.props -o {name}.scores")
    rerank = f"rerank {name}.props {name}.scores --oracle {oracle}"
    printed = output(f"{rerank} -o {name}.map")
    output(f"{rerank} -o {name}.map-mbr --decode mbr")
    tags = evalb(f"{gold} {name}.greedy")["tagging_accuracy"]
    decoded = [
        evalb(f"{gold} {name}.{way} --tags gold")["f1"]
        for way in ("greedy", "mbr", "map", "map-mbr")
    ]
    return [tags, *decoded, float(re.search(r"PPL=(\S+)", printed)[1])]


def evalb(arguments: str) -> dict[str, float]:
    """Return the scores of all sentences."""
    return json.loads(output(f"evalb {arguments} --format json"))["all"]


if __name__ == "__main__":
    main()
