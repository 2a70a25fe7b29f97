"""Model folders and archives of them: config.json, vocabulary.json, parameters.npz and companions; no pickle.

While a model is trained, its folder also holds training.npz (newest parameters and progress) and
log.jsonl. A new folder is written beside its place and renamed. In an existing one files are
replaced one by one, while configuration and vocabulary never change. So a kill at any moment leaves
a model that opens, and a training that can be resumed.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import operator
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.files import hidden_name, locked, reading, replacing
from rnng_dy import companions, engine, model_folder
from rnng_dy.model_folder import CONFIG, PARAMETERS, PLUGINS, VECTORS, VOCABULARY, About, Folder
from rnng_dy.parameters import restored, rounded
from rnng_dy.vocabulary import UNK

_log = logging.getLogger(__name__)

TRAINING = "training.npz"
UPDATES = "updates"
"""The key of the number of updates, in the file of the parameters."""
GENERAL = {"format", "version", "kind", "sizes", PLUGINS}
"""The keys of config.json that every kind of model may have."""
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
def new_folder(place: Path) -> Iterator[Path]:
    """Make a folder beside `place` that gets this name at the end of the block, unless there is an error."""
    new = Path(hidden_name(os.fspath(place), "new"))
    # a killed process may have left one
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        yield new
        new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def save(
    model,
    folder: str | Path,
    state: Mapping[str, object] | None = None,
    optimizer: Any = None,
) -> None:
    """Write a new model folder, or replace the files of a model with the same configuration and vocabulary.

    `state` and `optimizer` save a new model in training.

    Raises RnngError if the folder is no model folder, holds another model, or is being written by
    another process.
    """
    with writing(folder):
        place = Path(os.path.realpath(folder))
        if place.exists():
            _require_same(model, place)
            _write(model, place)
            return
        with new_folder(place) as new:
            _write(model, new)
            if state is not None:
                save_training(model.store, new, state, optimizer)


def _write(model, folder: Path, bits: int = 32) -> None:
    """Write a model's files into a folder, those that are there already one by one, with arrays in `bits` bits."""
    if not (folder / CONFIG).exists():
        config = {"format": model_folder.FORMAT, "version": model_folder.VERSION, **model.config()}
        _write_json(folder / CONFIG, config)
        _write_json(folder / VOCABULARY, model.vocabulary.to_json())
    if model.vectors is not None:
        _write_arrays(folder / VECTORS, {"vectors": model.vectors}, bits)
    companions.write(model, folder)
    save_parameters(model, folder, bits)


def _require_same(model, folder: Path) -> None:
    if not (folder / CONFIG).is_file():
        raise RnngError(f"{folder} exists and is no model folder: choose another name")
    old, new = model_folder.read_config(folder), model.config()
    old, new = ({**model.config_defaults, **c, PLUGINS: [*c.get(PLUGINS, ())]} for c in (old, new))
    # the order of JSON's keys and its lists
    words = json.loads(json.dumps(model.vocabulary.to_json()))
    if {k: v for k, v in old.items() if k in new} != new or read_vocabulary(folder) != words:
        raise RnngError(f"{folder} holds another model: choose another name")


def save_parameters(model, folder: str | Path, bits: int = 32) -> None:
    """Replace the parameters in an existing model folder; saves the number of updates, too."""
    updates = {} if model.updates is None else {UPDATES: np.array(model.updates)}
    _write_arrays(Path(folder) / PARAMETERS, {**model.store.arrays(), **updates}, bits)


def save_training(
    store: Any, folder: str | Path, state: Mapping[str, object], optimizer: Any
) -> None:
    """Replace the training state: the arrays of store and optimizer, and a JSON object."""
    arrays = {f"optimizer/{name}": values for name, values in optimizer.arrays().items()}
    arrays |= {f"parameter/{name}": values for name, values in store.arrays().items()}
    _write_arrays(Path(folder) / TRAINING, {"state": np.array(json.dumps(state)), **arrays})


def export(model, output: str | os.PathLike[str], bits: int, about: About) -> None:
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


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    with replacing(path) as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)


def _write_arrays(path: Path, arrays: Mapping[str, np.ndarray], bits: int = 32) -> None:
    with replacing(path, binary=True) as stream:
        np.savez(stream, **rounded(arrays, bits))


# reading


def read_vocabulary(folder: str | Folder) -> dict[str, Any]:
    """Return the content of a model's vocabulary.json. Raises InputError if it is damaged."""
    path = model_folder.located(folder) / VOCABULARY
    with reading(path, remedy="damaged: train the model again"):
        content = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
        words, tags = content["words"], content.get("tags") or []
        # raises TypeError for anything but texts
        "".join(chain(words, tags, content["nonterminals"], content["known"]))
        clustered = sorted(chain.from_iterable(content.get("clusters", ())))
        # a parser's words have UNK; the first symbol of others need not be a word, and so in a
        # cluster
        if clustered != [*range(len(words))][-len(clustered) :] and (clustered or UNK not in words):
            raise ValueError("the clusters are of other words, or there is no word UNK")
        if [*map(type, content.get("tag_counts", ()))] != [int] * len(tags):
            raise ValueError("the counts are of other tags")
    return content


def read_arrays(path: str | Folder, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz file, or only `names`, by name. Raises InputError if it is damaged."""
    path = Path(path) if isinstance(path, str) else path
    with reading(path, remedy="missing or damaged: this model folder is not complete"):
        # an open file stays whole if it is replaced meanwhile; a member of an archive is read at
        # once
        file = path.open("rb") if isinstance(path, Path) else io.BytesIO(path.read_bytes())
        with file, np.load(file, allow_pickle=False) as archive:
            # the contents of an archive count as large as this file
            if not isinstance(path, Path) and any(m.compress_type for m in archive.zip.infolist()):
                raise ValueError("compressed arrays")
            arrays = {n: archive[n] for n in archive.files if names is None or n in names}
        if not all(isinstance(values, np.ndarray) for values in arrays.values()):
            raise ValueError("no arrays")
        return restored(arrays)


def load_parameters(model, folder: Folder) -> None:
    """Set a model's parameters and number of updates. Raises InputError naming a damaged file."""
    path = folder / PARAMETERS
    arrays = read_arrays(path)
    with reading(path):
        updates = arrays.pop(UPDATES, None)
        model.updates = None if updates is None else operator.index(updates[()])
        model.store.load(arrays)


def load_training(store: Any, folder: str | Path, optimizer: Any) -> None:
    """Set parameters and optimizer from the training state."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path)
    with reading(path, remedy="not the training state of this model"):
        for part, of in (("parameter/", store), ("optimizer/", optimizer)):
            names = [name for name in arrays if name.startswith(part)]
            of.load({name.removeprefix(part): arrays[name] for name in names})


def training_state(folder: str | Path) -> dict[str, Any]:
    """Return the JSON object of a folder's training state. Raises InputError if it is damaged."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path, ["state"])
    with reading(path, remedy="no training state"):
        return json.loads(str(arrays["state"]))


def content_hash(*parts: object) -> str:
    """Return a hash of everything that determines an output: options, arrays, and contents of files."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path | zipfile.Path):
            with reading(part):
                content = part.read_bytes()
        elif isinstance(part, np.ndarray):
            content = np.ascontiguousarray(part).tobytes()
        else:
            content = repr(part).encode("utf-8", "replace")
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def load(folder: str | os.PathLike[str], device: str | None = None) -> Any:
    """Load the model of a folder or an archive, whatever its kind.

    Args:
        folder: A model folder, as `train` writes it, an archive, or a name that `rnng-dy models`
            lists.
        device: `cpu`, `cuda` or `cuda:N`; all models of a process share it. None means the device
            that the process uses already, or else `cpu`.

    Returns:
        The parser, generative model or LSTM language model.

    Raises:
        RnngError: The folder holds no model or a damaged one, or the device cannot be used.

    Examples:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        oracle.common.errors.RnngError: there is no folder no/such/folder: ...
    """
    # before DyNet is loaded
    found = model_folder.kind_of(folder)
    engine.start(device)
    model = found.load(os.fspath(folder))
    warn_of_model(model, folder)
    return model


def warn_of_model(model: Any, name: object) -> None:
    """Log a warning if a model has had no updates, or was trained with other plugins; scorers have neither."""
    if getattr(model, "updates", None) == 0:
        _log.warning(f"{name}: the model is not trained, what it says is random")
    for plugin in companions.changed_plugins(model):
        _log.warning(f"{name}: {plugin} has changed since this model was trained with it")
