"""The names and formats of a model's files, in a folder or in a zip archive of it.

This module finds models, and knows their configuration and their description: about.json, which
`rnng-dy models show` prints. `checkpoint` reads and writes the other files.
"""

import hashlib
import importlib
import json
import os
import platform
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISLNK
from typing import Any

from oracle.common import plugins
from oracle.common.errors import RnngError
from oracle.common.files import finite, reading, replacing

VARIABLE = "RNNG_DY_MODELS"
"""The environment variable with folders of models, separated by `os.pathsep`."""
ENDING = ".rnng.zip"
"""The ending of archives that are found by name, which is their name without it."""
CONFIG, VOCABULARY, PARAMETERS = "config.json", "vocabulary.json", "parameters.npz"
"""The files that every model folder has."""
VECTORS, ABOUT, TEXT = "vectors.npz", "about.json", "text.json"
SPELLING, TAGGER = "spelling.json", "tagger"
TRAINING = "training.npz"
"""The state of a model that is being trained, in no archive."""
FORMAT, VERSION = "rnng_dy model", 1
"""The format that config.json names."""
PLUGINS = "plugins"
"""The key in config.json of the plugin files that a model needs; absent if it needs none."""
GENERAL = {"format", "version", "kind", "sizes", PLUGINS}
"""The keys of config.json that every kind of model may have."""
PARAMETERS_HASH = "parameters"
"""The key, among the scores in about.json, of a hash of the parameters that were evaluated."""
_FILES = CONFIG, VOCABULARY, PARAMETERS, VECTORS, ABOUT, TEXT, SPELLING
SHIPPED = Path(__file__).parent / "shipped"
"""The folder of the models that the package brings."""

Folder = Path | zipfile.Path
"""A model folder, or an archive that is read as one."""
Value = str | int | float | bool | None
About = Mapping[str, Mapping[str, Value]]
"""The content of about.json: sections of named values."""


def searched_folders() -> list[Path]:
    """Return the folders with models: of RNNG_DY_MODELS, of the data folder, of the package."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = os.path.expanduser("~/.local/share")
    named = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    return [*map(Path, named), Path(data, "rnng_dy", "models"), SHIPPED]


def known_models() -> dict[str, Path]:
    """Return the paths of models by name, sorted; the first folder with a name counts."""
    models: dict[str, Path] = {}
    for folder in searched_folders():
        # it need not exist
        with suppress(OSError):
            for path in sorted(folder.iterdir()):
                is_model = path.name.endswith(ENDING) or (path / CONFIG).is_file()
                # a hidden folder is one that is being written
                if is_model and not path.name.startswith("."):
                    models.setdefault(path.name.removesuffix(ENDING), path)
    return dict(sorted(models.items()))


def is_name(model: str | os.PathLike) -> bool:
    """Return whether a model may be given by name: no file or model here is called so."""
    if os.path.basename(model) != os.fspath(model):
        return False
    return (os.path.isdir(model) and not Path(model, CONFIG).exists()) or not os.path.lexists(model)


def companion(model: str, roles: Sequence[str]) -> str:
    """Return NAME-ROLE, of the first role that there is, for the NAME of a parser.

    Any other model is returned as it is.
    """
    known = known_models() if is_name(model) else {}
    names = [f"{model}-{role}" for role in roles] if model in known else []
    return next((name for name in names if name in known), model)


def located(model: str | Folder) -> Folder:
    """Return the folder or archive of a model, which is given by its path or name.

    What is neither gives the path as it is.
    """
    if isinstance(model, zipfile.Path):
        return model
    path = Path(known_models().get(os.fspath(model), model) if is_name(model) else model)
    return _archive(path) if zipfile.is_zipfile(path) else path


def _archive(path: Path) -> zipfile.Path:
    """Return an archive. Raises InputError if it is damaged, or has files of no model."""
    # imported here, since it loads NLTK
    from oracle.tagging import FILES

    # archives of version 0.3 have two files more
    allowed = {*_FILES, "manifest.json", "README.md", *(f"{TAGGER}/{x}" for x in ("", *FILES))}
    with reading(path, remedy="`rnng-dy models export` writes archives of models"):
        members = (archive := zipfile.ZipFile(path)).infolist()
        names = {member.filename for member in members}
        if strange := names - allowed:
            raise ValueError(f"{min(strange)!r} is no file of a model")
        if len(names) < len(members) or any(S_ISLNK(m.external_attr >> 16) for m in members):
            raise ValueError("a link, or two files of one name")
        if sum(member.file_size for member in members) > 100 * path.stat().st_size:
            raise ValueError("its contents are over 100 times its size")
    return zipfile.Path(archive)


def model_files(folder: str | Folder) -> dict[str, Folder]:
    """Return the files that a model is read from, by name: no training state, no log."""
    location = located(folder)
    files = {name: location / name for name in _FILES}
    if (location / TAGGER).is_dir():
        files |= {f"{TAGGER}/{path.name}": path for path in (location / TAGGER).iterdir()}
    return {name: path for name, path in files.items() if path.is_file()}


def paths_of(folder: str | Folder) -> list[str]:
    """Return the path of a model's archive, or the paths of the files in its folder."""
    location = located(folder)
    if isinstance(location, zipfile.Path):
        return [str(location.root.filename)]
    return [*map(str, model_files(location).values())]


def size_of(folder: str | Folder) -> str:
    """Return the size of an archive, or of a model's files, as text: `8.12 MB`."""
    return f"{sum(map(os.path.getsize, paths_of(folder))) / 1e6:,.2f} MB"


# the configuration


def read_config(folder: str | Folder) -> dict[str, Any]:
    """Return the content of config.json. Raises RnngError if no model can be read."""
    location = located(folder)
    path = location / CONFIG
    if not path.is_file():
        raise RnngError(_no_model(location))
    with reading(path, remedy="damaged: train the model again"):
        config = json.loads(path.read_bytes())
        if config["format"] != FORMAT or not {"version", "kind", "sizes"} <= config.keys():
            raise ValueError("no model folder of rnng_dy")
    if config["version"] != VERSION:
        raise RnngError(
            f"{path}: made by another version of rnng_dy (format {config['version']}, "
            f"this one reads {VERSION}): install that version, or train the model again"
        )
    return config


def _no_model(folder: Folder) -> str:
    remedy = "name one that `rnng-dy train` or `import-clab` wrote"
    if isinstance(folder, Path) and not folder.exists():
        known = ", ".join(known_models()) if is_name(folder) else ""
        listed = f", or one of the models that `rnng-dy models` lists: {known}" if known else ""
        return f"there is no folder {folder}: {remedy}{listed}"
    if folder.is_file():
        what = "a model is a folder or an archive of `rnng-dy models export`"
        return f"{folder} is a file, and {what}: {remedy}"
    return f"{str(folder).rstrip('/')} is no model folder, since it has no {CONFIG}: {remedy}"


# the description


def read_about(folder: str | Folder) -> About | None:
    """Return the content of about.json; None for an older folder without one.

    Raises InputError if it is damaged.
    """
    if not (path := located(folder) / ABOUT).is_file():
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


def about_model(model: Any, sentences: Sequence[Any], command: str | None) -> About:
    """Return the sections about a model made by a command from the sentences of a training oracle.

    A resumed training keeps the date and the command of its beginning.
    """
    # imported here, since options need not wait for it
    from rnng_dy import engine

    recorded: About = model.about or {}
    config = dict(model.config())
    sizes, needed = config.pop("sizes"), config.pop(PLUGINS, ())
    words = sum(len(sentence.tokens) for sentence in sentences)
    return {
        **recorded,
        "model": {**config, "parameters": model.store.count()},
        **({PLUGINS: plugins.hashes(needed)} if needed else {}),
        "sizes": sizes,
        "corpus": {"sentences": len(sentences), "words": words},
        "made": recorded.get("made", {"date": _now(), "command": command}),
        "versions": {
            # rnng_dy itself imports this module
            "rnng_dy": importlib.import_module("rnng_dy").__version__,
            "dynet": engine.installed_version(),
            "python": platform.python_version(),
            "processor": engine.cpu_level() or platform.machine(),
        },
    }


def about_continued(base: Any, folder: str | os.PathLike[str]) -> About:
    """Return the section about the origin of a model that starts from another one (--init)."""
    parameters = (located(os.fspath(folder)) / PARAMETERS).read_bytes()
    digest, trained = hashlib.sha256(parameters).hexdigest(), trained_on(base.about or {})
    return {"origin": {"model": str(folder), "sha256": digest, "trained_on": trained}}


def evaluated(model: Any, record: Mapping[str, Any], dev: str | None) -> About:
    """Return a model's sections with the record of its evaluation, on data with the hash `dev`."""
    no_scores = {"event", "score", "is_best", "best"}
    scores = {name: x for name, x in record.items() if name not in no_scores}
    origin = {"date": _now(), "dev": dev, PARAMETERS_HASH: model.store.hash()}
    return {**(model.about or {}), "scores": {**finite(scores), **origin}}


def _now() -> str:
    """Return the current time in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def true_about(model: Any) -> About | None:
    """Return a model's sections, without scores of other parameters than those of now."""
    about: About | None = model.about
    evaluated_hash = (about or {}).get("scores", {}).get(PARAMETERS_HASH)
    if about is None or evaluated_hash in (None, model.store.hash()):
        return about
    return {name: section for name, section in about.items() if name != "scores"}


def changed_plugins(model: Any) -> list[str]:
    """Return the names of plugins that have other texts than when the model was trained."""
    recorded = (model.about or {}).get(PLUGINS, {})
    return [name for name, text in plugins.hashes(recorded).items() if text != recorded[name]]


def exported(model: Any, bits: int, licence: str | None, data: str | None) -> About:
    """Return the sections of an archive: fewest bits of its arrays, terms of use of model and data.

    Scores are left out if the archive has other bits than the model that they were measured with.
    """
    sections = (true_about(model) or {}).items()
    about = {name: x for name, x in sections if bits == 32 or name != "scores"}
    about["model"] = section = {"kind": model.kind, **about.get("model", {})}
    if bits < 32 and section.get("arrays") != "8 bits":
        section["arrays"] = f"{bits} bits"
    chosen = {name: x for name, x in (("licence", licence), ("data", data)) if x is not None}
    if terms := {**about.get("terms", {}), **chosen}:
        about["terms"] = terms
    return about


def trained_on(about: About) -> str | None:
    """Return the size of the training corpus as text; None if it is not recorded.

    >>> trained_on({"corpus": {"sentences": 3396, "words": 81234}})
    '3,396 sentences, 81,234 words'
    """
    corpus = about.get("corpus")
    return corpus and "{sentences:,} sentences, {words:,} words".format(**corpus)
