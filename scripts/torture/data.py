"""The small, sound files and models of a campaign, made from the package's own treebank by its commands."""

from __future__ import annotations

import lzma
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

import oracle
from oracle.brackets import read_trees
from rnng_dy.evaluation.head_rules import COLLINS
from scripts.checkout import CHECKOUT
from scripts.torture.arrays import KEEP
from scripts.torture.commands import REPRODUCE, SET_UP
from scripts.torture.limits import Limits
from scripts.torture.packed import ENDINGS, pack
from scripts.torture.processes import run_to_its_end

TINY = Path(oracle.__file__).parent / "data" / "tiny.trees"
REFERENCE = CHECKOUT / "tests/data/tiny_reference"
TRAINED, DEVELOPMENT, TESTED = slice(0, 30), slice(30, 36), slice(36, 44)
IMPORTED = 500
"""Number of trees on which the original program's reference models were trained."""
SAMPLED = 150
"""Number of trees for jobs that sample, which take longer than others."""
WORDS = 10
"""Length of the longest sentences, in words."""

DIE_BEFORE_THE_LAST_RENAME = """
import os
os.replace = lambda *_: os._exit(9)
from rnng_dy.__main__ import main
main()
"""
TREEBANK = """\
( (S (NP-SBJ-1 (DT The) (NN cat))
     (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) (PP-LOC (IN in) (NP (NNP Oslo))))) (. .)) )

( (S (NP-SBJ (-NONE- *))
     (VP (VB Go)
         (ADVP=2 (RB away)))
     (. !)) )
( (SBARQ (WHNP-1 (WP What)) (SQ (VBD did) (NP-SBJ (PRP she)) (VP (VB say) (NP (-NONE- *T*-1)))) (. ?)))
((S (NP|NX (QP (CD 1) (CD 2\\/3)) (-LRB- -LRB-) (NN %) (-RRB- -RRB-)) (VP (VBZ rises))))
(X (NN alone))
"""
SUITE = """\
{"meta": {"name": "mini", "metric": "sum"}, "region_meta": {"1": "subject", "2": "verb"},
 "predictions": [{"type": "formula", "formula": "((2;%good%) < (2;%bad%)) & ((*;%good%) + 0.5 < (*;%bad%) * 2)"}],
 "items": [{"item_number": 1, "conditions": [
  {"condition_name": "good", "regions": [
   {"region_number": 1, "content": "the dog"}, {"region_number": 2, "content": "ran"}]},
  {"condition_name": "bad", "regions": [
   {"region_number": 1, "content": "the dog"}, {"region_number": 2, "content": "run"}]}]}]}
"""
PAIRS = ["the dog ran\tthe dog run\n", "a cat sleeps .\ta cat sleep .\n"]
RULES = """\
## a comment
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ``
EQ_LABEL ADVP PRT
EQ_WORD Example example
"""


def write_data(folder: Path, limits: Limits, with_reproduction: bool = False) -> None:
    """Write all files and models; a whole reproduction takes most of a minute more."""
    _write_texts(folder)
    for command in SET_UP:
        outcome = limits.run(command.split(), folder)
        if outcome.code != 0:
            said = outcome.stderr + outcome.traceback + outcome.where
            raise SystemExit(f"rnng-dy {command}: code {outcome.code}\n{said}")
    samples = (folder / "test.props").read_text(encoding="utf-8").splitlines()
    _write(folder / "bare.trees", (line.split(" ||| ")[2] + "\n" for line in samples[::4]))
    run_to_its_end("train.gen.oracle", folder, KEEP)
    for path in [path for path in folder.iterdir() if path.is_file()]:
        for ending in ENDINGS:
            path.with_name(path.name + ending).write_bytes(pack(path.read_bytes(), ending))
    # scores of a run that was killed right before its output got its name
    unfinished = "score --model generator test.props -o test.scores"
    run_to_its_end(unfinished, folder, DIE_BEFORE_THE_LAST_RENAME, code=9)
    if with_reproduction:
        run_to_its_end(REPRODUCE.format(data=folder), folder)


def _write_texts(folder: Path) -> None:
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)
    short = [line for line in lines if _words(line) <= WORDS]
    for name, part in (("train", TRAINED), ("dev", DEVELOPMENT), ("test", TESTED)):
        _write(folder / f"{name}.trees", short[part])
    _write(folder / "many.trees", lines[:IMPORTED])
    _write(folder / "some.trees", lines[:SAMPLED])
    _write(folder / "treebank.mrg", [TREEBANK])
    _write(folder / "rules.prm", [RULES])
    shutil.copyfile(COLLINS, folder / "rules.heads")
    _write(folder / "suite.json", [SUITE])
    _write(folder / "pairs.txt", PAIRS)
    for packed in ("corrected/disc.params.xz", "corrected/gen.params.xz", "clusters.paths.xz"):
        unpacked = folder / f"reference.{Path(packed).stem}"
        unpacked.write_bytes(lzma.decompress((REFERENCE / packed).read_bytes()))
    tagged = [located.tree.pos() for located in read_trees(folder / "test.trees")]
    _write(folder / "tagged.txt", (" ".join(f"{w}_{t}" for w, t in s) + "\n" for s in tagged))
    _write(folder / "plain.txt", (" ".join(w for w, _ in s) + "\n" for s in tagged))
    _write(folder / "vectors.txt", _vectors(sorted({word for s in tagged for word, _ in s})))


def _words(line: str) -> int:
    return sum(not token.startswith("(") for token in line.split())


def _vectors(words: list[str]) -> list[str]:
    numbers = random.Random(1)
    rows = [f"{w} {' '.join(f'{numbers.gauss(0, 1):.3f}' for _ in range(3))}\n" for w in words]
    return [f"{len(words)} 3\n", *rows]


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(lines), encoding="utf-8")
