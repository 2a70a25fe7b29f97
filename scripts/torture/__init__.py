"""Tests with damaged files, kills, full disks and closed streams: see `python3 -m scripts.torture --help`."""

import scripts.in_venv  # noqa: F401
