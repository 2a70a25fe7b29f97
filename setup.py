"""For tools that run a setup.py; the package is described in pyproject.toml."""

from setuptools import setup

setup()
