"""Reading and writing a model's files, whose names and formats `model_folder` knows; no pickle.

While a model is trained, its folder also holds training.npz (newest parameters and progress) and
log.jsonl. A new folder is written beside its place and renamed. In an existing one files are
replaced one by one, while configuration and vocabulary never change. So a kill at any moment leaves
a model that opens, and a training that can be resumed.
"""

import hashlib
import json
import logging
import operator
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from oracle.common import plugins
from oracle.common.errors import InputError, RnngError
from oracle.common.files import FileName, hidden_name, locked, reading, replacing
from rnng_dy import model_folder
from rnng_dy.arrays import read_arrays, write_arrays
from rnng_dy.model_folder import CONFIG, PARAMETERS, PLUGINS, VOCABULARY, Folder, read_config
from rnng_dy.parameters import are_usable
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel

_log = logging.getLogger(__name__)

UPDATES = "updates"
"""The key of the number of updates, in the file of the parameters."""
DAMAGED = "damaged: train the model again"
_DATE = (1980, 1, 1, 0, 0, 0)
"""The time of all members of an archive, so that equal models give equal archives."""


# writing


@contextmanager
def writing(folder: str | Path) -> Iterator[None]:
    """Lock a folder, which need not exist yet, for writing during a block.

    Raises RnngError for a file, and if another process writes the folder.
    """
    if os.path.isfile(folder):
        raise RnngError(f"{folder} is a file, and a folder is written here: name a new one")
    Path(os.path.realpath(folder)).parent.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        yield


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Make a folder that gets the name `path` at the end of the block, unless there is an error."""
    new = Path(hidden_name(os.fspath(path), "new"))
    # a killed process may have left one
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        yield new
        new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def save(
    model: Any, folder: str | Path, state: Mapping[str, object] | None = None, optimizer: Any = None
) -> None:
    """Write a new model folder, or the files of a model of the same configuration and vocabulary.

    `state` and `optimizer` save a new model in training.

    Raises RnngError if the folder is no model folder, holds another model, or is being written by
    another process.
    """
    with writing(folder):
        path = Path(os.path.realpath(folder))
        if path.exists():
            _require_same(model, path)
            _write(model, path)
            return
        with new_folder(path) as new:
            _write(model, new)
            if state is not None:
                save_training(model.store, new, state, optimizer)


def _require_same(model: Any, folder: Path) -> None:
    if not (folder / CONFIG).is_file():
        raise RnngError(f"{folder} exists and is no model folder: choose another name")
    old, new = read_config(folder), model.config()
    old, new = ({**model.config_defaults, **c, PLUGINS: [*c.get(PLUGINS, ())]} for c in (old, new))
    # the order of JSON's keys and its lists
    words = json.loads(json.dumps(model.vocabulary.to_json()))
    with reading(folder / VOCABULARY, remedy=DAMAGED):
        is_same = {k: v for k, v in old.items() if k in new} == new
        if not (is_same and _read_json(folder / VOCABULARY) == words):
            raise RnngError(f"{folder} holds another model: choose another name")


def _write(model: Any, folder: Path, bits: int = 32) -> None:
    """Write a model's files into a folder, replacing them one by one, with arrays in `bits` bits.

    A segmenter or spelling model that this model lacks is removed; a tagger stays.
    """
    if not (folder / CONFIG).exists():
        config = {"format": model_folder.FORMAT, "version": model_folder.VERSION, **model.config()}
        for name, content in ((CONFIG, config), (VOCABULARY, model.vocabulary.to_json())):
            with replacing(folder / name) as stream:
                json.dump(content, stream, ensure_ascii=False, indent=1)
    if model.vectors is not None:
        write_arrays(folder / model_folder.VECTORS, {"vectors": model.vectors}, bits)
    if model.tagger is not None:
        # imported here, since it loads NLTK
        from oracle.tagging import save_tagger

        save_tagger(model.tagger, folder / model_folder.TAGGER)
    model_folder.write_about(folder, model_folder.true_about(model))
    # a segmenter that was neither set nor needed is not made
    segmenter = vars(model).get("segmenter")
    companions = {model_folder.SPELLING: model.spelling, model_folder.TEXT: segmenter}
    for name, companion in companions.items():
        if companion is not None:
            companion.save(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    save_parameters(model, folder, bits)


def save_parameters(model: Any, folder: str | Path, bits: int = 32) -> None:
    """Replace the parameters in an existing model folder; saves the number of updates, too."""
    updates = {} if model.updates is None else {UPDATES: np.array(model.updates)}
    write_arrays(Path(folder) / PARAMETERS, {**model.store.arrays(), **updates}, bits)


def save_training(store: Any, folder: Path, state: Mapping[str, object], optimizer: Any) -> None:
    """Replace the training state: the arrays of store and optimizer, and a JSON object."""
    arrays = {"state": np.array(json.dumps(state))}
    arrays |= {f"optimizer/{name}": values for name, values in optimizer.arrays().items()}
    arrays |= {f"parameter/{name}": values for name, values in store.arrays().items()}
    write_arrays(folder / model_folder.TRAINING, arrays)


def export(model: Any, output: FileName, bits: int, about: model_folder.About) -> None:
    """Write a zip archive of a model folder without training, with parameters in 32, 16 or 8 bits.

    `about` replaces the model's own description. Equal models give equal bytes. Raises RnngError
    for parameters that float16 cannot hold.
    """
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        _write(model, folder, bits)
        model_folder.write_about(folder, about)
        with (
            locked(output),
            replacing(output, binary=True) as file,
            zipfile.ZipFile(file, "w") as archive,
        ):
            for name, path in sorted(model_folder.model_files(folder).items()):
                member = zipfile.ZipInfo(name, _DATE)
                archive.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)


# reading


def build(kind: type[Any], folder: str | Folder) -> Any:
    """Build the model of a folder, of the class `kind`, with parameters that are all 0.

    Raises RnngError if there is no model, if it is of another kind, or if its files do not fit
    together.
    """
    location = model_folder.located(folder)
    sizes, config = _sizes_and_parts(kind, location)
    with reading(location / VOCABULARY, remedy=DAMAGED):
        vocabulary = kind.vocabulary_type.from_json(_read_json(location / VOCABULARY))
    if vocabulary.pretrained is not None:
        with reading(location / model_folder.VECTORS):
            config["vectors"] = read_arrays(location / model_folder.VECTORS)["vectors"]
            *rows, dimension = config["vectors"].shape
            if rows != [len(vocabulary.pretrained)] or not dimension:
                raise ValueError("not the vectors of the words")
            if not are_usable(config["vectors"]):
                raise ValueError("no finite numbers")
    try:
        model = kind(vocabulary, sizes, seed=None, **config)
    except RnngError as error:
        raise InputError(f"no model can be made of it: {error}", location / CONFIG) from None
    model.about = model_folder.read_about(location)
    if (location / model_folder.TAGGER).is_dir():
        # imported here, since it loads NLTK
        from oracle.tagging import load_tagger

        model.tagger = load_tagger(location / model_folder.TAGGER)
    if model.generates_words and (location / model_folder.SPELLING).is_file():
        words = model.unknown, model.vocabulary.ids
        model.spelling = SpellingModel.load(location / model_folder.SPELLING, *words)
    if (location / model_folder.TEXT).is_file():
        model.segmenter = Segmenter.load(location / model_folder.TEXT)
    return model


def _sizes_and_parts(kind: type[Any], location: Folder) -> tuple[Any, dict[str, Any]]:
    """Return sizes and names of parts of config.json. Raises RnngError as `build` does."""
    config, path = read_config(location), location / CONFIG
    if config["kind"] != kind.kind:
        message = f"a {config['kind']} model; a {kind.kind} one is needed here"
        raise InputError(message, str(location).rstrip("/"))
    parts = {**kind.config_defaults, **config}
    parts = {k: v for k, v in parts.items() if k not in model_folder.GENERAL and v is not None}
    with reading(path):
        plugins.require(config.get(PLUGINS, ()), path)
        if unknown := parts.keys() - kind.config_defaults.keys():
            raise ValueError(f"this version of rnng_dy does not know {min(unknown)!r}")
        if not all(isinstance(name, str) for name in parts.values()):
            raise ValueError("the name of a part is no text")
        if not all(type(n) is int and 0 < n < 10**5 for n in config["sizes"].values()):
            raise ValueError("the sizes are no whole numbers from 1 to 99,999")
        return kind.sizes_type(**config["sizes"]), parts


def _read_json(path: Folder) -> dict[str, Any]:
    return json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))


def load_parameters(model: Any, folder: Folder) -> None:
    """Set a model's parameters and number of updates. Raises InputError naming a damaged file."""
    path = folder / PARAMETERS
    arrays = read_arrays(path)
    with reading(path):
        updates = arrays.pop(UPDATES, None)
        model.updates = None if updates is None else operator.index(updates[()])
        model.store.load(arrays)


def has_parameters(folder: str, store: Any) -> bool:
    """Return whether a folder has the parameters of a store as they are now."""
    path = model_folder.located(folder) / PARAMETERS
    saved = read_arrays(path) if path.is_file() else {}
    return all(np.array_equal(saved.get(n), values) for n, values in store.arrays().items())


def load_training(store: Any, folder: str | Path, optimizer: Any) -> None:
    """Set parameters and optimizer from the training state."""
    path = Path(folder) / model_folder.TRAINING
    arrays = read_arrays(path)
    with reading(path, remedy="not the training state of this model"):
        for prefix, target in (("parameter/", store), ("optimizer/", optimizer)):
            names = [name for name in arrays if name.startswith(prefix)]
            target.load({name.removeprefix(prefix): arrays[name] for name in names})


def training_state(folder: str | Path) -> dict[str, Any]:
    """Return the JSON object of a folder's training state. Raises InputError if it is damaged."""
    path = Path(folder) / model_folder.TRAINING
    with reading(path, remedy="no training state"):
        return json.loads(str(read_arrays(path, ["state"])["state"]))


def warn_of_model(model: Any, name: object) -> None:
    """Log a warning if a model or scorer has had no updates, or was trained with other plugins."""
    if model.updates == 0:
        _log.warning(f"{name}: the model is not trained, what it says is random")
    for plugin in model_folder.changed_plugins(model):
        _log.warning(f"{name}: {plugin} has changed since this model was trained with it")


def content_hash(*contents: object) -> str:
    """Return a hash of what determines an output: options, contents of files."""
    digest = hashlib.sha256()
    for content in contents:
        if isinstance(content, Path | zipfile.Path):
            with reading(content):
                data = content.read_bytes()
        else:
            data = repr(content).encode("utf-8", "replace")
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()
