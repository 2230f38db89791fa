"""How numbers and counts are written for people by the commands."""

from __future__ import annotations

NOT_HONOURED = {
    "begin_time": "components with a begin time, which are eligible from submission on",
    "hold": "components submitted held, which are not held",
    "nice": "components with a nice value, which has no effect",
    "qos": "components of a QOS that policy.slurm.qos does not list, so their QOS factor is 0",
    "array_limit": "tasks of arrays with a limit of tasks at once, which has no effect",
    "unknown_call": "calls of a kind that is not known, which have no effect",
    "singleton": "SINGLETON dependencies, which have no effect",
    "preceding_job": "jobs that name a preceding job; they are submitted at their recorded times",
    "skipped_predecessor": "dependencies on records that are not simulated, which are left out",
    "licences": "components that ask for licences; the system states none, so they are not limited",
    "nam": "components that ask for network attached memory; the system states none, so it is not limited",
}
"""What the counts of ``not_honoured`` mean."""

REJECTED = {
    "partition_state": "whose partition takes no submissions (State DRAIN or INACTIVE)",
    "too_large": "larger than their partition",
    "max_nodes": "larger than MaxNodes of their partition",
    "min_nodes": "smaller than MinNodes of their partition",
    "max_time": "with a time limit above MaxTime of their partition",
    "memory": "that ask for more memory than a node has",
    "cores": "that ask for more cores than a node has",
    "features": "that ask for features their module does not have",
    "resources": "that ask for more of a shared resource than there is",
    "power_cap": "that draw more than the power cap ever allows beside idle nodes",
}
"""What the counts of ``rejected_because`` mean, after a number of components."""


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
