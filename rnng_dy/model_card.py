"""Description of a model: about.json in its folder, and the model card in Markdown that is made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from oracle.files import reading, replacing
from rnng_dy import registry
from rnng_dy.model_paths import ABOUT, Folder, located

Value = str | int | float | bool | None
About = Mapping[str, Mapping[str, Value]]
"""Sections of named values; `training.about` defines them."""

TITLES = {
    "terms": "Terms of use",
    "sizes": "Dimensions",
    "scores": "Best scores on the development data",
    "corpus": "Training corpus",
    "training": "Training so far",
    "data": "Hashes of the data",
    "resumed": "Resumed with",
}
"""Titles of sections that are not called as in about.json."""


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
    # an archive that is exported again without `half` has float32
    model.pop("arrays", None)
    if half:
        model["arrays"] = "float16; the scores are of float32"
    given = {name: x for name, x in (("licence", licence), ("data", data)) if x is not None}
    terms = {"terms": {**about.get("terms", {}), **given}} if given else {}
    return {**about, "model": model, **terms}


def card(about: About) -> str:
    """Return the model card in Markdown."""
    name: Any = about.get("model", {}).get("kind")
    known = registry.kind(name) if name in registry.KINDS else None
    title = known.title if known else _text(name)
    parts = [f"# {title}", "; ".join(["A model of rnng_dy", *training_of(about)]) + "."]
    if known:
        parts += ["## How to use it", f"```python\nimport rnng_dy\n\n{known.use}\n```"]
    for name, section in about.items():
        parts += [f"## {TITLES.get(name, _text(name.capitalize()))}", *_section(section)]
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
    scores, name = about.get("scores", {}), about.get("model", {}).get("kind")
    title = registry.kind(name).score_title if name in registry.KINDS else "perplexity"
    for key, shown, more in (("f1", "F1", " (scored with gold tags)"), ("perplexity", title, "")):
        if isinstance(scores.get(key), float):
            return f"dev {shown} {scores[key]:.2f}{more}"
    return None


def trained_on(about: About) -> str | None:
    """Return the size of the training corpus as text; None if it is not recorded.

    >>> trained_on({"corpus": {"sentences": 3396, "words": 81234}})
    '3,396 sentences, 81,234 words'
    """
    counts = [about.get("corpus", {}).get(name) for name in ("sentences", "words")]
    if not all(isinstance(count, int) for count in counts):
        return None
    return f"{counts[0]:,} sentences, {counts[1]:,} words"


def _section(values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the Markdown of a section: a command as it can be typed again, the rest as a table."""
    command = values.get("command")
    if isinstance(command, str):
        yield f"```sh\n{_printable(command)}\n```"
    rows = [f"| {_text(n)} | {_text(x)} |" for n, x in values.items() if n != "command"]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])


def _text(value: Value) -> str:
    r"""Return a value as it stands in a table.

    >>> _text("a|b") == r"a\|b", _text(1234), _text(True), _text(None)
    (True, '1,234', 'yes', 'none')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, str):
        return re.sub(r"[\\|]", r"\\\g<0>", _printable(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _printable(text: str) -> str:
    """Return text on one line, with escapes for unprintable characters, such as those that control a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
