"""A check that tests notice changes of the code: see `python3 -m scripts.mutants --help`."""

import scripts.in_venv  # noqa: F401
