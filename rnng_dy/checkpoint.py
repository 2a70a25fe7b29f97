"""Model folders: config.json, vocabulary.json and parameters.npz; no pickle anywhere.

While a model is trained, its folder also holds training.npz (the newest parameters and where training stands) and
log.jsonl. Configuration and vocabulary never change after the folder is made, and each .npz is replaced by one rename,
so a kill at any moment leaves a complete model and a complete state to go on from.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from oracle.errors import InputError, RnngError
from oracle.unknown import UnknownWords

if TYPE_CHECKING:
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.discriminative import DiscriminativeParser
    from rnng_dy.generative import GenerativeModel
    from rnng_dy.training import Settings
    from rnng_dy.updates import Adam, Sgd

    Model = DiscriminativeParser | GenerativeModel | LstmLanguageModel
    Optimizer = Adam | Sgd

FORMAT, VERSION = "rnng_dy model", 1
KINDS = ("discriminative", "generative", "lstm-lm")
CONFIG, VOCABULARY, PARAMETERS, VECTORS, TRAINING = (
    "config.json",
    "vocabulary.json",
    "parameters.npz",
    "vectors.npz",
    "training.npz",
)


def save(
    model: Model,
    folder: str | Path,
    state: Mapping[str, object] | None = None,
    optimizer: Optimizer | None = None,
) -> None:
    """Write a model folder, replacing one that is there only when the new one is complete.

    With `state` and `optimizer`, the folder is that of a model in training.
    """
    folder = Path(folder)
    if folder.exists() and not (folder / CONFIG).is_file():
        raise RnngError(f"{folder} exists and is no model folder: choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        new.chmod(0o755)
        _write_json(new / CONFIG, _config(model))
        _write_json(new / VOCABULARY, _vocabulary_to_json(model))
        if getattr(model, "vectors", None) is not None:
            _write_arrays(new / VECTORS, {"vectors": model.vectors})
        _write_arrays(new / PARAMETERS, model.store.arrays())
        if state is not None:
            save_training(model, new, state, optimizer)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            folder.rename(old / "replaced")
            new.rename(folder)
            shutil.rmtree(old)
        else:
            new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def load(folder: str | Path, kind: str) -> Model:
    """Read a model folder. Raises RnngError or InputError naming what is wrong, in which file."""
    model = build(folder, kind)
    try:
        model.store.load(read_arrays(Path(folder) / PARAMETERS))
    except InputError:
        raise
    except RnngError as error:
        raise InputError(str(error), Path(folder) / PARAMETERS) from None
    return model


def kind_of(folder: str | Path) -> str:
    """Which kind of model a folder holds, one of KINDS."""
    return _read_config(Path(folder))["kind"]


def save_parameters(model: Model, folder: str | Path) -> None:
    """Replace the parameters in an existing model folder."""
    _write_arrays(Path(folder) / PARAMETERS, model.store.arrays())


def save_training(
    model: Model, folder: str | Path, state: Mapping[str, object], optimizer: Optimizer
) -> None:
    """Replace the training state: the model's parameters now, what the optimizer remembers and a JSON object."""
    arrays = {f"parameter/{name}": values for name, values in model.store.arrays().items()}
    arrays |= {f"optimizer/{name}": values for name, values in optimizer.arrays().items()}
    _write_arrays(Path(folder) / TRAINING, {"state": np.array(json.dumps(state)), **arrays})


def load_training(model: Model, folder: str | Path, optimizer: Optimizer) -> dict[str, object]:
    """Set model and optimizer from the training state and give its JSON object."""
    path = Path(folder) / TRAINING
    arrays = read_arrays(path)
    for half_written in Path(folder).glob(".*.npz.*"):
        half_written.unlink()
    try:
        state = json.loads(str(arrays.pop("state")))
        parts = {"parameter": {}, "optimizer": {}}
        for name, values in arrays.items():
            part, _, name = name.partition("/")
            parts[part][name] = values
        model.store.load(parts["parameter"])
        optimizer.load(parts["optimizer"])
    except (KeyError, ValueError, RnngError) as error:
        raise InputError(f"not the training state of this model: {error}", path) from None
    return state


def training_state(folder: str | Path) -> dict[str, object]:
    """The JSON object of a training state: `progress`, `settings` and the number of `examples`."""
    return json.loads(str(read_arrays(Path(folder) / TRAINING)["state"]))


def training_settings(folder: str | Path) -> Settings:
    """The settings of a model in training. Raises InputError where the folder has no training state."""
    from rnng_dy.training import Settings

    path = Path(folder) / TRAINING
    try:
        return Settings(**training_state(folder)["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a training state: {error}", path) from None


def build(folder: str | Path, kind: str) -> Model:
    """The folder's model with parameters as they are before training.

    Raises RnngError where there is none, where it is of another kind, or where its files do not fit together.
    """
    folder = Path(folder)
    config = _read_config(folder)
    if config["kind"] != kind:
        raise InputError(f"a {config['kind']} model; a {kind} one is needed here", folder)
    try:
        text = (folder / VOCABULARY).read_text(encoding="utf-8", errors="surrogateescape")
        vocabulary = json.loads(text)
        if kind == "discriminative":
            return _build_parser(folder, config, vocabulary)
        return _build_generator(config, vocabulary)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"damaged ({type(error).__name__}: {error}): make the model anew", folder / VOCABULARY
        ) from None


def _read_config(folder: Path) -> dict:
    path = folder / CONFIG
    if not path.is_file():
        raise RnngError(f"{folder} is no model folder: it has no {CONFIG}")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        if config["format"] != FORMAT or config["kind"] not in KINDS:
            raise ValueError("not a model of rnng_dy")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"damaged ({error}): make the model anew", path) from None
    if config["version"] != VERSION:
        raise InputError(
            f"written by another version of rnng_dy (format {config['version']}, this one reads {VERSION})",
            path,
        )
    return config


def _config(model: Model) -> dict:
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": model.kind,
        "composition": model.composition,
        "sizes": vars(model.sizes),
    }


def _vocabulary_to_json(model: Model) -> dict:
    v = model.vocabulary
    shared = {
        "words": v.words.symbols,
        "nonterminals": v.actions.nonterminals.symbols,
        "unknown_rules": v.unknown.rules,
        "known": sorted(v.unknown.known),
    }
    if model.kind == "discriminative":
        return shared | {
            "singletons": sorted(v.singletons),
            "tags": None if v.tags is None else v.tags.symbols,
            "tag_counts": v.tag_counts,
            "pretrained": None if v.pretrained is None else v.pretrained.symbols,
        }
    return shared | {"clusters": v.clusters, "paths": v.paths}


def _build_parser(folder: Path, config: dict, data: dict) -> DiscriminativeParser:
    from rnng_dy.discriminative import DiscriminativeParser, ParserSizes
    from rnng_dy.vocabulary import ActionVocabulary, ParserVocabulary, Vocabulary

    vocabulary = ParserVocabulary(
        words=Vocabulary(data["words"]),
        actions=ActionVocabulary(data["nonterminals"]),
        unknown=UnknownWords(data["unknown_rules"], set(data["known"])),
        singletons=frozenset(data["singletons"]),
        tags=None if data["tags"] is None else Vocabulary(data["tags"]),
        tag_counts=tuple(data["tag_counts"]),
        pretrained=None if data["pretrained"] is None else Vocabulary(data["pretrained"]),
    )
    vectors = None if vocabulary.pretrained is None else read_arrays(folder / VECTORS)["vectors"]
    return DiscriminativeParser(
        vocabulary, ParserSizes(**config["sizes"]), config["composition"], vectors
    )


def _build_generator(config: dict, data: dict) -> GenerativeModel | LstmLanguageModel:
    from rnng_dy.vocabulary import ActionVocabulary, GeneratorVocabulary, Vocabulary

    vocabulary = GeneratorVocabulary(
        words=Vocabulary(data["words"]),
        clusters=tuple(map(tuple, data["clusters"])),
        paths=tuple(data["paths"]),
        actions=ActionVocabulary(data["nonterminals"]),
        unknown=UnknownWords(data["unknown_rules"], set(data["known"])),
    )
    if config["kind"] == "lstm-lm":
        from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel

        return LstmLanguageModel(vocabulary, LanguageModelSizes(**config["sizes"]))
    from rnng_dy.generative import GenerativeModel, GeneratorSizes

    return GenerativeModel(vocabulary, GeneratorSizes(**config["sizes"]), config["composition"])


def _write_json(path: Path, content: dict) -> None:
    # surrogateescape: words of a treebank that is not UTF-8 keep their bytes
    with path.open("w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(content, stream, ensure_ascii=False, indent=1)
        stream.flush()
        os.fsync(stream.fileno())


def _write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz under a temporary name, wait until it is on the disk, and rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            np.savez(stream, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz. Raises InputError for a missing or damaged one."""
    try:
        # from memory: a file that is replaced while it is read stays whole
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise InputError("missing: this model folder is not complete", path) from None
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError, AttributeError) as error:
        raise InputError(f"damaged or cut short ({error})", path) from None
