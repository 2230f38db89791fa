"""A result as the checks see it: plain arrays, and step functions per module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import NEVER, SHARES, TOTAL, Further, frame, rows_named, run_columns
from scheduler_sim.result.slowing import slowed_of
from scheduler_sim.result.steps import Steps, from_changes, from_samples, sum_of_intervals
from scheduler_sim.result.suspensions import spans_of


class _Numbers(dict[str, np.ndarray]):
    """Numeric columns of a table by name: pandas takes longer to find one than a law to test it."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table

    def __missing__(self, name: str) -> np.ndarray:
        self[name] = self._table[name].to_numpy()
        return self[name]


class Schedule:
    """Read access to the tables of a result and to what its manifest says of the run.

    Attributes
    ----------
    modules : nodes of each module.
    system : the keys of the system file.
    counts : of the manifest.
    overrun_s : how long after its time limit a component is killed, s.
    launch_s : how much later than in truth Slurm sees some ends, s.
    late_s : how much later, at most: Slurm looks for such components now and then.
    units : True if some components start by one plan, so that one may pass another by its appointment
    several_placements : True if some component could have run in more than one way, so
        that its module while it waited is not in the tables.
    several_sizes : True if some component could have run on other numbers of nodes, so that those of
        its reservation while it waited are not in the tables.
    energy : what the energy model says of the modules; empty without one.
    switched : True if idle nodes are switched off.
    further : which further columns the tables have.
    dealt : True if nodes have what was dealt to them of all that a component asks for, as under Slurm.
    shared : cores, memory (KB) and GPUs of modules whose nodes are told apart, in all.
    lost_runs : True if some component was requeued after a run that the components do not show.
    reserved : advance reservations, by the manifest.
    runs : the table of runs, of which some were lost; ``lost`` are those that the components do not show.
    lost_waits : True if some component was held after it had been in the queue, or asked for something else
        there, which they do not show.
    limits_changed : True if some component had another time limit when it started than the tables say
    shortened : True if some component had run for longer than a limit that it was given then.
    graced : True if some may go on for a while once they are preempted, and end in that time.
    gang : True if components that have the same cores take turns.
    """

    def __init__(
        self,
        components: pd.DataFrame,
        timeline: pd.DataFrame,
        metrics: Mapping[str, Any],
        manifest: Mapping[str, Any],
        runs: pd.DataFrame | None = None,
    ) -> None:
        self.components, self.timeline, self.metrics = components, timeline, metrics
        self._columns, self._recorded = _Numbers(components), _Numbers(timeline)
        self._rows: dict[str, np.ndarray] = {}
        self._in_use: dict[str, Steps] = {}
        self.modules: dict[str, int] = dict(manifest.get("modules", {}))
        self.system: dict[str, Any] = dict(manifest.get("system", {}))
        self.energy: dict[str, Any] = dict(manifest.get("energy") or {})
        self.further = Further.of(manifest)
        columns = run_columns(self.further)
        self.runs = frame({column.name: [] for column in columns}, columns) if runs is None else runs
        self.switched = self.further.switched
        self.dealt = SHARES[0].name in components
        self.shared: dict[str, dict[str, float]] = dict(manifest.get("shared_nodes") or {})
        self.policy: dict[str, Any] = dict(manifest.get("policy", {}))
        self.reserved: list[dict[str, Any]] = list(manifest.get("reserved") or ())
        self.counts = counts = dict(manifest.get("counts", {}))
        self.overrun_s = int(self.policy.get("overrun_s") or 0)
        self.late_s = self.launch_s = 0
        if slurm := self.policy.get("slurm"):
            self.overrun_s = 60 * int(slurm.get("OverTimeLimit") or 0)
            self.launch_s = int(slurm.get("launch_s") or slurm.get("latency") == "measured")
            self.late_s = int(slurm.get("limit_check_s") or 0) + self.launch_s
        mode = str((slurm or {}).get("PreemptMode", "OFF"))
        by_tier = (slurm or {}).get("PreemptType", "preempt/none") != "preempt/none"
        self.gang = mode == "GANG" or (by_tier and "GANG" in mode)
        self.several_placements = bool(counts.get("several_placements", 0))
        self.several_sizes = bool(counts.get("several_sizes", 0))
        self.units = bool(counts.get("units", 0))
        self.lost_runs = bool(counts.get("requeued", 0))
        self.lost_waits = any(counts.get(name, 0) for name in ("held_back", "updated"))
        self.limits_changed = bool(counts.get("limits_changed", 0))
        self.shortened = bool(counts.get("shortened", 0))
        self.graced = any(one.get("GraceTime") for one in self._preemptable())

    def _preemptable(self) -> Iterator[Mapping[str, Any]]:
        """What is stated of partitions and QOS under Slurm."""
        yield from (one.get("slurm", {}) for one in self.system.get("partitions", ()))
        qos = (self.policy.get("slurm") or {}).get("qos") or {}
        yield from (one for one in qos.values() if isinstance(one, Mapping))

    @cached_property
    def lost(self) -> pd.DataFrame:
        """The runs that were not the last of a component that has one."""
        name = self.runs["component_id"]
        ran = np.isin(name, self.of("component_id")[self.ran])
        return self.runs[~(ran & ~name.duplicated(keep="last").to_numpy())]

    def of(self, column: str) -> np.ndarray:
        """Return a numeric column of the components."""
        return self._columns[column]

    @cached_property
    def suspended_time(self) -> np.ndarray:
        """int64[components], s: how long each was suspended since its start."""
        if not self.further.suspended:
            return np.zeros(len(self.components), dtype=np.int64)
        return self.of("suspended_time")

    @cached_property
    def times_suspended(self) -> np.ndarray:
        """int64[components]: how often each was suspended since its start."""
        if not self.further.suspended:
            return self.suspended_time
        return np.bincount(spans_of(self.components)[0], minlength=len(self.components))

    @cached_property
    def suspensions(self) -> pd.DataFrame:
        """Spans in which components were suspended: columns as of runs, of those that were lost the last."""
        names = ["module", "nodes", "start_time", "end_time", "power_w"]
        found = [self.lost[names].iloc[:0]]
        for table in (self.components[self.ran], self.lost) if self.further.suspended else ():
            row, since, until = spans_of(table)
            if len(row):
                found.append(table[names].iloc[row].assign(start_time=since, end_time=until))
        return pd.concat(found[1:] or found, ignore_index=True)

    @cached_property
    def slowed_time(self) -> np.ndarray:
        """int64[components], s: how long each ran at a lower clock than its own."""
        if not self.further.slowed:
            return np.zeros(len(self.components), dtype=np.int64)
        return self.of("slowed_time")

    @cached_property
    def slowings(self) -> pd.DataFrame:
        """Spans in which components were slowed: module, start_time, end_time, how much less as power_w."""
        names = ["module", "start_time", "end_time", "power_w"]
        found = [self.lost[names].iloc[:0]]
        for table in (self.components[self.ran], self.lost) if self.further.slowed else ():
            spans = slowed_of(table)
            if len(spans.row):
                less = spans.less(table["power_w"].to_numpy()) / 1000
                times = {"start_time": spans.since, "end_time": spans.until, "power_w": less}
                found.append(table[names].iloc[spans.row].assign(**times))
        return pd.concat(found[1:] or found, ignore_index=True)

    def in_state(self, *states: str) -> np.ndarray:
        """Return bool[components]: whether each is in one of the states."""
        masks = [rows_named(self.components["state"], state) for state in states]
        in_state: np.ndarray = np.logical_or.reduce(masks)
        return in_state

    @cached_property
    def in_reservation(self) -> np.ndarray:
        """bool[components]: whether each names an advance reservation."""
        if not self.further.reserved:
            return np.zeros(len(self.components), dtype=bool)
        named: np.ndarray = self.components["reservation"].astype(str).to_numpy() != ""
        return named

    @cached_property
    def ran(self) -> np.ndarray:
        """bool[components]: whether each started."""
        ran: np.ndarray = self.of("start_time") != NEVER
        return ran

    @cached_property
    def left_queue(self) -> np.ndarray:
        """int64[components], s: start, or cancellation while waiting; the largest int64 if never."""
        start, end = self.of("start_time"), self.of("end_time")
        left = np.where(self.ran, start, np.where(end != NEVER, end, np.iinfo(np.int64).max))
        return left

    @cached_property
    def queued(self) -> np.ndarray:
        """bool[components]: whether each was in the queue for longer than an instant."""
        eligible = self.of("eligible_time")
        queued: np.ndarray = (eligible != NEVER) & ~self.in_state("REJECTED") & (eligible < self.left_queue)
        return queued

    @cached_property
    def span(self) -> tuple[int, int] | None:
        """First submission of one that ran, and last end, s; None if none ran."""
        if not self.ran.any():
            return None
        return int(self.of("submit_time")[self.ran].min()), int(self.of("end_time")[self.ran].max())

    def name(self, row: int) -> str:
        """Name a component in a message."""
        return f"component {self.of('component_id')[row]}"

    def in_module(self, module: str) -> np.ndarray:
        """Return bool[components]: whether each belongs to the module; to any, for ``total``."""
        if module == TOTAL:
            return np.ones(len(self.components), dtype=bool)
        return rows_named(self.components["module"], module)

    def rows(self, module: str) -> np.ndarray:
        """Return the row numbers of a module in the timeline."""
        if module not in self._rows:
            self._rows[module] = np.flatnonzero(rows_named(self.timeline["module"], module))
        return self._rows[module]

    def recorded(self, module: str, column: str) -> Steps:
        """Return a column of the timeline of one module as a step function."""
        rows = self.rows(module)
        return from_samples(self._recorded["time"][rows], self._recorded[column][rows])

    def nodes_in_use(self, module: str) -> Steps:
        """Add up the nodes of the components that run and are not suspended, from their times alone."""
        if module not in self._in_use:
            self._in_use[module] = self._added_up(module)
        return self._in_use[module]

    def _added_up(self, module: str) -> Steps:
        mask = self.ran & self.in_module(module)
        lost, away = (table[rows_named(table["module"], module)] for table in (self.lost, self.suspensions))
        begin, finish, nodes = (
            np.concatenate((self.of(name)[mask], lost[name].to_numpy(), away[name].to_numpy()))
            for name in ("start_time", "end_time", "nodes")
        )
        nodes[len(nodes) - len(away) :] *= -1
        return sum_of_intervals(begin, finish, nodes)

    def waiting(self, module: str, amount: np.ndarray) -> Steps:
        """Add up an amount over the components that wait, each from eligible to start."""
        mask = self.queued & self.in_module(module)
        time = np.concatenate((self.of("eligible_time")[mask], self.left_queue[mask]))
        change = np.concatenate((amount[mask], -amount[mask]))
        known = time != np.iinfo(np.int64).max
        return from_changes(time[known], change[known])
