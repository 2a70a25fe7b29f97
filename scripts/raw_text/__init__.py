"""How a treebank comes back from its text: `python3 -m scripts.raw_text --help` says more."""

import scripts.in_venv  # noqa: F401
