"""Damaged files, kills, full disks and closed streams: `python3 -m scripts.torture --help` says more."""

import scripts.in_venv  # noqa: F401
