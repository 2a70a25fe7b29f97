"""`python3 -m scripts.english.figures`: score the English models on the development and test documents.

Words have the tags of the parser's own tagger. It runs in the output folder of `scripts.english`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import scripts.script_start  # noqa: F401
from oracle.training_data import evenly_spaced

COMMAND = str(Path(sys.executable).with_name("rnng-dy"))
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
    run(f"oracle --train train.trees {gold} -o {oracle}")
    models = "--model english.rnng.zip --tags own --jobs 2"
    run(f"parse {models} {oracle} -o {name}.greedy")
    run(f"parse {models} --decode mbr {oracle} -o {name}.mbr")
    run(f"sample {models} --alpha 0.8 --seed 1 {oracle} -o {name}.props")
    run(f"score --model english-generative.rnng.zip --jobs 2 {name}.props -o {name}.scores")
    rerank = f"rerank {name}.props {name}.scores --oracle {oracle}"
    printed = run(f"{rerank} -o {name}.map")
    run(f"{rerank} -o {name}.map-mbr --decode mbr")
    tags = evalb(f"{gold} {name}.greedy")["tagging_accuracy"]
    decoded = [
        evalb(f"{gold} {name}.{way} --tags gold")["f1"]
        for way in ("greedy", "mbr", "map", "map-mbr")
    ]
    return [tags, *decoded, float(re.search(r"PPL=(\S+)", printed)[1])]


def evalb(arguments: str) -> dict[str, float]:
    """Return the scores of all sentences."""
    return json.loads(run(f"evalb {arguments} --format json"))["all"]


def run(command: str) -> str:
    """Run a command and return what it prints; its messages go to standard error. Ends if it fails."""
    done = subprocess.run([COMMAND, *command.split(), "-q"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


if __name__ == "__main__":
    main()
