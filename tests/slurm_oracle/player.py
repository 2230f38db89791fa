"""A recording played pass by pass at the times of its log: nothing of the clock is left to chance.

Each submission, end and pass of the log is carried out by the engine, in plain Python, in the order of the
log. What a pass of the engine starts and plans is held against what Slurm's pass did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.core.state import INF, RUNNING
from scheduler_sim.simulation.simulation import Simulation
from tests.engine.interpreted import _answer_for, _plain_modules, interpreted
from tests.engine.quick_core import quick
from tests.slurm_oracle.engine import HET
from tests.slurm_oracle.log import STARTS, Deed, Happening, Log
from tests.slurm_oracle.second_set import TASK
from tests.slurm_oracle.third_set import load_third, recordings_of, simulation_of, site_of

EPILOG_S = 0.009
"""For so long after its end is a job completing (in the recordings 3 to 12 ms)."""
HET_EPILOG_S = 0.25
"""The same of components of a heterogeneous job: those without the script are told to end."""
AT_ONCE_S = 0.03
"""A pass of main that begins so late in its second is one that slurmd's word of clean nodes has brought."""
SHOWN_S = 1.3
"""What squeue shows is at most so old."""
DAEMON_S = 0.1
"""The daemon's thread of priorities began so long before the first line of the log."""
TICK_S = 0.06
"""The second of a start is that which slurmctld noted; the log is up to so much behind."""

CORE = ("instant", "events", "lifecycle")
SLURM = ("clock", "main_pass", "backfill_pass", "reasons")


@dataclass
class Played:
    """What came of a recording: how much Slurm did, and what of it the engine did otherwise."""

    starts: int = 0
    plans: int = 0
    other_starts: list[tuple[float, list[Deed], list[Deed]]] = field(default_factory=list)
    other_plans: list[tuple[float, list[Deed], list[Deed]]] = field(default_factory=list)

    @property
    def different_plans(self) -> int:
        return sum(max(len(theirs), len(ours)) for _, theirs, ours in self.other_plans)


def play(run: str, **keys: Any) -> Played:
    """Play a recording, by its name, up to the first start that is another."""
    with interpreted(), pytest.MonkeyPatch.context() as patch:
        return _Player(run, patch, keys).played()


@cache
def _engine() -> SimpleNamespace:
    """Modules of the engine that the interpreter runs, by their last names."""
    modules = _plain_modules()
    found = {name: modules[f"core.{name}"] for name in CORE}
    found |= {name: modules[f"rules.slurm.{name}"] for name in SLURM}
    found |= {"of_slurm": modules["rules.slurm.lifecycle"], "members": modules["rules.coscheduling.members"]}
    return SimpleNamespace(**found)


class _Player:
    def __init__(self, run: str, patch: pytest.MonkeyPatch, keys: dict[str, Any]) -> None:
        case = load_third(run.split("@")[0])
        self._case = replace(case, jobs=[dict(job) for job in case.jobs])
        recorded = recordings_of(self._case.name)[run]
        self._recorded, self._log = recorded, Log(recorded)
        self._happenings = self._with_het_jobs(self._log.happenings())
        numbered = {job["id"] + TASK * (job["task"] or 0): job["nodes"] for job in recorded["jobs"]}
        self._held = {job: self._log.nodes(nodes) for job, nodes in numbered.items() if nodes}
        self._on: dict[int, tuple[int, ...]] = {}
        self._noted = {
            job["log_starts"][-1][0]: job["start"] for job in recorded["jobs"] if job["log_starts"]
        }
        self._mode = self._case.conf.get("PreemptMode", "").split(",")[0]
        first = min(job["submit"] for job in self._case.jobs)
        keys = {"accelerate": False, "latency": "none", "epilog_s": 1, "starts_before_s": first + 8} | keys
        keys["script_alone"] = self._mode != "SUSPEND"
        self._at_the_times_of_the_log()
        simulation = simulation_of(self._case, recorded["t0_epoch"], **keys)
        self._number(simulation)
        self._engine = _engine()
        _answer_for(simulation._core)
        self.core = quick(simulation._core)
        self._deeds: list[Deed] = []
        self._watch(patch)
        self._computed = self._log.begin - DAEMON_S
        self._leaving: list[tuple[float, int]] = []
        self._killed: set[int] = set()

    def _with_het_jobs(self, found: list[Happening]) -> list[Happening]:
        """Submissions of heterogeneous jobs are not in the log: they come before they are tried first."""
        numbers = {job: int(number) for number, job in self._recorded["numbers"].items()}
        for job in self._het():
            known = [one.time for one in found if job in one.tests or one.number > numbers[job]]
            found += [Happening(min(known) - 1e-4, "submit", job, numbers[job])] if known else []
        return sorted(found, key=lambda one: one.time)

    def _het(self) -> list[int]:
        return [job["id"] for job in self._case.jobs if "het" in job]

    def _at_the_times_of_the_log(self) -> None:
        submitted = {one.job: math.floor(one.time) for one in self._happenings if one.kind == "submit"}
        for job in self._case.jobs:
            job["submit"] = submitted.get(job.get("array", job["id"]), job["submit"])

    def _number(self, simulation: Simulation) -> None:
        """Which row is which job, and which node of a module which of slurm.conf."""
        ids = np.asarray(simulation.workload.columns["component_id"])
        self._ids = [int(i) for i in ids[simulation._placements.in_table]]
        self._rows = {job: row for row, job in enumerate(self._ids)}
        self._array = {job["id"]: job["array"] for job in self._case.jobs if "array" in job}
        numbers = site_of(self._case.name)[0].site.numbers
        places = {name: (simulation.system.module_index(module), i) for name, (module, i) in numbers.items()}
        self._nodes = {place: self._log.names.index(name) for name, place in places.items()}

    # -- what the engine does

    def _watch(self, patch: pytest.MonkeyPatch) -> None:
        """Write down what passes start and plan."""
        engine, watched = self._engine, self._watched
        patch.setattr(engine.backfill_pass, "_reserve", watched(engine.backfill_pass._reserve))
        patch.setattr(engine.backfill_pass, "_started", self._watched_het(engine.backfill_pass._started))
        for module in (engine.backfill_pass, engine.main_pass):
            patch.setattr(module, "start_on_picked", watched(module.start_on_picked, STARTS))

    def _watched(self, function: Any, at: int | None = None) -> Any:
        def watching(core: Any, row: int, placement: int, time: int) -> Any:
            self._note(row, placement, int(time) if at is None else at)
            return function(core, row, placement, time)

        return watching

    def _watched_het(self, function: Any) -> Any:
        """Slurm prints a plan of a heterogeneous job also where it is to start at once."""

        def watching(core: Any, row: int, placement: int) -> Any:
            if self._engine.members.is_member(core, row):
                self._note(row, placement, int(core.clock.now))
            return function(core, row, placement)

        return watching

    def _note(self, row: int, placement: int, at: int) -> None:
        slurm = self.core.slurm
        it = slurm.partition[slurm.way[placement].partition]
        found = []
        for word in range(it.low, it.high):
            bits, base = int(slurm.sets.picked[word]), (word - it.low) << 6
            found += [self._nodes[it.module, base + i] for i in range(64) if bits >> i & 1]
        self._deeds.append(Deed(self._ids[row], at, tuple(sorted(found))))
        self._on[self._ids[row]] = tuple(sorted(found))

    # -- the log, one happening after the other

    def played(self) -> Played:
        result = Played()
        for one in self._happenings:
            time = self._second(one)
            if time > self.core.clock.now:
                self._engine.instant.move_to(self.core, time)
            if one.kind == "submit":
                self._submit(one.job)
            elif one.kind == "end":
                if not self._ended(one):
                    result.other_starts.append((one.time, [Deed(one.job, STARTS, ())], []))
                    break
            elif not self._is_as(one, result):
                break
        return result

    def _second(self, one: Happening) -> int:
        """The second of a happening, as slurmctld noted it for what a pass started."""
        time = math.floor(one.time)
        noted = [at for logged, at in self._noted.items() if 0 <= logged - one.time < TICK_S]
        near = [at for at in noted if at in (time, time - 1)]
        return min(near) if one.is_pass and near else time

    def _submit(self, job: int) -> None:
        core, instant = self.core, self._engine.instant
        while core.queue.at.seen < core.clock.jobs:
            base = self._ids[core.queue.arrivals[core.queue.at.seen]] % HET
            if self._array.get(base, base) != job:
                break
            instant.submit_next(core)
        instant.untie_ready(core)
        self._engine.clock._notice(core)

    def _ended(self, one: Happening) -> bool:
        """End a job; False if it does not run."""
        row = self._rows[self._started_as(one.job)]
        if self.core.jobs[row].state != RUNNING:
            return False
        self._engine.events.drop_end(self.core, row)
        self._engine.lifecycle.run_out(self.core, row)
        self._engine.clock._notice(self.core)
        self._leaving.append((one.time + (HET_EPILOG_S if one.job % HET in self._het() else EPILOG_S), row))
        return True

    def _started_as(self, job: int) -> int:
        """The task of an array that has the nodes of the one that ends: the log names no task that starts."""
        if job not in self._array:
            return job
        nodes = self._held.get(job)
        same = [task for task, array in self._array.items() if array == self._array[job]]
        running = [task for task in same if self.core.jobs[self._rows[task]].state == RUNNING]
        return next((task for task in running if self._on.get(task) == nodes), job)

    def _is_as(self, one: Happening, result: Played) -> bool:
        """Make a pass; whether it starts what Slurm's did."""
        self._compute(one.time)
        self._give_back(one)
        self._come_due()
        self._deeds.clear()
        self._pass(one.kind)
        self._find_killed(one.time)
        theirs, ours = self._known(one.deeds), self._known(self._deeds)
        result.starts += sum(deed.at == STARTS for deed in theirs)
        result.plans += sum(deed.at != STARTS for deed in theirs)
        missed = [deed for deed in theirs if deed not in ours]
        extra = [deed for deed in ours if deed not in theirs]
        for starts, found in ((False, result.other_plans), (True, result.other_starts)):
            parts = [[deed for deed in part if (deed.at == STARTS) is starts] for part in (missed, extra)]
            if any(parts):
                found.append((one.time, *parts))
        return not result.other_starts

    def _known(self, deeds: list[Deed]) -> list[Deed]:
        """Tasks by their array; what of heterogeneous jobs is planned for now is what starts of them."""
        het = set(self._het())
        return [
            deed._replace(job=self._array.get(deed.job, deed.job))
            for deed in deeds
            if deed.at != STARTS or deed.job % HET not in het
        ]

    def _compute(self, time: float) -> None:
        """Priorities are computed by a thread with a clock of its own."""
        core, period = self.core, self.core.slurm.rules.calc_period
        while period and self._computed + period <= time:
            self._computed += period
            now, core.clock.now = core.clock.now, math.floor(self._computed)
            core.slurm.memory.next_calc = core.clock.now
            self._engine.clock._compute(core)
            core.clock.now = now

    def _come_due(self) -> None:
        """What the clock alone brings: begin times, dependencies that can never be met."""
        core, by_log = self.core, (0, self._engine.of_slurm.NODES_BACK // KIND)
        due = [core.heap[i] for i in range(core.clock.events)]
        due = [int(one.row) for one in due if one.time <= core.clock.now and one.row // KIND not in by_log]
        for event in due:
            self._engine.events.drop_end(core, event)
            self._engine.lifecycle.happen(core, event)
        if due:
            self._engine.instant.untie_ready(core)
            self._engine.clock._notice(core)

    def _pass(self, kind: str) -> None:
        core, engine = self.core, self._engine
        engine.reasons.note_reasons(core)
        engine.main_pass.look_at_newcomers(core)
        if kind == "backfill":
            engine.backfill_pass.backfill_pass(core)
        else:
            engine.main_pass.main_pass(core, INF if kind == "full" else core.slurm.rules.default_queue_depth)
            engine.instant.untie_ready(core)
            engine.main_pass.look_at_newcomers(core)
            engine.reasons.look_again(core)
        engine.clock._notice(core)

    # -- nodes that are not back yet

    def _give_back(self, one: Happening) -> None:
        """Nodes are back after the epilog; that a killed job is gone brings a pass of main at once."""
        ended = [(time, row) for time, row in sorted(self._leaving) if row not in self._killed]
        back = [row for time, row in ended if self._is_back(one, row, time)]
        gone = {row: seen for seen, row in self._leaving if row in self._killed}
        back += [row for row, seen in gone.items() if one.time > seen]
        at_once = one.kind in ("main", "full") and one.time % 1 > AT_ONCE_S
        near = [row for row, seen in gone.items() if one.time > seen - SHOWN_S and row not in back]
        if at_once and near:
            taken = {node for deed in one.deeds for node in deed.nodes}
            back.append(max(near, key=lambda row: (bool(taken & {*self._on[self._ids[row]]}), -gone[row])))
        for row in back:
            self._leaving = [(time, other) for time, other in self._leaving if other != row]
            self._killed.discard(row)
            self._engine.events.drop_end(self.core, self._engine.of_slurm.NODES_BACK + row)
            self._engine.of_slurm._nodes_back(self.core, row)
            self._engine.instant.untie_ready(self.core)
            self._engine.clock._notice(self.core)

    def _is_back(self, one: Happening, row: int, back: float) -> bool:
        """Whether the nodes of a job are back: as Slurm's pass has them, else by the time."""
        nodes = set(self._on.get(self._ids[row], ()))
        near = abs(one.time - back) < (HET_EPILOG_S if self._ids[row] % HET in self._het() else EPILOG_S)
        if near and any(deed.at == STARTS and nodes & {*deed.nodes} for deed in one.deeds):
            return True
        waits = self._second(one) + 1
        if near and any(deed.at == waits and nodes & {*deed.nodes} for deed in one.deeds):
            return False
        return back < one.time

    def _find_killed(self, time: float) -> None:
        """Jobs that a pass has killed: squeue, asked once a second, showed until when they completed."""
        known, kind = {row for _, row in self._leaving}, self._engine.of_slurm.NODES_BACK
        events = [int(self.core.heap[i].row) for i in range(self.core.clock.events)]
        rows = [event - kind for event in events if event // KIND * KIND == kind]
        for row in (row for row in rows if row not in known):
            job = self._ids[row]
            shown = [(at, state) for at, one, state, *_ in self._recorded["all_events"] if one == job]
            seen = (at for at, state in shown if at > time + 0.02 and state not in ("RUNNING", "COMPLETING"))
            self._leaving.append((next(seen, time + 5), row))
            self._killed.add(row)


__all__ = ["Played", "play"]
