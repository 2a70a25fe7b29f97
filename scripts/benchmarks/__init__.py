"""Speed and memory: `python3 -m scripts.benchmarks --help` says of what."""

import scripts.in_venv  # noqa: F401
