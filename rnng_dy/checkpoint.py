"""Model folders: config.json, vocabulary.json, parameters.npz and companions; no pickle anywhere. Knows no model.

While a model is trained, its folder also holds training.npz (the newest parameters and where training stands) and
log.jsonl. Each .npz and what the folder says of the model (`model_card`) are replaced by one rename, the rest does not
change after the folder is made, so a kill at any moment leaves a complete model and a complete state to go on from.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from oracle.errors import InputError, RnngError
from oracle.regular_files import read_regular
from oracle.streams import from_json, replacing
from rnng_dy.arrays import LARGEST, are_usable, number_of_updates, read_arrays, write_arrays
from rnng_dy.folders import add_missing, new_folder, put_back, replace_folder, writing

FORMAT, VERSION = "rnng_dy model", 1
CONFIG, VOCABULARY = "config.json", "vocabulary.json"
PARAMETERS, TRAINING = "parameters.npz", "training.npz"
UPDATES = "updates"
"""Beside the parameters in their file."""
PLUGINS = "plugins"
"""The key of plugins that a model needs, in config.json where it needs any."""
GENERAL = {"format", "version", "kind", "sizes", PLUGINS}
"""Keys of config.json for any kind of model."""


class Store(Protocol):
    """Arrays by name, such as a model's parameters or what an optimizer remembers."""

    def arrays(self) -> Mapping[str, np.ndarray]:
        """All of them."""

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take them up. Raises RnngError where they do not fit."""


@dataclass(frozen=True)
class Contents:
    """A model folder's configuration and vocabulary."""

    folder: Path
    config: Mapping[str, object]
    vocabulary: Mapping[str, object]

    def constant(self, name: str) -> np.ndarray:
        """An array that is not trained. Raises InputError for a missing or damaged one."""
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
        """Turn what goes wrong with the vocabulary into an InputError that names it."""
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
    """Write a model folder; at every moment it is the old one or the new one, whole.

    What an old folder holds besides a model stays: the training state, its log and data, files of others. With `state`
    and `optimizer`, the folder is that of a model in training; each of `adding` writes more files into it.

    Raises RnngError for a folder of something else, for one with the training of another model, and for one that
    another process writes.
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
    """Raise RnngError if the old folder has a training state that the new one's model cannot go on from."""
    if not (old / TRAINING).exists():
        return
    (config, words), (new_config, new_words) = (
        ({**model.config_defaults, **read_config(folder)}, _read_vocabulary(folder))
        for folder in (old, new)
    )
    if (new / TRAINING).exists() or config != new_config or words != new_words:
        raise RnngError(f"{old} holds the training of another model: choose another name")


def read(folder: str | Path, kind: str, defaults: Mapping[str, object]) -> Contents:
    """What a folder holds of a kind of model.

    `defaults` are more keys of its config.json, with what they are in older folders.

    Raises RnngError where there is no model, where it is of another kind or has an unknown key.
    """
    folder = Path(folder)
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


def model_files(folder: str | Path) -> dict[str, Path]:
    """By their names in it, the files of a folder that the model is read from: neither training state nor data."""
    folder = Path(folder)
    # read_companions reads JSON alone, of the folder and those in it; deeper down are the arrays of training data
    paths = [path for pattern in ("*.json", "*/*.json", "*.npz") for path in folder.glob(pattern)]
    paths = [path for path in paths if path.name != TRAINING]
    return {path.relative_to(folder).as_posix(): path for path in paths if path.is_file()}


def kind_of(folder: str | Path) -> str:
    """Which kind of model a folder holds."""
    return read_config(folder)["kind"]


def save_parameters(model, folder: str | Path) -> None:
    """Replace the parameters in an existing model folder, with the number of updates that they have had."""
    known = {} if model.updates is None else {UPDATES: np.array(model.updates)}
    write_arrays(Path(folder) / PARAMETERS, {**model.store.arrays(), **known})


def take_updates(arrays: dict[str, np.ndarray]) -> int | None:
    """Take the number of updates out of the arrays of a model; None where an older folder does not say it.

    Raises RnngError where it is no number.
    """
    updates = arrays.pop(UPDATES, None)
    return None if updates is None else number_of_updates(updates)


def save_training(
    store: Store, folder: str | Path, state: Mapping[str, object], optimizer: Store
) -> None:
    """Replace the training state: the parameters now, what the optimizer remembers and a JSON object."""
    arrays = {f"parameter/{name}": values for name, values in store.arrays().items()}
    arrays |= {f"optimizer/{name}": values for name, values in optimizer.arrays().items()}
    write_arrays(Path(folder) / TRAINING, {"state": np.array(json.dumps(state)), **arrays})


def load_training(store: Store, folder: str | Path, optimizer: Store) -> dict[str, object]:
    """Set parameters and optimizer from the training state and give its JSON object."""
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
    """Remove what a kill left of files that were being written; only while no other process works in the folder."""
    for half_written in Path(folder).glob(".*.*.*[0-9]"):
        half_written.unlink(missing_ok=True)


def training_state(folder: str | Path) -> dict[str, object]:
    """The JSON object of a training state. Raises InputError where the folder has none."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path, ["state"])
    try:
        return from_json(str(arrays["state"]))
    except (KeyError, ValueError) as error:
        raise InputError(f"not a training state: {error}", path) from None


def read_config(folder: str | Path) -> dict:
    """The content of a folder's config.json. Raises RnngError where there is no model, or none that can be read."""
    folder = Path(folder)
    put_back(folder)
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
            "version, or make the model anew",
            path,
        )
    return config


def _read_vocabulary(folder: Path) -> dict:
    try:
        text = read_regular(folder / VOCABULARY).decode("utf-8", "surrogateescape")
        return from_json(text)
    except ValueError as error:
        raise _damaged(folder / VOCABULARY, error) from None


def _no_model(folder: Path) -> str:
    remedy = "name one that `rnng-dy train` or `import-clab` wrote"
    if not folder.exists():
        return f"there is no folder {folder}: {remedy}"
    if not folder.is_dir():
        return f"{folder} is a file, and a model is a folder: {remedy}"
    return f"{folder} is no model folder, since it has no {CONFIG}: {remedy}"


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"damaged ({type(error).__name__}: {error}): make the model anew", path)


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    with replacing(path) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
