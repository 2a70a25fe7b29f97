"""Models by path or by name: where the names of models are looked up."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from oracle.archives import Archive, Member, is_archive
from rnng_dy.folders import put_back

VARIABLE = "RNNG_DY_MODELS"
"""The environment variable that names folders in which models are found, separated by `os.pathsep`."""
ENDING = ".rnng.zip"
"""The ending of archives that are found by name, which is their name without it."""
CONFIG = "config.json"
"""The file that every model folder has."""

_WRITTEN = (
    *(CONFIG, "vocabulary.json", "text.json", "spelling.json", "about.json", "README.md"),
    *("*.npz", "log.jsonl", "tagger/*.json", "dev.trees"),
)
"""The files of a model folder that this package writes."""

SHIPPED = Path(__file__).parent / "shipped"
"""The folder of the models that the package brings."""

Folder = Path | Member
"""A model folder, or an archive that is read as one."""


def places() -> list[Path]:
    """Return the folders in which models are looked up: the user's by RNNG_DY_MODELS, of the data folder, shipped."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = os.path.expanduser("~/.local/share")
    named = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    return [*map(Path, named), Path(data, "rnng_dy", "models"), SHIPPED]


def known_models() -> dict[str, Path]:
    """Return the paths of model folders and archives by name, sorted; the first place of a name counts."""
    known: dict[str, Path] = {}
    for place in places():
        # a place need not exist
        with suppress(OSError):
            for path in sorted(place.iterdir()):
                is_model = path.name.endswith(ENDING) or (path / CONFIG).is_file()
                # a hidden folder is one that is being written
                if is_model and not path.name.startswith("."):
                    known.setdefault(path.name.removesuffix(ENDING), path)
    return dict(sorted(known.items()))


def is_name(model: str | os.PathLike) -> bool:
    """Return whether a model may be given by name: no file or model in the working directory is called so."""
    if os.path.basename(model) != os.fspath(model):
        return False
    return (os.path.isdir(model) and not Path(model, CONFIG).exists()) or not os.path.lexists(model)


def generative(model: str) -> str:
    """Return the generative model that a parser's name stands for, NAME-generative; any other model as it is."""
    companion = f"{model}-generative"
    return companion if is_name(model) and {model, companion} <= known_models().keys() else model


def located(model: str | os.PathLike | Member) -> Folder:
    """Return the folder or archive of a model, which is given by its path or name.

    A model that is not found gives the path as it is. Raises InputError for a damaged archive.
    """
    if isinstance(model, Member):
        return model
    put_back(model)
    path = known_models().get(os.fspath(model), model) if is_name(model) else model
    return Member(Archive(path), os.fspath(path)) if is_archive(path) else Path(path)


def files_of(model: str) -> list[str]:
    """Return the files of a model that no output may replace: its archive, or those in its folder; raises as `located`.

    Other files in the folder are the user's.
    """
    place = located(model)
    if isinstance(place, Member):
        return [place.path]
    return [str(path) for pattern in _WRITTEN for path in place.glob(pattern)]
