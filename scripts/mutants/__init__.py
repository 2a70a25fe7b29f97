"""Whether tests notice changes of the code: `python3 -m scripts.mutants --help` says more."""

import scripts.in_venv  # noqa: F401
