"""A measure of how well a treebank comes back from its text: see `python3 -m scripts.raw_text --help`."""

import scripts.in_venv  # noqa: F401
