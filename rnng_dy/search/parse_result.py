"""The result of a search for the tree of a sentence."""

from __future__ import annotations

from typing import TypeAlias

from oracle.lazy import nltk

ParseResult: TypeAlias = "tuple[nltk.Tree | None, str]"
"""The tree and an empty string, or None and the reason why there is no tree."""

TOO_LONG = "it does not fit into memory"
