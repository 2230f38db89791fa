"""Times by a factor in whole seconds, for all who multiply the times of a trace."""

from __future__ import annotations

ROUNDING = 1e-12
"""Relative error of a time that is taken for rounding of its factor: 10 s x 3 / 3 are not 11 s."""
