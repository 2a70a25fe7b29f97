"""`python3 -m scripts.english.treebanks ARCHIVES FOLDER`: the open English treebanks, made alike.

It writes training, development and test trees, for models that are compared. The package's models
have no test trees of MASC and CRAFT: all documents that they do not train on are to choose by.
"""

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import nltk

from oracle.brackets import read_trees
from oracle.common.files import replacing
from oracle.training_data import Preparation, evenly_spaced
from oracle.treebank import clean, is_no_text, is_preterminal, subtrees

TREEBANKS = ("masc", "gum", "craft")
"""Those of general English come first; the parser reads their trees more often."""
GENERAL = TREEBANKS[:2]
_lines = Path(__file__).with_name("documents.txt").read_text().splitlines()
DOCUMENTS = {name: splits for *splits, name in map(str.split, _lines)}
"""The splits, `dev` or `test`, of each document that is not trained on, by its name.

The first is that of the package's models; in the second, every second document of MASC and CRAFT is
of the test part.
"""
MOST_OF_DEV = 400
"""The most trees of a treebank among the development trees, by which models are chosen."""
MOST_OF_TAGGER = 8000
"""The most training trees of the tagger from one treebank: CRAFT must not outweigh the others."""
# an unlabelled pair of brackets around a clause, which no program can read
CORRECTIONS = {
    "VOL15_3": (
        "( (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))",
        "(S (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))",
    )
}
# MASC marks the ends of utterances by (SU /)
NOT_WORDS = frozenset(["SU"])
TAGS = {"to": "TO", ";": ":"}
"""The tags of the Penn Treebank for words that the treebanks tag differently."""


def main() -> None:
    """Write the trees of models that are compared."""
    archives, folder = map(Path, sys.argv[1:])
    print(*write_trees(archives, folder, with_test=True), sep="\n")


def write_trees(archives: Path, folder: Path, with_test: bool = False) -> Iterator[str]:
    """Write the splits of each treebank and of all together; yield a line per file.

    `with_test` says whether each treebank has a test part.
    """
    together: dict[str, list[str]] = {"train": [], "tagger": [], "dev": []}
    for treebank in TREEBANKS:
        splits: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
        for path in unpacked(archives / f"{treebank}.tar.xz", folder / treebank):
            split = DOCUMENTS[path.stem][with_test] if path.stem in DOCUMENTS else "train"
            splits[split] += tree_lines(path)
        for split, lines in splits.items():
            if lines:
                yield write(folder / f"{treebank}.{split}.trees", lines)
        together["train"] += splits["train"]
        together["tagger"] += evenly_spaced(splits["train"], MOST_OF_TAGGER)
        together["dev"] += evenly_spaced(splits["dev"], MOST_OF_DEV)
    for split, lines in together.items():
        yield write(folder / f"{split}.trees", lines)


def unpacked(archive: Path, folder: Path) -> list[Path]:
    """Unpack an archive; return its files, sorted by name."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def tree_lines(path: Path) -> list[str]:
    """Return the cleaned trees of a document as lines; correct the document before."""
    if path.stem in CORRECTIONS:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(*CORRECTIONS[path.stem]), encoding="utf-8")
    trees = Preparation(read_trees(str(path)), cleaned, skip_preterminals=True)
    return [f"{located.text}\n" for located in trees]


def cleaned(tree: nltk.Tree) -> nltk.Tree | None:
    """Return the tree without function tags, traces and marks that are no words.

    The words of TAGS get the tags there. Returns None if nothing is left.
    """
    rest = clean(tree, lambda node: node.label() in NOT_WORDS or is_no_text(node))
    for preterminal in filter(is_preterminal, subtrees(rest) if rest else ()):
        preterminal.set_label(TAGS.get(preterminal[0].lower(), preterminal.label()))
    return rest


def write(path: Path, lines: list[str]) -> str:
    """Write lines to a file; return its name with their number."""
    with replacing(path) as file:
        file.writelines(lines)
    return f"{path.name}: {len(lines)} trees"


if __name__ == "__main__":
    main()
