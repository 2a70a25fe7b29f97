"""Checks of the CUDA backend: `python3 -m scripts.gpu --help` says more."""

import scripts.in_venv  # noqa: F401
