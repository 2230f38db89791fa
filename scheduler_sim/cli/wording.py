"""How numbers and counts are written for people by the commands."""

from __future__ import annotations


def number(value: float) -> str:
    """Write a number with sensible digits: ``0.312``, ``8.46``, ``93.2``, ``1,204``."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 0.001:
        return f"{value:.3g}"
    return f"{value:.1e}"
