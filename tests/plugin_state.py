"""Plugins in the process of the tests: none are loaded before or after a block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from oracle.common import plugins
from oracle.corpora import READERS
from oracle.transitions import SYSTEMS
from rnng_dy.baselines.scorers import SCORERS
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.models.word_input import WORD_INPUTS
from rnng_dy.search.surprisal import SEARCHES

MODULE = "rnng_dy_plugin_"
REGISTRIES = (
    *(COMPOSITIONS, PARSER_STATES, GENERATOR_STATES, WORD_INPUTS),
    *(SYSTEMS, SEARCHES, SCORERS, READERS),
)


@contextmanager
def no_plugins() -> Iterator[None]:
    """A block after which the process is as if no plugin had been loaded in it."""
    before = [dict(registry) for registry in REGISTRIES]
    for registry, classes in zip(REGISTRIES, before, strict=True):
        for name, registered in classes.items():
            if registered.__module__.startswith(MODULE):
                del registry[name]
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "loaded", {})
        try:
            yield
        finally:
            for registry, classes in zip(REGISTRIES, before, strict=True):
                registry.clear()
                registry.update(classes)
            for name in set(sys.modules) - modules:
                if name.startswith(MODULE):
                    del sys.modules[name]
