"""`python3 -m scripts.english.domains`: parsers of general English, of biomedicine, and of both, each scored on all.

It runs in the output folder of `scripts.english` and makes each file once. The parsers have the same number of training
trees with gold tags, so that they differ by their domain alone.
"""

from __future__ import annotations

from pathlib import Path

import scripts.script_start  # noqa: F401
from oracle.training_data import evenly_spaced
from rnng_dy.evaluation.evalb import Scores
from scripts.english.__main__ import PARSER
from scripts.english.commands import check_folder, make, run
from scripts.english.figures import scores
from scripts.english.treebanks import GENERAL, TREEBANKS, write


def main() -> None:
    """Print a row for each parser: by treebank, accuracy of the tagger and F1 with its tags, and F1 with gold tags."""
    check_folder()
    general = [line for name in GENERAL for line in lines(name)]
    count = len(general)
    biomedical = evenly_spaced(lines("craft"), count)
    mixed = [*evenly_spaced(general, count // 2), *evenly_spaced(biomedical, count // 2)]
    print("| domain |", *(f"{name}: tags, F1, F1 with gold tags |" for name in TREEBANKS))
    for domain, trees in (("general", general), ("biomedical", biomedical), ("mixed", mixed)):
        train(domain, trees)
        cells = (f" {figures(domain, name)} |" for name in TREEBANKS)
        print(f"| {domain} |", *cells, sep="", flush=True)


def lines(treebank: str, part: str = "train") -> list[str]:
    """Return the trees of a part of a treebank."""
    return Path(f"{treebank}.{part}.trees").read_text(encoding="utf-8").splitlines(keepends=True)


def train(domain: str, trees: list[str]) -> None:
    """Train a parser on trees with gold tags, unless that has been done."""
    write(Path(f"{domain}.trees"), trees)
    for part, file in (("train", f"{domain}.trees"), ("dev", "dev.trees")):
        make(f"{domain}.{part}.oracle", f"{oracle_of(domain)} {file}")
    data = f"--train {domain}.train.oracle --dev {domain}.dev.oracle --dev-trees dev.trees"
    run(f"train discriminative {data} --model parser.{domain} --resume {PARSER}")


def figures(domain: str, treebank: str) -> str:
    """Parse the development trees of a treebank with gold tags, and with those of a tagger of the parser's trees."""
    gold = f"{treebank}.dev.trees"
    found = f"{domain}.{treebank}"
    make(f"{found}.tagged", f"tag {gold} --train {domain}.trees")
    for tags, file in (("gold", gold), ("own", f"{found}.tagged")):
        make(f"{found}.{tags}.oracle", f"{oracle_of(domain)} {file}")
        make(f"{found}.{tags}", f"parse --model parser.{domain} {found}.{tags}.oracle")
    own = scores(gold, f"{found}.own"), scores(gold, f"{found}.gold")
    accuracy = Scores(scores(gold, f"{found}.own", gold_tags=False)).tagging_accuracy
    return ", ".join(f"{number:.1f}" for number in (accuracy, *(Scores(s).f1 for s in own)))


def oracle_of(domain: str) -> str:
    """Return the command that makes oracles with the words of a domain's trees."""
    return f"oracle --train {domain}.trees --transitions in-order"


if __name__ == "__main__":
    main()
