"""How near a simulation is to the record, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.report.wording import span_text

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result


def apart(seconds: float) -> str:
    """Write a difference with its sign: ``+3.2 min``, ``−1.9 h``, ``0 s``."""
    text = span_text(abs(seconds))
    if text == "0 s":
        return text
    return f"{'−' if seconds < 0 else '+'}{text}"


def difference(seconds: float) -> str:
    """Write a difference of waits as ``1.9 h shorter``."""
    text = span_text(abs(seconds))
    return f"{text} {'shorter' if seconds < 0 else 'longer'}" if text != "0 s" else "not longer"


def correlation(value: float) -> str:
    """Write a rank correlation; a dash where one side has no order."""
    return "-" if np.isnan(value) else f"{value:.3f}"


def slice_word(result: Result, by: str) -> str:
    """Return what slices are called: without partitions in the result they are modules."""
    if by == "partition" and not result.further.reasons:
        return "module"
    return {"size": "nodes"}.get(by, by.replace("_", " "))
