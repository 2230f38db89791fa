"""A result as a notebook shows it: what ran, and its headline numbers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from scheduler_sim.report.measures import in_full, statistic_of
from scheduler_sim.report.module_view import module_sizes
from scheduler_sim.report.wording import count, plain
from scheduler_sim.result.columns import TOTAL

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

MOST_MODULES = 6


def card(result: Result) -> str:
    """Return a small table in HTML; names are escaped."""
    rows = [
        ("components", f"{len(result.components):,}"),
        *_states(result),
        *_modules(result),
        *_waits(result),
    ]
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    policy = result.manifest.get("policy") or {}
    title = plain(policy.get("name") or policy.get("order") or "schedule")
    return f"<table><caption>Result: {escape(title)}</caption><tbody>{lines}</tbody></table>"


def _states(result: Result) -> list[tuple[str, str]]:
    counts = result.metrics.get("counts") or {}
    states = ("rejected", "timed_out", "failed", "cancelled", "pending", "requeued")
    return [(state.replace("_", " "), f"{counts[state]:,}") for state in states if counts.get(state)]


def _modules(result: Result) -> list[tuple[str, str]]:
    sizes, shares = module_sizes(result.manifest), result.metrics.get("utilization") or {}
    names = list(sizes)[:MOST_MODULES]
    rows = [(plain(name), _used(sizes[name], shares.get(name))) for name in names]
    if len(sizes) > len(names):
        rows.append(("more modules", f"{len(sizes) - len(names):,}"))
    if len(sizes) > 1:
        rows.append(("all modules", _used(sum(sizes.values()), shares.get(TOTAL))))
    return rows


def _used(nodes: int, share: float | None) -> str:
    return count(nodes, "node") + ("" if share is None else f", {100 * share:.1f} % used")


def _waits(result: Result) -> list[tuple[str, str]]:
    words = {"mean": "mean wait", "median": "median wait", "max": "longest wait"}
    waits = [(word, statistic_of(result.metrics, "wait_time", one)) for one, word in words.items()]
    slowdown = statistic_of(result.metrics, "bounded_slowdown", "mean")
    return [
        *((word, in_full(wait, "wait_time")) for word, wait in waits),
        ("mean bounded slowdown", "–" if slowdown is None else f"{slowdown:,.4g}"),
        ("makespan", in_full(result.metrics.get("makespan"), "makespan")),
    ]
