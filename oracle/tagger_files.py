"""A tagger in a folder: three JSON files with the names and content that NLTK's `save_to_json` gives them.

NLTK's own functions accept only folders that its settings allow (3.10), fail (3.9.1) or are missing (3.8). In an
allowed folder, `Tagger(lang="xxx", loc=folder)` reads these files, too.
"""

from __future__ import annotations

import json
from pathlib import Path

from oracle.errors import InputError
from oracle.files import from_json, replacing, split_words
from oracle.tagger import Tagger

FILES = {
    part: f"averaged_perceptron_tagger_xxx.{part}.json"
    for part in ("weights", "tagdict", "classes")
}
"""File names by part; `xxx` is NLTK's language code for a user's own tagger."""
LARGEST = 1e9
"""The largest absolute value of a weight: sums of larger ones could be infinite."""
REMEDY = (
    "train the tagger again (`rnng-dy tag --train TREES --into MODEL`, after removing its folder)"
)


def save_tagger(tagger: Tagger, folder: str | Path) -> None:
    """Write a tagger's files into a folder; equal taggers give equal files."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    weights, tagdict, classes = tagger.encode_json_obj()
    # classes are a set, whose order differs between processes
    contents = weights, tagdict, sorted(classes)
    for name, content in zip(FILES.values(), contents, strict=True):
        with replacing(folder / name) as stream:
            stream.write(json.dumps(content))


def load_tagger(folder: Path) -> Tagger:
    """Return the tagger of a folder. Raises InputError naming the file that is missing or damaged."""
    paths = {part: folder / name for part, name in FILES.items()}
    classes = _read(paths["classes"])
    if not (isinstance(classes, list) and classes and all(map(_is_tag, classes))):
        raise _damaged(paths["classes"], "it is no list of POS tags")
    tags = set(classes)
    tagdict = _read(paths["tagdict"])
    if not (isinstance(tagdict, dict) and all(tag in classes for tag in tagdict.values())):
        raise _damaged(paths["tagdict"], "it does not give words one of the tags each")
    weights = _read(paths["weights"])
    if not (isinstance(weights, dict) and all(_are_weights(w, tags) for w in weights.values())):
        reason = f"it does not give features numbers up to {LARGEST:g} for some of the tags"
        raise _damaged(paths["weights"], reason)
    return Tagger.decode_json_obj((weights, tagdict, classes))


def _read(path: Path) -> object:
    try:
        return from_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"missing: this tagger is not complete; {REMEDY}", path) from None
    except ValueError as error:
        raise _damaged(path, str(error)) from None


def _is_tag(tag: object) -> bool:
    return isinstance(tag, str) and split_words(tag) == [tag] and not set("()") & set(tag)


def _are_weights(weights: object, tags: set[str]) -> bool:
    """Return whether these are finite numbers for some of the tags; NaN fails every comparison."""
    if not (isinstance(weights, dict) and weights.keys() <= tags):
        return False
    return all(type(w) in (int, float) and abs(w) <= LARGEST for w in weights.values())


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(f"damaged or no file of a tagger ({reason}); {REMEDY}", path)
