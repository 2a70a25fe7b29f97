"""Description of a model: about.json in its folder, and the model card in Markdown that is made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from oracle.files import reading, replacing
from rnng_dy.model_paths import ABOUT, Folder, located

Value = str | int | float | bool | None
About = Mapping[str, Mapping[str, Value]]
"""Sections of named values; `training.about` defines them."""


def read(folder: str | Folder) -> About | None:
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


def write(folder: str | Path, about: About | None) -> None:
    """Replace about.json in a model folder, or remove it."""
    if about is None:
        (Path(folder) / ABOUT).unlink(missing_ok=True)
        return
    with replacing(Path(folder) / ABOUT) as stream:
        stream.write(json.dumps(about, indent=1) + "\n")


def exported(
    about: About | None, kind: str, half: bool, licence: str | None, data: str | None
) -> About:
    """Return the sections of an archive: how its arrays are rounded, and the terms of use of model and data."""
    about = about or {}
    model = {"kind": kind, **about.get("model", {})}
    if half:
        model["arrays"] = "float16; the scores are of float32"
    given = {name: x for name, x in (("licence", licence), ("data", data)) if x is not None}
    terms = {**about.get("terms", {}), **given}
    return {**about, "model": model, **({"terms": terms} if terms else {})}


def card(about: About) -> str:
    """Return the model card in Markdown: a table for each section."""
    parts = ["# A model of rnng_dy"]
    for name, section in about.items():
        rows = [f"| {_text(key)} | {_text(value)} |" for key, value in section.items()]
        parts += [f"## {_text(name.capitalize())}", "\n".join(["| | |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def training_of(about: About) -> list[str]:
    """Return the corpus that a model was trained on, and its best score, as far as they are recorded."""
    corpus, score = trained_on(about), best_score(about)
    return ([f"trained on {corpus}"] if corpus else []) + ([score] if score else [])


def best_score(about: About) -> str | None:
    """Return the best score on the development data as text; None if there is none yet.

    >>> best_score({"model": {"kind": "discriminative"}, "scores": {"f1": 87.5128, "updates": 5094}})
    'dev F1 87.51 (scored with gold tags)'
    """
    scores = about.get("scores", {})
    if isinstance(f1 := scores.get("f1"), float):
        return f"dev F1 {f1:.2f} (scored with gold tags)"
    # an infinite perplexity is recorded as None
    if isinstance(perplexity := scores.get("perplexity"), float):
        events = " of words and trees" if about.get("model", {}).get("kind") == "generative" else ""
        return f"dev perplexity{events} {perplexity:.2f}"
    return None


def trained_on(about: About) -> str | None:
    """Return the size of the training corpus as text; None if it is not recorded.

    >>> trained_on({"corpus": {"sentences": 3396, "words": 81234}})
    '3,396 sentences, 81,234 words'
    """
    corpus = about.get("corpus")
    return corpus and "{sentences:,} sentences, {words:,} words".format(**corpus)


def _text(value: Value) -> str:
    r"""Return a value as it stands in a table: one line, without characters that control a terminal.

    >>> _text("a|b") == r"a\|b", _text(1234), _text(True), _text(None)
    (True, '1,234', 'yes', 'none')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, str):
        printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
        return re.sub(r"[\\|]", r"\\\g<0>", printable)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
