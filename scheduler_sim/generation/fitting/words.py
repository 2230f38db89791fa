"""Shares and durations as a person says them."""

from __future__ import annotations

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def spoken(seconds: float) -> str:
    """Return a duration: ``4 h``, ``90 min``, ``17.3 h``; whole where it is whole in minutes or more."""
    for unit, name in _UNITS:
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds / unit:.0f} {name}"
    for unit, name in _UNITS:
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def percent(share: float) -> str:
    """Return a share as per cent: ``12 %``, ``0.8 %``, ``99.7 %``."""
    if 0.0 < share < 0.001:
        return f"{100 * share:.1g} %"
    decimals = 1 if 0.0 < share < 0.02 or 0.98 < share < 1.0 else 0
    return f"{100 * share:.{decimals}f} %"
