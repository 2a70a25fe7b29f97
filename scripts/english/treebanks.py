"""The open treebanks of English, made alike, and their division into training and development trees."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nltk

from oracle.brackets import LocatedTree, format_tree, read_trees
from oracle.preparation import Preparation, is_no_text
from oracle.streams import replacing
from oracle.training_data import evenly_spaced
from oracle.treebank import clean

MOST_OF_DEV = 400
"""The most trees of a treebank among the development trees, by which models are chosen."""
# an unlabelled pair of brackets around a clause, which no program can read
CORRECTIONS = {"VOL15_3": ("( (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))", "(S (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))")}
# MASC marks the ends of utterances by (SU /)
NOT_WORDS = frozenset(["SU"])


@dataclass(frozen=True)
class Treebank:
    """A treebank in an archive NAME.tar.xz, and the names of its development and test documents."""

    name: str
    development: frozenset[str]
    test: frozenset[str] = frozenset()

    def trees(self, archive: Path, folder: Path) -> dict[str, Iterable[LocatedTree]]:
        """Unpack the archive into a folder; return the cleaned trees of each part, `train` and `dev`."""
        parts: dict[str, list[LocatedTree]] = {"train": [], "dev": []}
        for path in unpacked(archive, folder):
            document = path.stem.removeprefix("GUM_")
            if document in self.test:
                continue
            correct(path)
            part = "dev" if document in self.development else "train"
            parts[part] += Preparation(read_trees(str(path)), cleaned, skip_preterminals=True)
        return parts


TREEBANKS = (
    Treebank(
        "masc",
        frozenset("Article247_327 110CYL069 113CWL017 115CVL037 RindnerBonnie chZ lw1".split()),
    ),
    Treebank("craft", frozenset("17503968 17590087 17608565 17677002 17696610".split())),
    Treebank(
        "gum",
        frozenset(
            "academic_exposure academic_librarians court_loan court_negligence interview_cyclone interview_gaming "
            "news_homeopathic news_iodine".split()
        ),
        frozenset(
            "academic_discrimination academic_eegimaa court_insanity court_mitigation interview_hill "
            "interview_libertarian news_nasa news_sensitive".split()
        ),
    ),
)


def unpacked(archive: Path, folder: Path) -> list[Path]:
    """Unpack an archive; return its files, sorted by name."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def correct(path: Path) -> None:
    """Replace what no program can read in a document."""
    if path.stem in CORRECTIONS:
        wrong, right = CORRECTIONS[path.stem]
        text = path.read_text(encoding="utf-8")
        if right not in text:
            path.write_text(text.replace(wrong, right), encoding="utf-8")


def cleaned(tree: nltk.Tree) -> nltk.Tree | None:
    """Return the tree without function tags, traces and marks that are no words; None if nothing is left."""
    return clean(tree, lambda node: node.label() in NOT_WORDS or is_no_text(node))


def write_trees(archives: Path, folder: Path) -> Iterator[str]:
    """Write `train.trees`, `dev.trees` and a development file per treebank; yield a line per file with its counts."""
    parts: dict[str, list[str]] = {"train": [], "dev": []}
    for treebank in TREEBANKS:
        trees = treebank.trees(archives / f"{treebank.name}.tar.xz", folder / "treebanks" / treebank.name)
        for part, located in trees.items():
            lines = [f"{format_tree(tree.tree)}\n" for tree in located]
            yield write(folder / f"{treebank.name}.{part}.trees", lines)
            parts[part] += evenly_spaced(lines, MOST_OF_DEV) if part == "dev" else lines
    for part, lines in parts.items():
        yield write(folder / f"{part}.trees", lines)


def write(path: Path, lines: list[str]) -> str:
    """Write lines to a file; return its name with their number."""
    with replacing(path) as file:
        file.writelines(lines)
    return f"{path.name}: {len(lines)} trees"
