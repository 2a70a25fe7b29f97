"""text.json of a model folder, with the settings that segment raw text."""

from __future__ import annotations

import json
from pathlib import Path

from oracle.errors import InputError
from oracle.regular_files import Member, read_regular
from oracle.streams import from_json, replacing
from rnng_dy.text.segmenter import Segmenter

TEXT = "text.json"


def write_segmenter(segmenter: Segmenter, path: Path) -> None:
    """Write a segmenter as JSON."""
    with replacing(path) as stream:
        json.dump(segmenter.to_json(), stream, ensure_ascii=False, indent=1)


def read_segmenter(path: Path | Member) -> Segmenter:
    """Return the segmenter of a file. Raises InputError for a damaged one."""
    try:
        text = read_regular(path).decode("utf-8", "surrogateescape")
        return Segmenter.from_json(from_json(text))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"damaged ({type(error).__name__}: {error}): train the model again, or delete this file; text is then read "
            "as the model's words let see",
            path,
        ) from None
