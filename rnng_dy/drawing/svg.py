"""The one SVG element that charts and trees are drawn in."""

from __future__ import annotations

from html import escape


def svg(width: float, height: float, body: str, label: str = "") -> str:
    """A drawing of so many pixels that scales with its surroundings; `label` is for those who cannot see it."""
    said = f'aria-label="{escape(label)}" ' if label else ""
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'{said}xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )
