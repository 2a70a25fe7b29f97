"""Tokenised sentences of the English texts that have no trees."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from oracle.training_data import evenly_spaced
from rnng_dy.text.segmenter import Segmenter
from scripts.english.treebanks import DOCUMENTS, write

SPEECHES = ("inaugural.zip", "state_union.zip")
"""Archives of addresses of presidents, as plain text."""
OPEN = Path(__file__).with_name("open_texts.txt").read_text().split()
"""The texts of the generative model, in the order of its training."""
UNLABELLED, LENGTHS = 12_000, range(5, 41)
"""The number of sentences of which the parser makes training trees, and their lengths."""


def write_unlabelled(archives: Path, folder: Path, path: Path) -> None:
    """Write different sentences of MASC without trees, evenly spaced, one per line."""
    fitting = (s for s in tagged_text(archives, folder) if len(s) in LENGTHS)
    lines = dict.fromkeys(f"{' '.join(sentence)}\n" for sentence in fitting)
    write(path, evenly_spaced(list(lines), UNLABELLED))


def tagged_text(archives: Path, folder: Path) -> Iterator[list[str]]:
    """Yield the sentences of MASC without trees; each ends after a token with the tag `.`."""
    with_trees = {path.stem for path in (folder / "masc").rglob("*") if path.is_file()}
    with ZipFile(archives / "masc_tagged.zip") as packed:
        for path in map(Path, packed.namelist()):
            if len(path.parts) == 3 and path.stem not in with_trees | DOCUMENTS.keys():
                sentence = []
                for token in packed.read(str(path)).decode("utf-8", "replace").split():
                    word, _, tag = token.rpartition("_")
                    sentence.append(word)
                    if tag == ".":
                        yield sentence
                        sentence = []


def speeches(archives: Path) -> Iterator[list[str]]:
    """Yield the sentences of the presidents' addresses."""
    segmenter = Segmenter()
    for name in SPEECHES:
        with ZipFile(archives / name) as packed:
            for member in sorted(packed.namelist()):
                if member.endswith(".txt"):
                    text = packed.read(member).decode("utf-8", "replace")
                    yield from (sentence.tokens for sentence in segmenter.sentences(text))
