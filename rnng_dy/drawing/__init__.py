"""Drawings: trees as SVG or in characters, and pages of HTML."""
