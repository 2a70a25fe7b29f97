"""A model's folder, or a zip archive of it that is read in place: where it is, its files, kind and description.

The description is about.json, which `rnng-dy models show` prints.
"""

from __future__ import annotations

import importlib
import json
import os
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from stat import S_ISLNK
from typing import Any, NamedTuple

from oracle.common import plugins
from oracle.common.errors import RnngError
from oracle.common.files import reading, replacing

VARIABLE = "RNNG_DY_MODELS"
"""The environment variable that names folders in which models are found, separated by `os.pathsep`."""
ENDING = ".rnng.zip"
"""The ending of archives that are found by name, which is their name without it."""
CONFIG, VOCABULARY, PARAMETERS = "config.json", "vocabulary.json", "parameters.npz"
"""The files that every model folder has."""
FORMAT, VERSION = "rnng_dy model", 1
"""What config.json says of itself."""
VECTORS, ABOUT, TEXT = "vectors.npz", "about.json", "text.json"
SPELLING, TAGGER = "spelling.json", "tagger"
PLUGINS = "plugins"
"""The key in config.json of the plugin files that a model needs; absent if it needs none."""
PARAMETERS_HASH = "parameters"
"""The key, among the scores in about.json, of a hash of the parameters that they are of."""
_FILES = CONFIG, VOCABULARY, PARAMETERS, VECTORS, ABOUT, TEXT, SPELLING
_OF_0_3 = "manifest.json", "README.md"
"""What archives of version 0.3 have besides."""
SHIPPED = Path(__file__).parent / "shipped"
"""The folder of the models that the package brings."""

Folder = Path | zipfile.Path
"""A model folder, or an archive that is read as one."""
Value = str | int | float | bool | None
About = Mapping[str, Mapping[str, Value]]
"""The content of about.json: sections of named values; `training.about` defines them."""


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


def located(model: str | Folder) -> Folder:
    """Return the folder or archive of a model, which is given by its path or name.

    What is neither gives the path as it is.
    """
    if isinstance(model, zipfile.Path):
        return model
    path = Path(known_models().get(os.fspath(model), model) if is_name(model) else model)
    return _archive(path) if zipfile.is_zipfile(path) else path


def _archive(path: Path) -> zipfile.Path:
    """Return an archive. Raises InputError if it is damaged, or has what no archive of a model has."""
    # imported only here, since it loads NLTK
    from oracle.tagging import FILES

    listed = {*_FILES, *_OF_0_3, f"{TAGGER}/", *(f"{TAGGER}/{name}" for name in FILES)}
    with reading(path, remedy="`rnng-dy models export` writes archives of models"):
        members = (archive := zipfile.ZipFile(path)).infolist()
        names = {member.filename for member in members}
        if strange := names - listed:
            raise ValueError(f"{min(strange)!r} is no file of a model")
        if len(names) < len(members) or any(S_ISLNK(m.external_attr >> 16) for m in members):
            raise ValueError("a link, or two files of one name")
        if sum(member.file_size for member in members) > 100 * path.stat().st_size:
            raise ValueError("its contents are over 100 times its size")
    return zipfile.Path(archive)


def model_files(folder: str | Folder) -> dict[str, Folder]:
    """Return the files that a model is read from, by their names in its folder: no training state, no log."""
    place = located(folder)
    files = {name: place / name for name in _FILES}
    if (place / TAGGER).is_dir():
        files |= {f"{TAGGER}/{path.name}": path for path in (place / TAGGER).iterdir()}
    return {name: path for name, path in files.items() if path.is_file()}


def paths_of(folder: str | Folder) -> list[str]:
    """Return the paths of what a model is read from: its archive, or the files in its folder."""
    place = located(folder)
    if isinstance(place, zipfile.Path):
        return [str(place.root.filename)]
    return [*map(str, model_files(place).values())]


def size_of(folder: str | Folder) -> str:
    """Return the size of an archive, or of the files that a model is read from, as text: `8.12 MB`."""
    return f"{sum(map(os.path.getsize, paths_of(folder))) / 1e6:,.2f} MB"


def read_about(folder: str | Folder) -> About | None:
    """Return the content of about.json; None for an older folder without one.

    Raises InputError if it is damaged.
    """
    path = located(folder) / ABOUT
    if not path.is_file():
        return None
    with reading(path, remedy="damaged: the model is the same without it, so remove it"):
        about: About = json.loads(path.read_bytes())
        if not all(isinstance(x, Value) for section in about.values() for x in section.values()):
            raise ValueError("a value that is neither number nor text")
    return about


def write_about(folder: str | Path, about: About | None) -> None:
    """Replace about.json in a model folder, or remove it."""
    if about is None:
        (Path(folder) / ABOUT).unlink(missing_ok=True)
        return
    with replacing(Path(folder) / ABOUT) as stream:
        stream.write(json.dumps(about, indent=1) + "\n")


def exported(
    about: About | None, kind: str, bits: int, licence: str | None, data: str | None
) -> About:
    """Return the sections of an archive: the bits of its arrays, and the terms of use of model and data.

    Scores are left out if the archive has other bits than the model that they were measured with.
    """
    about = {name: x for name, x in (about or {}).items() if bits == 32 or name != "scores"}
    model = {"kind": kind, **about.get("model", {})}
    if bits < 32:
        model["arrays"] = f"{bits} bits"
    given = {name: x for name, x in (("licence", licence), ("data", data)) if x is not None}
    terms = {**about.get("terms", {}), **given}
    return {**about, "model": model, **({"terms": terms} if terms else {})}


def trained_on(about: About) -> str | None:
    """Return the size of the training corpus as text; None if it is not recorded.

    >>> trained_on({"corpus": {"sentences": 3396, "words": 81234}})
    '3,396 sentences, 81,234 words'
    """
    corpus = about.get("corpus")
    return corpus and "{sentences:,} sentences, {words:,} words".format(**corpus)


# its kind; the classes are imported when they are needed

_CLASSES = {
    "discriminative": ("rnng_dy.parser", "DiscriminativeParser"),
    "generative": ("rnng_dy.generator", "GenerativeModel"),
    "lstm-lm": ("rnng_dy.baselines.lstm_lm", "LstmLanguageModel"),
}
KINDS = tuple(_CLASSES)
"""The names of the kinds, in config.json and on the command line."""


def kind(name: str) -> type[Any]:
    """Return the class of the kind called `name`, which says how it differs. Raises RnngError if there is none."""
    if name not in KINDS:
        raise RnngError(f"no kind of model is called {name!r}: {', '.join(KINDS)}")
    module, of_kind = _CLASSES[name]
    found: type[Any] = getattr(importlib.import_module(module), of_kind)
    return found


def kind_of(folder: str | os.PathLike[str]) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError if it holds no model of a known kind."""
    config = read_config(os.fspath(folder))
    with reading(located(os.fspath(folder)) / CONFIG):
        return kind(config["kind"])


def kind_of_words(folder: str) -> type[Any]:
    """Return the class of a folder's model. Raises RnngError unless it gives words a probability."""
    found = kind_of(folder)
    if not found.generates_words:
        raise RnngError(
            f"{folder} is a parser, which gives words no probability: name a generative or LSTM model"
        )
    return found


def read_config(folder: str | Folder) -> dict[str, Any]:
    """Return the content of a model's config.json. Raises RnngError if there is no model that can be read."""
    place = located(folder)
    path = place / CONFIG
    if not path.is_file():
        raise RnngError(_no_model(place))
    with reading(path, remedy="damaged: train the model again"):
        config = json.loads(path.read_bytes())
        if config["format"] != FORMAT or not {"version", "kind", "sizes"} <= config.keys():
            raise ValueError("no model folder of rnng_dy")
    if config["version"] != VERSION:
        raise RnngError(
            f"{path}: made by another version of rnng_dy (format {config['version']}, this one reads {VERSION}): "
            "install that version, or train the model again"
        )
    return config


def _no_model(folder: Folder) -> str:
    remedy = "name one that `rnng-dy train` or `import-clab` wrote"
    if isinstance(folder, Path) and not folder.exists():
        known = ", ".join(known_models()) if is_name(folder) else ""
        listed = f", or one of the models that `rnng-dy models` lists: {known}" if known else ""
        return f"there is no folder {folder}: {remedy}{listed}"
    if folder.is_file():
        return f"{folder} is a file, and a model is a folder or an archive of `rnng-dy models export`: {remedy}"
    return f"{str(folder).rstrip('/')} is no model folder, since it has no {CONFIG}: {remedy}"


class ModelFolder(NamedTuple):
    """A model that commands and their workers open; see `parallel.Place`."""

    kind: str
    folder: str
    device: str = "cpu"

    @property
    def title(self) -> str:
        """Return its name in outputs."""
        return self.folder

    @property
    def has_trees(self) -> bool:
        """Whether a search finds its probabilities of words."""
        return bool(kind(self.kind).has_trees)

    def open(self) -> Any:
        """Load the model in this process. Raises RnngError if device or folder cannot be used."""
        from rnng_dy import engine

        engine.start(self.device)
        return kind(self.kind).load(self.folder)

    def files(self) -> dict[str, Folder]:
        """See `Place`."""
        return model_files(self.folder)

    def content(self) -> list[object]:
        """Return what determines the model's results, for `content_hash`: its files except about.json, and plugins."""
        files = [item for item in sorted(self.files().items()) if item[0] != ABOUT]
        return [*chain.from_iterable(files), *plugins.loaded().values()]

    def moved(self, folder: str) -> ModelFolder:
        """See `Place`."""
        return self._replace(folder=folder)
