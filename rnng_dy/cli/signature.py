"""What the numbers of a run depend on, in one line, as sacrebleu says it."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import click

import rnng_dy
from rnng_dy import checkpoint
from rnng_dy.baselines.scorers import OpenableScorer
from rnng_dy.cli.rules import applies, is_given, meanings
from rnng_dy.kinds import ModelFolder, kind_of
from rnng_dy.search.surprisal import SearchOptions

UNSIGNED = {"jobs", "device", "form"}
"""Options that change no number."""
SEARCHED = ("search", *(field.name for field in fields(SearchOptions) if field.metadata))
"""Options of searches, which models without trees and measures along given trees do without."""
MEMORY, HASHES = "rnng_dy.signature", "rnng_dy.hashes"
"""Keys of a command's memory: its signature; hashes by the titles of its models and scorers."""


def signature() -> str:
    """Return the signature of the running command.

    It has the version, with the commit of a checkout, the command, each model or scorer with the
    first eight digits of its content's hash, and each option that applies and has a value, but
    names of files and options that change no number.
    """
    context = click.get_current_context()
    if MEMORY not in context.meta:
        sections = f"rnng_dy:{version()}", context.info_name or "", *_settings(context)
        context.meta[MEMORY] = "|".join(sections)
    return str(context.meta[MEMORY])


def version() -> str:
    """Return the version, with the commit of a checkout and a + if its files were changed since."""
    checkout = Path(rnng_dy.__file__).parents[1]
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty=+", "--exclude=*"]
    with suppress(OSError, subprocess.CalledProcessError):
        if (checkout / ".git").exists():
            described = subprocess.run(command, capture_output=True, text=True, check=True)
            return f"{rnng_dy.__version__}-{described.stdout.strip()}"
    return rnng_dy.__version__


def _settings(context: click.Context) -> Iterator[str]:
    """Yield the models, then the options of a command that apply and have a value."""
    params = context.command.params
    values = meanings(params, context.params)
    searches, settings = not values.get("along_trees"), []
    for param in params:
        name = param.opts[0].lstrip("-")
        # the meaning of a scorer is its name alone
        value = context.params[param.name] or values[param.name]
        for one in value if isinstance(value, tuple) else (value,):
            if getattr(param.type, "is_model", False) and one:
                one = ModelFolder(kind_of(one).kind, one)
            # NAME=VALUE
            one = "=".join(map(str, one)) if type(one) is tuple else one
            is_value = type(one) in (int, float) or one not in (None, False, "")
            if hasattr(one, "content"):
                yield f"{name}:{identified(one)}"
                searches = searches and one.has_trees
            elif is_value and not isinstance(param.type, click.Path) and applies(param, values):
                settings.append((param.name, f"{name}:{'yes' if one is True else one}"))
    for name, setting in settings:
        if name not in UNSIGNED and (searches or name not in SEARCHED or is_given(name)):
            yield setting


def identified(system: ModelFolder | OpenableScorer) -> str:
    """Return the name of a model or scorer, with the first eight digits of its content's hash."""
    name = re.sub(r"[^=]*/", "", system.title.rstrip("/"))
    return f"{name}#{content_hash(system)[:8]}"


def content_hash(system: ModelFolder | OpenableScorer) -> str:
    """Return the hash of a model's or scorer's content, which a command reads once."""
    hashes = click.get_current_context().meta.setdefault(HASHES, {})
    if system.title not in hashes:
        hashes[system.title] = checkpoint.content_hash(*system.content())
    return str(hashes[system.title])
