"""Plugins in the process of the tests: none are loaded before or after a block."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from oracle.corpora import READERS
from oracle.transitions import SYSTEMS
from rnng_dy import plugins
from rnng_dy.baselines.scorers import SCORERS
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES
from rnng_dy.search.surprisal import SEARCHES

REGISTRIES = (
    COMPOSITIONS,
    PARSER_STATES,
    GENERATOR_STATES,
    SYSTEMS,
    SEARCHES,
    SCORERS,
    READERS,
)


@contextmanager
def no_plugins() -> Iterator[None]:
    """A block after which the process is as if no plugin had been loaded in it."""
    before = [(dict(registry), dict(registry.origins)) for registry in REGISTRIES]
    for registry in REGISTRIES:
        for name in registry.origins:
            del registry[name]
        registry.origins.clear()
    modules = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(plugins.VARIABLE, raising=False)
        for name, value in (
            ("_loaded", {}),
            ("_registered", {}),
            ("_is_complete", False),
            ("_is_told", False),
        ):
            patch.setattr(plugins, name, value)
        try:
            yield
        finally:
            for registry, (classes, origins) in zip(REGISTRIES, before, strict=True):
                registry.clear()
                registry.update(classes)
                registry.origins = origins
            for name in set(sys.modules) - modules:
                if name.startswith("rnng_dy_plugin_"):
                    del sys.modules[name]
