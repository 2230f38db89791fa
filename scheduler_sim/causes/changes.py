"""What is changed in a run, one thing at a time, to see how much of the difference it explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scheduler_sim.causes.kept_out import KeptOut
from scheduler_sim.causes.nodes_missing import Missing, nodes_missing, whole_node_modules
from scheduler_sim.causes.setup import Setup
from scheduler_sim.metrics.agreement.waits import Waits
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.system.node_events import DRAIN, NodeEvent
from scheduler_sim.units import DAY, HOUR
from scheduler_sim.workload.fields import NOT_ENDED

POLICIES: dict[str, str | dict[str, str]] = {
    "fcfs": "fcfs",
    "easy": "easy",
    "conservative": "conservative",
    "slurm": "slurm",
    "first fit": {"name": "first fit", "backfill": "first_fit"},
    "easy by wfp3": {"name": "easy by wfp3", "backfill": "easy", "order": "wfp3"},
}
"""Policies that are tried: every pass there is, and the order of a site with large jobs."""

MOST_SPELLS = 2
"""Spells without nodes that are named one by one."""

SCHEDULER, LIMITS, TRACE, START, LATER = "scheduler", "limits", "trace", "start", "later"
"""What changes are about; two about the same are not made together."""


@dataclass(frozen=True)
class Change:
    """One thing that is changed.

    Attributes
    ----------
    name : what; to : into what
    about : what it is about, of the above
    apply : from the run as it was to the changed one
    """

    name: str
    to: str
    about: frozenset[str]
    apply: Callable[[Setup], Setup]


@dataclass(frozen=True)
class NotTried:
    """A change that does not apply to a run, and why."""

    name: str
    why: str


def changes_of(
    result: Result, setup: Setup, waits: Waits, kept_out: KeptOut | None
) -> list[Change | NotTried]:
    """Return all that is tried of a run; what is estimated from the record is without what is kept out."""
    return [
        *_policies(setup),
        _latencies(setup),
        _limits(setup),
        _not_ended(setup),
        *_nodes(result, waits, kept_out),
    ]


def _policies(setup: Setup) -> Iterator[Change]:
    own = _rules(setup.policy)
    for name, keys in POLICIES.items():
        policy = Policy.resolve(keys)
        alike = policy.backfill == setup.policy.backfill == "slurm" or _rules(policy) == own
        if not alike:
            yield Change("policy", name, frozenset({SCHEDULER}), _into(policy))


def _rules(policy: Policy) -> dict[str, object]:
    return {key: value for key, value in policy.to_dict().items() if key != "name"}


def _into(policy: Policy) -> Callable[[Setup], Setup]:
    return lambda setup: setup.with_policy(policy)


def _latencies(setup: Setup) -> Change | NotTried:
    name = "latencies of the scheduler"
    if setup.policy.backfill != "slurm":
        return NotTried(name, f"policy {setup.policy.name or setup.policy.order} has none; slurm has")
    other = "none" if setup.policy.slurm.latency == "measured" else "measured"
    policy = setup.policy.with_settings({"policy.slurm.latency": other})
    return Change(name, other, frozenset({SCHEDULER}), _into(policy))


def _limits(setup: Setup) -> Change | NotTried:
    """Let users know how long their jobs run; those that were killed ask for as little as before."""
    name = "time limits"
    workload = setup.workload
    run, limit = (workload.columns[column] for column in ("run_time", "time_limit"))
    known = (workload.columns["skipped"] == 0) & (run >= 0)
    exact = np.where(limit > 0, np.minimum(np.maximum(run, 1), limit), np.maximum(run, 1))
    exact = np.where(known, exact, limit)
    if (exact == limit).all():
        return NotTried(name, "they are the run times already")
    return Change(name, "the run times", frozenset({LIMITS}), _with_columns(time_limit=exact))


def _not_ended(setup: Setup) -> Change | NotTried:
    """Let those run, to the end of the record, that had not ended when the trace was taken."""
    name = "jobs that had not ended"
    columns = setup.workload.columns
    start = columns["submit_time"] + columns["wait_time"]
    ran = (columns["skipped"] == 0) & (columns["wait_time"] >= 0)
    held = (columns["skipped"] == NOT_ENDED) & (columns["wait_time"] >= 0) & (columns["nodes"] > 0)
    if not held.any():
        return NotTried(name, "the trace has none that had started")
    last = int((start + columns["run_time"])[ran].max(initial=int(start[held].max())))
    added = {
        "run_time": np.where(held, np.maximum(last - start, 0), columns["run_time"]),
        "skipped": np.where(held, 0, columns["skipped"]),
    }
    return Change(name, f"{held.sum():,} of them run on", frozenset({TRACE}), _with_columns(**added))


def _with_columns(**columns: np.ndarray) -> Callable[[Setup], Setup]:
    return lambda setup: replace(setup, workload=setup.workload.replace(**columns))


def _nodes(result: Result, waits: Waits, kept_out: KeptOut | None) -> Iterator[Change | NotTried]:
    """Take nodes away that the record shows nobody could have."""
    names = {
        START: "jobs from before the trace",
        LATER: "out of service for a time",
        "always": "out of service always",
    }
    if not whole_node_modules(result):
        for name in names.values():
            yield NotTried(name, "jobs share all nodes, and the record does not tell which were idle")
        return
    span = None if kept_out is None else (kept_out.begin, kept_out.end)
    found = [one.outside(span) for one in nodes_missing(result, waits)]
    idle = {one.module: nodes for one in found if (nodes := one.always())}
    spells = {START: [one.at_start() for one in found], LATER: [one.later() for one in found]}
    for about, missing in spells.items():
        events = [event for one in missing for event in _events(one)]
        if events:
            yield Change(names[about], _away(events), frozenset({about}), _with_events(events))
        else:
            yield NotTried(names[about], "no nodes were idle for half a day while jobs that fit waited")
    if idle:
        always = [NodeEvent(0, DRAIN, module, count=nodes) for module, nodes in idle.items()]
        to = " and ".join(f"{nodes:,} of {module}" for module, nodes in idle.items())
        yield Change(names["always"], to, frozenset({START, LATER}), _with_events(always))
    else:
        yield NotTried(names["always"], "in more than one hour of a hundred the record has all nodes busy")


def _events(missing: Missing) -> Iterator[NodeEvent]:
    for begin, end, nodes in missing.spells():
        yield NodeEvent(max(begin, 0), DRAIN, missing.module, count=nodes, end=end)


def _away(events: Sequence[NodeEvent]) -> str:
    """Say which nodes are away when; of many spells how much that is in all."""
    spans = [(int(one.time), int(one.end or one.time), one.count, one.module) for one in events]
    if len(spans) > MOST_SPELLS:
        days = sum(nodes * (end - begin) for begin, end, nodes, _ in spans) / DAY
        return f"{days:,.0f} node-days"
    return " and ".join(
        f"{nodes:,} of {module}, {_clock(begin)} to {_clock(end)}" for begin, end, nodes, module in spans
    )


def _clock(seconds: int) -> str:
    """Write a whole hour of the trace's clock."""
    return f"day {seconds // DAY} {seconds % DAY // HOUR}:00"


def _with_events(events: Sequence[NodeEvent]) -> Callable[[Setup], Setup]:
    return lambda setup: replace(setup, system=replace(setup.system, events=(*setup.system.events, *events)))
