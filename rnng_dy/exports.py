"""Archives of models: all that is needed to use a model, in one file."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from oracle.archives import Member, packed
from oracle.errors import RnngError
from oracle.files import is_replaced, locked, replacing
from rnng_dy import model_card
from rnng_dy.arrays import read_arrays

HALF = "float16; the scores are of float32"
"""The note on the model card of a model with rounded arrays."""


def write(model, path: str | os.PathLike, half: bool, terms: Mapping[str, str | None]) -> None:
    """Write the archive of a model; see `Model.export`. `terms` are noted on the model card unless they are None."""
    if not is_replaced(path):
        raise RnngError(f"{path} is no file: name one for the archive")
    contents = model.files()
    given = {name: value for name, value in terms.items() if value is not None}
    about = {"model": {"kind": model.kind}, **(model.about or {})}
    if given:
        about["terms"] = {**about.get("terms", {}), **given}
    # an archive that is exported again without `half` has float32
    about["model"] = {name: note for name, note in about["model"].items() if name != "arrays"}
    if half:
        about["model"]["arrays"] = HALF
        arrays = {name: content for name, content in contents.items() if name.endswith(".npz")}
        contents |= {name: _halved(Member(arrays, "model", name)) for name in arrays}
    contents |= {name: text.encode() for name, text in model_card.files(about).items()}
    # a symbolic link stays a link
    with locked(path), replacing(os.path.realpath(path), binary=True) as stream:
        stream.write(packed(contents))


def _halved(file: Member) -> bytes:
    """Return the .npz file with float16 for all floats."""
    rounded = read_arrays(file)
    for name, values in rounded.items():
        if np.issubdtype(values.dtype, np.floating):
            with np.errstate(over="ignore"):
                rounded[name] = values.astype(np.float16)
            if not np.isfinite(rounded[name]).all():
                raise RnngError(
                    f"{name} holds numbers over {np.finfo(np.float16).max}: export without half"
                )
    stream = io.BytesIO()
    np.savez(stream, **rounded)
    return stream.getvalue()


def left_out(folder: Path, kept: Mapping[str, object]) -> dict[str, int]:
    """Return the sizes in bytes of files and folders in a model folder of which nothing is among the kept files."""
    names = {name.partition("/")[0] for name in kept}
    return {path.name: _size(path) for path in sorted(folder.iterdir()) if path.name not in names}


def _size(path: Path) -> int:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files)
