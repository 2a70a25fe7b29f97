"""Model folders: config.json, vocabulary.json, parameters.npz and companions; no pickle. Independent of model classes.

While a model is trained, its folder also holds training.npz (newest parameters and progress) and log.jsonl. Each .npz
and each file of `model_card` is replaced by one rename; other files do not change once the folder is made. So a kill
at any moment leaves a complete model, and a complete training state to resume from.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from oracle.archives import MANIFEST, Member, read_regular
from oracle.errors import InputError, RnngError, placed
from oracle.files import from_json, replacing
from rnng_dy.arrays import LARGEST, are_usable, number_of_updates, read_arrays, write_arrays
from rnng_dy.folders import add_missing, new_folder, replace_folder, writing
from rnng_dy.known_models import CONFIG, Folder, is_name, known_models, located

FORMAT, VERSION = "rnng_dy model", 1
VOCABULARY = "vocabulary.json"
PARAMETERS, TRAINING = "parameters.npz", "training.npz"
UPDATES = "updates"
"""The key of the number of updates, in the file of the parameters."""
PLUGINS = "plugins"
"""The key in config.json of the plugins that a model needs; absent if it needs none."""
GENERAL = {"format", "version", "kind", "sizes", PLUGINS}
"""The keys of config.json that every kind of model may have."""


class Store(Protocol):
    """A source of named arrays, such as a model's parameters or an optimizer's state."""

    def arrays(self) -> Mapping[str, np.ndarray]:
        """Return all arrays by name."""

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set all values from arrays. Raises RnngError if they do not fit."""


@dataclass(frozen=True)
class Contents:
    """A model folder's configuration and vocabulary."""

    folder: Folder
    config: Mapping[str, Any]
    vocabulary: Mapping[str, Any]

    def constant(self, name: str) -> np.ndarray:
        """Read an array that is not trained. Raises InputError for a missing or damaged one."""
        path = self.folder / f"{name}.npz"
        arrays = read_arrays(path)
        if arrays.keys() != {name} or not np.issubdtype(arrays[name].dtype, np.floating):
            raise InputError(f"damaged: it needs numbers called {name} and nothing else", path)
        if not are_usable(arrays[name]):
            raise InputError(
                f"damaged: it holds NaN or infinity, or numbers over {LARGEST:g}", path
            )
        return arrays[name]

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn errors in reading the vocabulary into an InputError that names its file."""
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(self.folder / VOCABULARY, error) from None


def save(
    model,
    folder: str | Path,
    state: Mapping[str, object] | None = None,
    optimizer: Store | None = None,
    adding: Iterable[Callable[[Path], None]] = (),
) -> None:
    """Write a model folder; at every moment the old one or the new one is there, complete.

    Other files of an old folder stay: the training state, its log and data, the user's files. `state` and `optimizer`
    save a model in training; each function in `adding` writes more files into the folder.

    Raises RnngError if the folder is no model folder, holds the training of another model, or is being written by
    another process.
    """
    with writing(folder):
        folder = Path(os.path.realpath(folder))
        if folder.exists() and not (folder / CONFIG).is_file():
            raise RnngError(f"{folder} exists and is no model folder: choose another name")
        new = new_folder(folder)
        try:
            _write_new(model, new)
            if state is not None:
                save_training(model.store, new, state, optimizer)
            for add in adding:
                add(new)
            if folder.exists():
                _require_same_training(model, folder, new)
                add_missing(folder, new, model.companions_in(folder))
                replace_folder(new, folder)
            else:
                new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _write_new(model, folder: Path) -> None:
    """Write a model into an empty folder."""
    config = {"format": FORMAT, "version": VERSION, **model.config()}
    _write_json(folder / CONFIG, config)
    _write_json(folder / VOCABULARY, model.vocabulary.to_json())
    for name in model.constants_of(model.vocabulary):
        write_arrays(folder / f"{name}.npz", {name: getattr(model, name)})
    save_parameters(model, folder)
    model.write_companions(folder)


def _require_same_training(model, old: Path, new: Path) -> None:
    """Raise RnngError if the old folder has a training state that the new model cannot resume from."""
    if not (old / TRAINING).exists():
        return
    (config, words), (new_config, new_words) = (
        ({**model.config_defaults, **read_config(folder)}, _read_vocabulary(folder))
        for folder in (old, new)
    )
    if (new / TRAINING).exists() or config != new_config or words != new_words:
        raise RnngError(f"{old} holds the training of another model: choose another name")


def read(folder: str | Folder, kind: str, defaults: Mapping[str, object]) -> Contents:
    """Read configuration and vocabulary of a model of a kind.

    `defaults` are the kind's own keys of config.json, with their values for older folders that lack them.

    Raises RnngError if there is no model, if it is of another kind, or if it has an unknown key.
    """
    folder = located(folder)
    config = read_config(folder)
    if config["kind"] != kind:
        raise InputError(f"a {config['kind']} model; a {kind} one is needed here", folder)
    for key in config:
        if key not in GENERAL and key not in defaults:
            raise InputError(
                f"unknown key {key!r}: this version of rnng_dy cannot read the model",
                folder / CONFIG,
            )
    return Contents(folder, {**defaults, **config}, _read_vocabulary(folder))


def model_files(folder: str | Path) -> dict[str, Folder]:
    """Return the files that a model is read from, by their names in its folder: no training state, no data."""
    folder = located(folder)
    if isinstance(folder, Member):
        return {name: file for name, file in folder.files().items() if not name.endswith(".md")}
    # companions are JSON files in the folder and its subfolders; deeper down are the arrays of training data
    paths = [path for pattern in ("*.json", "*/*.json", "*.npz") for path in folder.glob(pattern)]
    # an archive that was unpacked has a manifest
    paths = [path for path in paths if path.name not in (TRAINING, MANIFEST)]
    return {path.relative_to(folder).as_posix(): path for path in paths if path.is_file()}


def size_of(folder: str | Path) -> str:
    """Return the size of an archive, or of the files that a model is read from, as text."""
    place = located(folder)
    paths = [place.path] if isinstance(place, Member) else model_files(place).values()
    return megabytes(sum(map(os.path.getsize, paths)))


def megabytes(size: int) -> str:
    """Return a size in bytes as text.

    >>> megabytes(8_123_456)
    '8.12 MB'
    """
    return f"{size / 1e6:,.2f} MB"


def kind_of(folder: str | Path) -> str:
    """Return the kind of model that a folder holds."""
    return read_config(folder)["kind"]


def save_parameters(model, folder: str | Path) -> None:
    """Replace the parameters in an existing model folder; saves the number of updates, too."""
    known = {} if model.updates is None else {UPDATES: np.array(model.updates)}
    write_arrays(Path(folder) / PARAMETERS, {**model.store.arrays(), **known})


def load_parameters(model, folder: Folder) -> None:
    """Set a model's parameters and number of updates. Raises InputError naming a file that is missing or damaged."""
    path = folder / PARAMETERS
    arrays = read_arrays(path)
    with placed(path):
        model.updates = take_updates(arrays)
        model.store.load(arrays)


def take_updates(arrays: dict[str, np.ndarray]) -> int | None:
    """Remove the number of updates from the arrays of a model and return it; None if an older folder lacks it.

    Raises RnngError if it is no whole number.
    """
    updates = arrays.pop(UPDATES, None)
    return None if updates is None else number_of_updates(updates)


def save_training(
    store: Store, folder: str | Path, state: Mapping[str, object], optimizer: Store
) -> None:
    """Replace the training state: current parameters, optimizer state and a JSON object."""
    arrays = {f"parameter/{name}": values for name, values in store.arrays().items()}
    arrays |= {f"optimizer/{name}": values for name, values in optimizer.arrays().items()}
    write_arrays(Path(folder) / TRAINING, {"state": np.array(json.dumps(state)), **arrays})


def load_training(store: Store, folder: str | Path, optimizer: Store) -> dict[str, object]:
    """Set parameters and optimizer from the training state and return its JSON object."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path)
    try:
        state = from_json(str(arrays.pop("state")))
        parts = {"parameter": {}, "optimizer": {}}
        for name, values in arrays.items():
            part, _, name = name.partition("/")
            parts[part][name] = values
        store.load(parts["parameter"])
        optimizer.load(parts["optimizer"])
    except (KeyError, ValueError) as error:
        raise InputError(f"not the training state of this model: {error}", path) from None
    return state


def remove_half_written(folder: str | Path) -> None:
    """Remove files that a killed process left half written; call only while no other process uses the folder."""
    for half_written in Path(folder).glob(".*.*.*[0-9]"):
        half_written.unlink(missing_ok=True)


def training_state(folder: str | Path) -> dict[str, Any]:
    """Return the JSON object of a training state. Raises InputError if the folder has none."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path, ["state"])
    try:
        return from_json(str(arrays["state"]))
    except (KeyError, ValueError) as error:
        raise InputError(f"not a training state: {error}", path) from None


def read_config(folder: str | Folder) -> dict[str, Any]:
    """Return the content of a model's config.json. Raises RnngError if there is no model that can be read."""
    folder = located(folder)
    path = folder / CONFIG
    if not path.is_file():
        raise RnngError(_no_model(folder))
    try:
        config = from_json(read_regular(path))
        if config["format"] != FORMAT:
            raise ValueError("not a model of rnng_dy")
        if not isinstance(config["kind"], str) or not isinstance(config["sizes"], dict):
            raise ValueError("kind is no name, or sizes are no object")
        version = config["version"]
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None
    if version != VERSION:
        raise InputError(
            f"written by another version of rnng_dy (format {version}, this one reads {VERSION}): install that "
            "version, or train the model again",
            path,
        )
    return config


def _read_vocabulary(folder: Folder) -> dict:
    try:
        text = read_regular(folder / VOCABULARY).decode("utf-8", "surrogateescape")
        return from_json(text)
    except ValueError as error:
        raise _damaged(folder / VOCABULARY, error) from None


def _no_model(folder: Folder) -> str:
    remedy = "name one that `rnng-dy train` or `import-clab` wrote"
    if not folder.exists():
        if is_name(folder) and (known := ", ".join(known_models())):
            remedy += f", or one of the models that `rnng-dy models` lists: {known}"
        return f"there is no folder {folder}: {remedy}"
    if not folder.is_dir():
        return f"{folder} is a file, and a model is a folder or an archive of `rnng-dy export`: {remedy}"
    return f"{folder} is no model folder, since it has no {CONFIG}: {remedy}"


def _damaged(path: Folder, error: Exception) -> InputError:
    return InputError(f"damaged ({type(error).__name__}: {error}): train the model again", path)


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    with replacing(path) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
