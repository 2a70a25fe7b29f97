"""Recurrent Neural Network Grammars on DyNet (Dyer et al., NAACL 2016, with the corrigendum)."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["DiscriminativeParser", "GenerativeModel"]


def __getattr__(name: str):
    # imported on first use: the oracle and evaluation commands must work without DyNet
    if name == "DiscriminativeParser":
        from rnng_dy.models.discriminative import DiscriminativeParser

        return DiscriminativeParser
    if name == "GenerativeModel":
        from rnng_dy.models.generative import GenerativeModel

        return GenerativeModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
