"""Tokenised sentences of the English texts that have no trees."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

from oracle.brackets import parse_line
from oracle.common.files import open_text
from oracle.training_data import evenly_spaced
from rnng_dy.text.segmenter import Segmenter
from scripts.english.treebanks import DOCUMENTS, write

OPEN = Path(__file__).with_name("open_texts.txt").read_text().split()
"""The names of open texts, in the order of the generative model's training."""


def write_sentences(sentences: Iterable[list[str]], path: Path) -> None:
    """Write tokenised sentences, one per line."""
    write(path, [f"{' '.join(sentence)}\n" for sentence in sentences])


def write_different(folder: Path, path: Path, most: Mapping[str, int], lengths: range) -> None:
    """Write different sentences of files, at most some of each, evenly spaced, of some lengths.

    Those of gold trees, which may be held out, are left out.
    """
    chosen = []
    known = {f"{' '.join(tree)}\n" for file in folder.glob("*.*.trees") for tree in leaves(file)}
    for name, number in most.items():
        with open_text(folder / name) as lines:
            fitting = (s for s in dict.fromkeys(lines) if len(s.split()) in lengths)
            chosen += evenly_spaced([s for s in fitting if s not in known], number)
    write(path, chosen)


def leaves(path: Path) -> Iterator[list[str]]:
    """Yield the words of each tree of a file."""
    with open_text(path) as trees:
        yield from (parse_line(tree).leaves() for tree in trees)


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


def segmented(texts: Iterable[Path], trees: Path) -> Iterator[list[str]]:
    """Yield the sentences of texts with a paragraph per line, in the style of trees."""
    segmenter = Segmenter.of_training(leaves(trees))
    for text in texts:
        with open_text(text) as paragraphs:
            for paragraph in paragraphs:
                yield from (sentence.tokens for sentence in segmenter.sentences(paragraph))
