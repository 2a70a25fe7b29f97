"""What a model is saved with besides its network: tagger, spelling model, segmenter, and a description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.common import plugins
from rnng_dy import model_folder
from rnng_dy.model_folder import PARAMETERS_HASH, PLUGINS, SPELLING, TAGGER, TEXT, About, Folder
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel


def true_about(model: Any) -> About | Any:
    """Return a model's description, without scores of other parameters than those of now."""
    of = (model.about or {}).get("scores", {}).get(PARAMETERS_HASH)
    if of is None or of == model.store.hash():
        return model.about
    return {name: section for name, section in model.about.items() if name != "scores"}


def write(model: Any, folder: Path) -> None:
    """Write a model's companions into a folder, and remove others but a tagger."""
    if model.tagger is not None:
        # NLTK, which help and completion need not wait for
        from oracle.tagging import save_tagger

        save_tagger(model.tagger, folder / TAGGER)
    model_folder.write_about(folder, true_about(model))
    # a segmenter that was neither set nor needed is not made
    segmenter = vars(model).get("segmenter")
    for name, part in ((SPELLING, model.spelling), (TEXT, segmenter)):
        if part is not None:
            part.save(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)


def read(model: Any, folder: Folder) -> None:
    """Read the files that `write` wrote. Raises InputError naming a damaged file."""
    model.about = model_folder.read_about(folder)
    if (folder / TAGGER).is_dir():
        from oracle.tagging import load_tagger

        model.tagger = load_tagger(folder / TAGGER)
    if model.generates_words and (folder / SPELLING).is_file():
        words = model.unknown, model.vocabulary.ids
        model.spelling = SpellingModel.load(folder / SPELLING, *words)
    if (folder / TEXT).is_file():
        model.segmenter = Segmenter.load(folder / TEXT)


def changed_plugins(model: Any) -> list[str]:
    """Return the names of plugins whose text is another one than at the training of a model."""
    recorded = (getattr(model, "about", None) or {}).get(PLUGINS, {})
    return [name for name, of in plugins.hashes(recorded).items() if of != recorded[name]]
