"""HTML pages for files and the server: Jinja2 templates with one base, style sheet and script."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from oracle.brackets import visible
from oracle.common.errors import extra
from rnng_dy.drawing.trees import svg_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
_TEXT = re.compile(r"[^\t\n]+")


def require() -> ModuleType:
    """Return Jinja2. Commands call this before computing the results for a page.

    Raises RnngError if Jinja2 is not installed.
    """
    with extra("a page needs Jinja2", "pages"):
        import jinja2
    return jinja2


def parts(template: str, /, **values: object) -> Iterator[str]:
    """Return the text of a page in parts, which are generated one after the other.

    Text in `values` is escaped. Characters that HTML cannot hold or that change the direction of
    text become escapes. Raises RnngError, before the first part, if Jinja2 is not installed.
    """
    return _environment().get_template(template).generate(values)


def markup(html: str) -> Markup:
    """Return text that a page takes as it is."""
    # comes with Jinja2
    from markupsafe import Markup

    return Markup(html)


@cache
def _environment() -> Environment:
    jinja2 = require()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: _shown(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    environment.filters["number"] = format
    environment.tests["finite"] = lambda value: value is not None and math.isfinite(value)
    # the server gives its pages and the name of the one that is shown
    environment.globals |= {
        "svg_of": lambda picture: markup(svg_of(picture)),
        "served": None,
        "signature": "",
    }
    return environment


def _shown(text: str) -> str:
    """Return text with escapes for what HTML cannot hold."""
    return _TEXT.sub(lambda match: visible(match[0]), text)
