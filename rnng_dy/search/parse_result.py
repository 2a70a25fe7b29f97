"""What a search for the tree of a sentence comes back with."""

from __future__ import annotations

from typing import TypeAlias

from oracle.lazy import nltk

ParseResult: TypeAlias = "tuple[nltk.Tree | None, str]"
"""The tree; or None, and why there is none."""

TOO_LONG = "it does not fit into memory"
