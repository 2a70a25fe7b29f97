"""The one SVG element that charts and trees are drawn in."""

from __future__ import annotations


def svg(width: float, height: float, body: str) -> str:
    """A drawing of so many pixels that scales with its surroundings."""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )
