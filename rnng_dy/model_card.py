"""Description of a model: about.json in its folder, and the model card in Markdown that is made from it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from oracle.files import reading, replacing
from rnng_dy.model_paths import ABOUT, Folder, located
from rnng_dy.registry import KINDS

Value = str | int | float | bool | None
About = Mapping[str, Mapping[str, Value]]
"""Sections of named values; `training.about` defines them."""

TITLES = {
    "model": "Model",
    "terms": "Terms of use",
    "sizes": "Dimensions",
    "scores": "Best scores on the development data",
    "corpus": "Training corpus",
    "origin": "Origin",
    "training": "Training so far",
    "settings": "Settings",
    "data": "Hashes of the data",
    "made": "Made",
    "resumed": "Resumed with",
    "versions": "Versions",
}
"""Titles of the sections, in the order of the card."""


def read(folder: str | Folder) -> About | None:
    """Return the content of about.json; None for an older folder without one.

    Raises InputError if it is damaged.
    """
    path = located(folder) / ABOUT
    if not path.is_file():
        return None
    with reading(path, remedy="damaged: the model is the same without it, so remove it"):
        about = json.loads(path.read_bytes())
        for section in about.values():
            if not all(map(_is_value, section.values())):
                raise ValueError("a value that is neither number nor text")
    return about


def write(folder: str | Path, about: About) -> None:
    """Replace about.json in a model folder."""
    with replacing(Path(folder) / ABOUT) as stream:
        stream.write(json.dumps(about, indent=1) + "\n")


def card(about: About) -> str:
    """Return the model card in Markdown."""
    name = about.get("model", {}).get("kind")
    kind = KINDS.get(name)
    parts = [f"# {kind.title if kind else _text(name)}", f"A model of rnng_dy{_scored(about)}."]
    if kind:
        parts += ["## How to use it", f"```python\nimport rnng_dy\n\n{kind.use}\n```"]
    for name in [*TITLES, *(other for other in about if other not in TITLES)]:
        if name in about:
            parts += [f"## {TITLES.get(name, _text(name))}", *_section(about[name])]
    return "\n\n".join(parts) + "\n"


def best_score(about: About) -> str | None:
    """Return the best score on the development data as text; None if there is none yet.

    >>> best_score({"scores": {"f1": 87.5128, "updates": 5094}})
    'dev F1 87.51 (scored with gold tags)'
    """
    scores = about.get("scores", {})
    kind = KINDS.get(about.get("model", {}).get("kind"))
    perplexity = kind.score_title if kind and kind.generates_words else "perplexity"
    shown = (("f1", "F1", " (scored with gold tags)"), ("perplexity", perplexity, ""))
    for name, title, more in shown:
        if isinstance(scores.get(name), float):
            return f"dev {title} {scores[name]:.2f}{more}"
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


def _is_value(value: object) -> bool:
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, Value)


def _scored(about: About) -> str:
    corpus, score = trained_on(about), best_score(about)
    return f"{f', trained on {corpus}' if corpus else ''}{f': {score}' if score else ''}"


def _section(values: Mapping[str, Value]) -> Iterator[str]:
    """Yield the Markdown of a section: a command as it can be typed again, the rest as a table."""
    command = values.get("command")
    if isinstance(command, str):
        ticks = max(map(len, re.findall("`+", command)), default=0)
        fence = "`" * max(3, ticks + 1)
        yield f"{fence}sh\n{_printable(command)}\n{fence}"
    rows = [f"| {_text(n)} | {shown(x)} |" for n, x in values.items() if n != "command"]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])


def shown(value: Value) -> str:
    """Return a value as Markdown shows it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _text(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _text(text: object) -> str:
    r"""Escape text so that Markdown shows it literally, also in a table.

    >>> print(_text("a|b `c` _d of_e\n"))
    a\|b \`c\` \_d of_e\\n
    """
    # an underscore between letters means nothing
    return re.sub(r"[\\`*\[\]<>|~&#]|\b_|_\b", r"\\\g<0>", _printable(str(text)))


def _printable(text: str) -> str:
    """Return text on one line, with escapes for unprintable characters, such as bytes that are no UTF-8."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
