"""Imported first by scripts that need the packages: goes on in the checkout's .venv, which `make setup` makes."""

import os
import sys

import script_start  # noqa: F401

_PYTHON = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".venv/bin/python"
)

try:
    import nltk  # noqa: F401
except ImportError:
    if not os.path.exists(_PYTHON) or os.path.realpath(sys.prefix) == os.path.realpath(
        os.path.dirname(os.path.dirname(_PYTHON))
    ):
        sys.exit("Error: the project is not set up: run `make setup` first")
    os.execv(_PYTHON, [_PYTHON, *sys.argv])
