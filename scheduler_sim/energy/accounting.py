"""Where the energy of a schedule goes: jobs, idle nodes, transitions, nodes switched off.

Powers are rounded once, to whole milliwatts; times are whole seconds; so every energy is a whole number of
millijoules (int64), and job + idle + off + transition = system holds exactly, whatever is added first.
A system of 20 MW can be followed for 7 years before the numbers end; beyond that is an error.

The two sides of that identity are counted apart: the job side from power × run time of each component,
the system side from the power of the whole system at each instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.energy.profile import Watts
from scheduler_sim.energy.pstates import Array, Ints
from scheduler_sim.errors import InputError, InvariantError, did_you_mean

TOTAL = "total"
MILLI = 1000
STATES = ("nodes_idle", "nodes_off", "nodes_booting", "nodes_stopping")
PARTS = ("job_j", "idle_j", "transition_j", "off_j")
COMPONENT_COLUMNS = ("module", "nodes", "start", "end", "power_w")
TIMELINE_COLUMNS = ("time", "module", "nodes_busy", *STATES)

MOST_MILLIWATTS = 10**15
MOST_MILLIJOULES = 2**62


@dataclass(frozen=True, eq=False)
class Account:
    """The energy of a schedule.

    Attributes
    ----------
    energy : a row a module, and ``total``: ``job_j, idle_j, transition_j, off_j, system_j`` (J), ``mean_w``,
        ``peak_w`` (W), ``seconds``.
    power : over time, a row at each instant at which it changes, for each module and ``total``: ``time`` (s),
        ``module``, ``power_w``; each row holds until the next of its module, the last until ``end``.
    millijoules : (m, 5) int64 of the modules: the parts, and the system, in the order of ``energy``.
    start, end : the span accounted for, s.
    """

    energy: pd.DataFrame
    power: pd.DataFrame
    millijoules: Ints
    start: int
    end: int

    def check(self) -> None:
        """Raise InvariantError unless job + idle + off + transition = system, exactly."""
        off = np.flatnonzero(self.millijoules[:, :4].sum(axis=1) != self.millijoules[:, 4])
        if len(off):
            name = self.energy["module"].iloc[off[0]]
            raise InvariantError(f"energy of {name}: the parts are not the whole")

    def steps(self, module: str = TOTAL) -> tuple[Ints, Array]:
        """Return instants (n + 1,), the last the end, and the power from each to the next (n,), W."""
        rows = self.power[self.power["module"] == module]
        return np.append(rows["time"].to_numpy(np.int64), self.end), rows["power_w"].to_numpy(np.float64)

    def above(self, cap_w: float, module: str = TOTAL) -> tuple[int, float]:
        """Return for how long the power is above a cap (s), and the energy above it (J)."""
        edges, watts = self.steps(module)
        seconds = np.diff(edges)
        over = np.maximum(watts - cap_w, 0.0)
        return int(seconds[over > 0].sum()), float((over * seconds).sum())


def component_energy(components: pd.DataFrame) -> pd.DataFrame:
    """Return energy (J) and energy-delay product (J·s) of each component, in the index of the table.

    ``start``, ``end`` (s) and ``power_w``, the mean power of all its nodes (W, counted in whole mW); one that
    never ran has NaN power, and gets NaN. The energies sum to the ``job_j`` of :func:`account`.
    """
    power = components["power_w"].to_numpy(np.float64)
    ran = ~np.isnan(power)
    seconds = components["end"].to_numpy(np.float64) - components["start"].to_numpy(np.float64)
    energy = np.full(len(components), np.nan)
    energy[ran] = milli(power[ran], "power_w") * seconds[ran] / MILLI
    return pd.DataFrame({"energy_j": energy, "edp_js": energy * seconds}, index=components.index)


def account(
    components: pd.DataFrame,
    timeline: pd.DataFrame,
    watts: Mapping[str, Watts],
    end: int | None = None,
) -> Account:
    """Add up the energy of a schedule, part by part.

    Parameters
    ----------
    components : those that ran: ``module, nodes, start, end`` (whole s), ``power_w`` (mean of all nodes, W).
    timeline : ``time, module, nodes_busy, nodes_idle, nodes_off, nodes_booting, nodes_stopping``: a row
        each time one of them changes in a module, each holding until the module's next.
    watts : what a node of each module draws while it is not busy.
    end : where the span ends, s; by default at the last instant of either table.

    Raises
    ------
    InputError : a column, a module or a power is missing, negative or not finite; a component is beyond the
        span; more energy than can be counted.
    InvariantError : components and timeline disagree on the busy nodes.
    """
    _refuse_missing(components, COMPONENT_COLUMNS, "components")
    _refuse_missing(timeline, TIMELINE_COLUMNS, "timeline")
    if not len(timeline):
        raise InputError("timeline: found no rows; allowed: at least one for each module")
    names = [str(name) for name in pd.unique(timeline["module"])]
    _refuse_strangers(components["module"], names)
    milliwatts = milli(components["power_w"].to_numpy(np.float64), "power_w")
    start = int(timeline["time"].min())
    last = max(int(timeline["time"].max()), int(components["end"].max()) if len(components) else start)
    end = last if end is None else end
    if end < last or (len(components) and int(components["start"].min()) < start):
        raise InputError(f"span: found {start} to {end} s; allowed: all of the components and the timeline")
    rows, steps = [], []
    for name in names:
        own = components["module"].to_numpy() == name
        moments = timeline[timeline["module"] == name]
        part, step = _module(components[own], milliwatts[own], moments, _node_watts(watts, name), end, name)
        rows.append(part)
        steps.append(step)
    if sum(float(part[-1]) for part in rows) >= MOST_MILLIJOULES:
        raise InputError("energy of all modules: found more than can be counted; allowed: up to 4.6e15 J")
    total = _sum_of(steps)
    millijoules = np.array([*rows, np.sum(rows, axis=0)], dtype=np.int64)
    power = pd.concat(
        [_power_table(name, *step) for name, step in zip([*names, TOTAL], [*steps, total], strict=True)],
        ignore_index=True,
    )
    energy = _energy_table([*names, TOTAL], millijoules, [*steps, total], end)
    made = Account(energy, power, millijoules, start, end)
    made.check()
    return made


def milli(value: Array, what: str) -> Ints:
    """Return watts in whole milliwatts. Raises InputError for one that is negative, not finite or absurd."""
    wrong = ~(np.isfinite(value) & (value >= 0) & (value * MILLI <= MOST_MILLIWATTS))
    if wrong.any():
        found = value[wrong][0]
        raise InputError(f"{what}: found {found:g} W; allowed: 0 to {MOST_MILLIWATTS / MILLI:g} W")
    return np.rint(value * MILLI).astype(np.int64)


def _module(
    components: pd.DataFrame, milliwatts: Ints, timeline: pd.DataFrame, states: Ints, end: int, name: str
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Return mJ of the parts and of the system, and the module's power: instants (s) and mW from each on."""
    begin, finish = components["start"].to_numpy(np.int64), components["end"].to_numpy(np.int64)
    if (finish < begin).any():
        raise InputError(f"components of {name}: found an end before its start; allowed: start <= end")
    time = timeline["time"].to_numpy(np.int64)
    if (np.diff(time) <= 0).any():
        raise InputError(f"timeline of {name}: found times that do not rise; allowed: one row an instant")
    if len(begin) and begin.min() < time[0]:
        raise InputError(
            f"components of {name}: one starts before the timeline; allowed: from {time[0]} s on"
        )
    instants = _instants(time, begin, finish)
    busy_mw = _running(instants, begin, finish, milliwatts)
    busy_nodes = _running(instants, begin, finish, components["nodes"].to_numpy(np.int64))
    place = np.searchsorted(time, instants, side="right") - 1
    nodes = timeline[list(STATES)].to_numpy(np.int64)[place]
    seconds = np.diff(np.append(instants, end))
    claimed = timeline["nodes_busy"].to_numpy(np.int64)[place]
    wrong = np.flatnonzero((busy_nodes != claimed) & (seconds > 0))
    if len(wrong):
        at = wrong[0]
        nodes_are = f"{busy_nodes[at]} nodes run components, {claimed[at]} in the timeline"
        raise InvariantError(f"{name} at {instants[at]} s: {nodes_are}")
    power = np.asarray(busy_mw + nodes @ states, np.int64)
    if float(power.max(initial=0)) * float(end - time[0]) >= MOST_MILLIJOULES:
        most = power.max() / MILLI
        raise InputError(
            f"energy of {name}: found {most:g} W over {end - time[0]} s; allowed: up to 4.6e15 J"
        )
    job = int((milliwatts * (finish - begin)).sum())
    idle, off, booting, stopping = (states * (seconds @ nodes)).tolist()
    system = int((power * seconds).sum())
    return np.array([job, idle, booting + stopping, off, system], dtype=np.int64), (instants, power)


def _instants(*times: Ints) -> Ints:
    """Return each time once, ascending; by sorting, which is faster here than ``numpy.unique``."""
    every = np.sort(np.concatenate(times))
    return every[np.append(True, every[1:] != every[:-1])] if len(every) else every


def _running(instants: Ints, begin: Ints, finish: Ints, amount: Ints) -> Ints:
    """Return the sum of what runs from each instant on."""
    change = np.zeros(len(instants), np.int64)
    np.add.at(change, np.searchsorted(instants, begin), amount)
    np.subtract.at(change, np.searchsorted(instants, finish), amount)
    return np.cumsum(change)


def _sum_of(steps: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    instants = _instants(*(time for time, _ in steps))
    power = np.zeros(len(instants), np.int64)
    for time, own in steps:
        place = np.searchsorted(time, instants, side="right")
        power += np.append(0, own)[place]
    return instants, power


def _power_table(name: str, time: Ints, power: Ints) -> pd.DataFrame:
    changes = np.append(True, np.diff(power) != 0)
    return pd.DataFrame({"time": time[changes], "module": name, "power_w": power[changes] / MILLI})


def _energy_table(
    names: list[str], millijoules: Ints, steps: list[tuple[Ints, Ints]], end: int
) -> pd.DataFrame:
    seconds = np.array([end - time[0] for time, _ in steps])
    lasting = [power[np.diff(np.append(time, end)) > 0] for time, power in steps]
    table = pd.DataFrame(millijoules / MILLI, columns=[*PARTS, "system_j"])
    table.insert(0, "module", names)
    with np.errstate(invalid="ignore"):
        table["mean_w"] = table["system_j"] / seconds
    table["peak_w"] = [int(power.max(initial=0)) / MILLI for power in lasting]
    table["seconds"] = seconds
    return table


def _node_watts(watts: Mapping[str, Watts], name: str) -> Ints:
    if name not in watts:
        hint = did_you_mean(name, list(watts))
        raise InputError(f"power: module {name} has no profile; known: {', '.join(watts)}{hint}")
    return milli(np.array(watts[name], dtype=np.float64), f"power profile of {name}")


def _refuse_missing(table: pd.DataFrame, columns: tuple[str, ...], what: str) -> None:
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{what}: column {missing[0]} is missing; allowed: {', '.join(columns)}")


def _refuse_strangers(modules: pd.Series, names: list[str]) -> None:
    strange = [name for name in pd.unique(modules) if name not in names]
    if strange:
        raise InputError(
            f"components: found module {strange[0]}, not in the timeline; known: {', '.join(names)}"
        )
