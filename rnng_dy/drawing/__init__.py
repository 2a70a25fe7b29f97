"""Drawings: charts and trees as SVG."""
