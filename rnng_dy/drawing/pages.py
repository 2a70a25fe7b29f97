"""Self-contained HTML pages: Jinja2 templates with one base, one style sheet and one script."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from oracle.errors import RnngError
from rnng_dy.drawing.words import visible

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_ENDS_SCRIPT = re.compile("<([!s])", re.IGNORECASE)
_SHOWN = re.compile(r"[^\t\n]+")


def require() -> ModuleType:
    """Return Jinja2. Commands call this before computing the results for a page.

    Raises RnngError if Jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise RnngError(f"a page needs Jinja2 ({error}): pip install 'rnng_dy[pages]'") from None
    return jinja2


def parts(template: str, /, folder: Path | None = None, **values: object) -> Iterator[str]:
    """Return the text of a page in parts, which are generated one after the other.

    The template is in `folder`, or one of this package. Text in `values` is escaped. Characters that HTML cannot hold
    or that change the direction of text become escapes.
    Raises RnngError, before the first part, if Jinja2 is not installed.
    """
    return _environment(folder).get_template(template).generate(values)


def source(name: str) -> str:
    """Return the text of the style sheet or script of all pages."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment(folder: Path | None = None) -> Environment:
    jinja2 = require()
    # comes with Jinja2
    from markupsafe import Markup, escape

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([_TEMPLATES if folder is None else folder, _TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def as_json(content: object) -> Markup:
        """Return JSON that cannot end a script element or begin a comment; lone surrogates are escapes."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", r"<\/")
        text = _ENDS_SCRIPT.sub(r"\\u003c\1", text)
        return Markup(text.encode("utf-8", "backslashreplace").decode("utf-8"))

    def spaced(text: str) -> Markup:
        """Return escaped text with its tabs and line feeds."""
        return Markup(_SHOWN.sub(lambda match: escape(visible(match[0])), text))

    environment.filters |= {"json": as_json, "spaced": spaced, "number": format}
    environment.tests["finite"] = lambda value: value is not None and math.isfinite(value)
    environment.globals["source"] = lambda name: Markup(source(name))
    return environment
