"""What holds under limits of QOS and associations, as far as a result tells.

Nothing is assumed of the order of starts in a second: a limit is broken only if it is whichever came last.
Where idle nodes are switched off, a job has its nodes, and counts, from some time before its start on, which
no table tells: limits are tested by what is told for sure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.result.columns import NEVER, REQUEUED
from scheduler_sim.result.limit_amounts import Amounts
from scheduler_sim.result.limit_bounds import JOBS, Bound, Bounds
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes, sum_of_intervals, value_at
from scheduler_sim.units import MINUTE

Breach = str | None

JOBS_TOGETHER = ("GrpJobs", "MaxJobsPerUser", "MaxJobsPerAccount", "MaxJobs")
TOGETHER = ("GrpTRES", "MaxTRESPerUser", "MaxTRESPerAccount")
ALONE = ("MaxTRESPerJob", "MaxTRESPerNode", "MinTRESPerJob", "MaxTRESMinsPerJob")
RUN_MINUTES = {
    "GrpTRESRunMins": "19.05",
    "MaxTRESRunMinsPerAccount": "24.05",
    "MaxTRESRunMinsPerUser": "24.05",
}
"""Limits of minutes that running jobs may use, and the release since which they are enforced."""

SUBMITTED = ("GrpSubmitJobs", "MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount", "MaxSubmitJobs")
NO_END = np.iinfo(np.int64).max


def limits(schedule: Schedule) -> Breach:
    """No job is submitted or starts beyond a limit of jobs, resources, times or minutes that binds it."""
    if not schedule.further.limited:
        return None
    return next(_Running(schedule).breaches(), None) or _submitted(schedule)


class _Running:
    """The jobs that ran."""

    def __init__(self, schedule: Schedule) -> None:
        rows = np.flatnonzero(schedule.ran)
        self._schedule, self._bounds = schedule, Bounds(schedule, rows)
        self._amounts = Amounts(schedule, rows)
        self._start, self._end, self._limit = (
            schedule.of(name)[rows] for name in ("start_time", "end_time", "time_limit")
        )

    def breaches(self) -> Iterator[str]:
        """Yield all, one for each limit at most."""
        told = sorted(filter(self._amounts.told, self._bounds.resources))
        yield from self._wall()
        for key in JOBS_TOGETHER:
            yield from self._together(key, JOBS)
        for resource in told:
            for key in TOGETHER:
                yield from self._together(key, resource)
            for key in ALONE:
                yield from self._alone(key, resource)
        if self._limits_stood and not self._schedule.switched:
            for resource in (JOBS, *told):
                yield from self._used(resource)
            for resource in told:
                yield from self._may_use(resource)

    @property
    def _limits_stood(self) -> bool:
        """Whether the time limits in the tables are those with which jobs started, and count all the time."""
        it = self._schedule
        return not (it.lost_waits or it.limits_changed or it.further.suspended or it.further.slowed)

    def _name(self, at: int) -> str:
        return self._schedule.name(int(self._bounds.rows[at]))

    # -- of a job by itself

    def _wall(self) -> Iterator[str]:
        """The time limit of each is within the longest that it may have."""
        for at, bound in self._bounds.each("MaxWall"):
            if self._limit[at] // MINUTE > bound.most and not self._bounds.counts_by_factor(at):
                said = f"has a time limit of {self._limit[at]} s, MaxWall is {bound.most} minutes"
                yield f"{self._name(at)} {said}"

    def _alone(self, key: str, resource: str) -> Iterator[str]:
        """What each has is what a job may have."""
        has, nodes = self._amounts.of(resource), np.maximum(self._amounts.of("node"), 1)
        minutes = has * np.maximum(self._limit // MINUTE, 0)
        for at, bound in self._bounds.each(key, resource):
            if key == "MinTRESPerJob":
                broken = has[at] < bound.most
            elif key == "MaxTRESMinsPerJob":
                stands = self._limits_stood and not self._bounds.counts_by_factor(at)
                broken = stands and minutes[at] > bound.most
            else:
                broken = has[at] > bound.most * (nodes[at] if key == "MaxTRESPerNode" else 1)
            if broken:
                yield f"{self._name(at)} starts with {has[at]} {resource}, {key} is {bound.most}"

    # -- of all that run

    def _together(self, key: str, resource: str) -> Iterator[str]:
        """What runs when a job starts is within each limit that binds it."""
        for bound, rows in self._bounds.bound_by(key, resource).items():
            of = self._bounds.members(bound)
            begin, end = _as_if_last(of, rows, self._start, self._end), self._end[of]
            if self._schedule.switched:  # others may have come while its nodes booted
                begin = np.where(np.isin(of, rows), begin, end)
            if resource == JOBS:
                use = sum_of_intervals(begin, end, np.ones(len(of), dtype=np.int64))
            else:
                use = self._amounts.in_use(resource, of, begin, end)
            if over := self._exceeds(use, rows, bound):
                unit = f" {resource}" if resource not in (JOBS, "node") else ""
                yield (
                    f"{self._name(over[0])} starts when {bound.whose} has {over[1]}{unit} in use,"
                    f" {key} is {bound.most}"
                )

    def _exceeds(self, use: Steps, rows: np.ndarray, bound: Bound) -> tuple[int, int] | None:
        """The first of those it binds that starts beyond it, and what is in use then."""
        used = value_at(use, self._start[rows])
        over = np.flatnonzero((used > bound.most) & (self._end[rows] > self._start[rows]))
        return (int(rows[over[0]]), int(used[over[0]])) if len(over) else None

    # -- minutes

    def _used(self, resource: str) -> Iterator[str]:
        """What ended jobs have used is less than a group may use, where none of it is forgotten.

        Where it must be safe, that and all that running jobs may use is no more; whole minutes are compared,
        so a minute more may be.
        """
        slurm = self._schedule.policy["slurm"]
        if slurm["PriorityType"] != "priority/multifactor" or slurm["PriorityUsageResetPeriod"] != "NONE":
            return
        key = "GrpTRESMins" if resource else "GrpWall"
        each = self._amounts.of(resource) if resource else np.ones(len(self._start), dtype=np.int64)
        safe = bool({"safe", "all"} & set(slurm["AccountingStorageEnforce"])) and bool(resource)
        for bound, rows in self._bounds.bound_by(key, resource).items():
            of, start = self._bounds.members(bound), self._start[rows]
            fades = slurm["PriorityDecayHalfLife"] and "NoDecay" not in self._bounds.keys_of(bound).get(
                "Flags", ()
            )
            if fades or not self._bounds.as_used[of].all():
                continue
            used = from_changes(self._end[of], each[of] * (self._end[of] - self._start[of]))
            minutes = value_at(used, start - 1) // MINUTE
            broken, unit = minutes >= bound.most, f" {resource}-minutes" if resource else " minutes"
            if broken.any():
                at = int(np.argmax(broken))
                said = f"{bound.whose} has used {minutes[at]}{unit}, {key} is {bound.most}"
                yield f"{self._name(rows[at])} starts when {said}"
            elif safe:
                begin = _as_if_last(of, rows, self._start, self._end)
                may_use = sum_of_intervals(begin, self._end[of], each[of] * self._whole_limit[of])
                minutes = (value_at(used, start) + value_at(may_use, start)) // MINUTE - 1
                broken = (minutes > bound.most) & (self._end[rows] > start)
                if broken.any():
                    at = int(np.argmax(broken))
                    said = f"{bound.whose} may come to use {minutes[at]}{unit}, {key} is {bound.most}"
                    yield f"{self._name(rows[at])} starts when {said}"

    def _may_use(self, resource: str) -> Iterator[str]:
        """What running jobs may still use to their limits, whenever one starts."""
        version = self._schedule.policy["slurm"]["version"]
        for key, since in RUN_MINUTES.items():
            if version >= since:
                yield from self._may_use_by(key, resource)

    def _may_use_by(self, key: str, resource: str) -> Iterator[str]:
        each = self._amounts.of(resource)
        for bound, rows in self._bounds.bound_by(key, resource).items():
            of = self._bounds.members(bound)
            if not self._bounds.as_used[of].all():
                continue
            until = self._start[of] + self._whole_limit[of]
            begin = _as_if_last(of, rows, self._start, self._end)
            end = np.maximum(np.minimum(self._end[of], until), begin)
            ends = value_at(sum_of_intervals(begin, end, each[of] * until), self._start[rows])
            now = value_at(sum_of_intervals(begin, end, each[of]), self._start[rows]) * self._start[rows]
            minutes = (ends - now) // MINUTE
            over = np.flatnonzero((minutes > bound.most) & (self._end[rows] > self._start[rows]))
            if len(over):
                yield (
                    f"{self._name(rows[over[0]])} starts when {bound.whose} may use {minutes[over[0]]}"
                    f" {resource}-minutes, {key} is {bound.most}"
                )

    @property
    def _whole_limit(self) -> np.ndarray:
        """int64[jobs], s: time limits in whole minutes."""
        limit: np.ndarray = np.maximum(self._limit // MINUTE, 0) * MINUTE
        return limit


def _as_if_last(of: np.ndarray, rows: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """int64[of], s: starts; those that a limit does not bind may have come after those that it binds."""
    begin: np.ndarray = np.where(np.isin(of, rows), start[of], np.minimum(start[of] + 1, end[of]))
    return begin


def _first_requeued(schedule: Schedule) -> np.ndarray:
    """int64[components], s: the end of the first run after which an operator requeued each, NO_END if none.

    That run may have ended by itself before: then its job counted no more until it was requeued.
    """
    ends = schedule.lost[schedule.lost["state"] == REQUEUED].groupby("component_id")["end_time"].min()
    first: np.ndarray = ends.reindex(schedule.of("component_id"), fill_value=NO_END).to_numpy(np.int64)
    return first


def _submitted(schedule: Schedule) -> Breach:
    """As many jobs wait and run as may when one is submitted; those of unknown end count nothing."""
    rows = np.flatnonzero(~schedule.in_state("REJECTED") & (schedule.of("submit_time") != NEVER))
    bounds = Bounds(schedule, rows)
    if schedule.several_placements and bounds.partitions_have_qos:
        return None  # a job counts in the first partition that it names, which is not in the tables
    submit, end = schedule.of("submit_time")[rows], schedule.of("end_time")[rows]
    stays = schedule.in_state("PENDING", "RUNNING", "SUSPENDED")[rows]
    end = np.where(end != NEVER, end, np.where(stays, NO_END, submit))
    end = np.maximum(np.minimum(end, _first_requeued(schedule)[rows]), submit)
    for key in SUBMITTED:
        for bound, its in bounds.bound_by(key).items():
            of = bounds.members(bound)
            begin = _as_if_last(of, its, submit, end)
            there = sum_of_intervals(begin, end[of], np.ones(len(of), dtype=np.int64))
            count = value_at(there, submit[its])
            over = np.flatnonzero((count > bound.most) & (end[its] > submit[its]))
            if len(over):
                return (
                    f"{schedule.name(int(rows[its[over[0]]]))} is submitted when {bound.whose} has"
                    f" {count[over[0]]} jobs that wait or run, {key} is {bound.most}"
                )
    return None
