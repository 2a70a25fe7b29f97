"""The switch to the .venv that `make setup` makes, imported before other packages."""

import os
import sys

import scripts.script_start  # noqa: F401

_VENV = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".venv")

try:
    import nltk  # noqa: F401
except ImportError:
    _PYTHON = os.path.join(_VENV, "bin/python")
    if not os.path.exists(_PYTHON) or os.path.realpath(sys.prefix) == os.path.realpath(_VENV):
        sys.exit("Error: the project is not set up: run `make setup` first")
    os.execv(_PYTHON, [_PYTHON, *sys.orig_argv[1:]])
