"""Small results made by hand: components as given, everything else counted instant by instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_sim.metrics.compute import compute
from scheduler_sim.result.columns import COMPONENTS, TIMELINE, frame
from scheduler_sim.result.result import Result


@dataclass
class Run:
    """One component; start None = it never started."""

    submit: int
    start: int | None
    run: int
    nodes: int
    module: str = "CM"
    limit: int | None = None
    state: str = "COMPLETED"
    eligible: int | None = None
    job: int | None = None

    @property
    def end(self) -> int | None:
        return None if self.start is None else self.start + self.run


def result_of(
    runs: Sequence[Run],
    modules: Mapping[str, int],
    policy: Mapping[str, object] | None = None,
    edges=None,
    down: Mapping[str, Mapping[int, int]] | None = None,
) -> Result:
    """Make a whole, valid result of components that ran as given."""
    components = components_of(runs)
    timeline = timeline_of(runs, modules, down or {})
    metrics = compute(components, timeline, modules=modules, edges=edges, counts={"skipped": 2})
    manifest = {
        "version": "0.1.0",
        "seed": 0,
        "policy": dict(policy or {"order": "fifo", "backfill": "easy", "overrun_s": 0}),
        "modules": dict(modules),
        "counts": {"skipped": 2},
    }
    return Result(components, timeline, metrics, manifest)


def components_of(runs: Sequence[Run]):
    def column(rule):
        return [rule(run) for run in runs]

    def if_started(rule):
        return [-1 if run.start is None else rule(run) for run in runs]

    def eligible(run: Run) -> int:
        return run.submit if run.eligible is None else run.eligible

    return frame(
        {
            "modular_job_id": [i + 1 if run.job is None else run.job for i, run in enumerate(runs)],
            "component_id": list(range(1, len(runs) + 1)),
            "name": column(lambda run: ""),
            "user": column(lambda run: "ana"),
            "app": column(lambda run: ""),
            "module": column(lambda run: run.module),
            "nodes": column(lambda run: run.nodes),
            "frequency_khz": column(lambda run: -1),
            "submit_time": column(lambda run: run.submit),
            "eligible_time": column(lambda run: -1 if run.state == "REJECTED" else eligible(run)),
            "start_time": if_started(lambda run: run.start),
            "end_time": if_started(lambda run: run.end),
            "time_limit": column(lambda run: max(run.run, 1) if run.limit is None else run.limit),
            "run_time": if_started(lambda run: run.run),
            "state": column(lambda run: run.state),
            "wait_dependency": if_started(lambda run: eligible(run) - run.submit),
            "wait_priority": if_started(lambda run: 0),
            "wait_resources": if_started(lambda run: run.start - eligible(run)),
        },
        COMPONENTS,
    )


def timeline_of(runs: Sequence[Run], modules: Mapping[str, int], down: Mapping[str, Mapping[int, int]]):
    """Count at every instant; ``down`` gives per module the nodes out of service from an instant on."""
    eligible = {id(run): run.submit if run.eligible is None else run.eligible for run in runs}
    instants = {time for run in runs for time in (run.submit, eligible[id(run)], run.start, run.end)}
    instants |= {time for changes in down.values() for time in changes}
    rows, before = [], {}
    for time in sorted(instants - {None}):
        total = [0] * 5
        for module in (*modules, "total"):
            mine = [run for run in runs if run.module == module and run.state != "REJECTED"]
            waiting = [
                run for run in mine if eligible[id(run)] <= time and (run.start is None or time < run.start)
            ]
            values = [
                sum(run.nodes for run in mine if run.start is not None and run.start <= time < run.end),
                0,
                ([0] + [n for since, n in sorted(down.get(module, {}).items()) if since <= time])[-1],
                len(waiting),
                sum(run.nodes for run in waiting),
            ]
            if module == "total":
                values = total
            else:
                total = [one + other for one, other in zip(total, values, strict=True)]
            if before.get(module) != values:
                rows.append((time, module, *values))
                before[module] = values
    names = [column.name for column in TIMELINE][:-1]
    return frame({name: [row[i] for row in rows] for i, name in enumerate(names)}, TIMELINE)
