"""Packages, dependencies and the `rnng-dy` command."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
CLUSTER = ["distributed", "mpi4py"]
DOCS = ["mkdocs"]
PAGES = ["jinja2>=3.1"]
TOOLS = ["pytest", "pytest-xdist", "hypothesis", "coverage", "ruff", "mpich"]


def value_of(name: str, module: str) -> str:
    """A constant of a module of the package, which is not imported."""
    text = (HERE / "rnng_dy" / module).read_text(encoding="utf-8")
    return re.search(rf'^{name} = "([^"]+)"', text, re.MULTILINE)[1]


def cuda_libraries() -> list[str]:
    """CUDA's libraries, which the CUDA backend needs at run time; cccl has headers only."""
    text = (HERE / "scripts" / "dynet" / "cuda-requirements.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("nvidia") and "cccl" not in line]


setup(
    name="rnng_dy",
    version=value_of("__version__", "__init__.py"),
    description="Recurrent Neural Network Grammars on DyNet",
    license="Apache-2.0",
    python_requires=">=3.10,<3.15",
    packages=find_packages(include=["oracle*", "clusters*", "rnng_dy*"]),
    package_data={
        "oracle": ["data/*"],
        "rnng_dy.drawing": ["templates/*"],
        "rnng_dy.evaluation": ["data/*"],
    },
    # DyNet is part of the wheel: see scripts/dynet
    install_requires=["numpy>=1.22", "nltk", "click"],
    extras_require={
        "cluster": CLUSTER,
        "cuda": cuda_libraries(),
        "docs": DOCS,
        "notebook": ["svgling"],
        "pages": PAGES,
        "tensorboard": ["tensorboard"],
        "test": [*TOOLS, *CLUSTER, *DOCS, *PAGES],
    },
    entry_points={"console_scripts": ["rnng-dy = rnng_dy.__main__:main"]},
)
