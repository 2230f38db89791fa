"""Where the energy of a schedule goes: jobs, idle nodes, transitions, nodes switched off.

Powers are rounded once, to whole milliwatts; times are whole seconds; so every energy is a whole number of
millijoules (int64), and job + idle + off + transition = system holds exactly, whatever is added first. Only
the energy of boots and shutdowns is known before their power: it is counted by node and second, and the power
that stands for it over time is in whole milliwatts.
A system of 20 MW can be followed for 7 years before the numbers end; beyond that is an error.

The two sides of that identity are counted apart: the job side from power × run time of each component,
the system side from the power of the whole system at each instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError, InvariantError, did_you_mean

if TYPE_CHECKING:
    from scheduler_sim.energy.profile import Watts

TOTAL = "total"
MILLI = 1000
STATES = ("nodes_idle", "nodes_off", "nodes_booting", "nodes_stopping")
PARTS = ("job_j", "idle_j", "transition_j", "off_j")
COMPONENT_COLUMNS = ("module", "nodes", "start", "end", "power_w")
TIMELINE_COLUMNS = ("time", "module", "nodes_busy", *STATES)

MOST_MILLIWATTS = 10**15
MOST_MILLIJOULES = 2**62


class Steps(NamedTuple):
    """Power over time.

    Attributes
    ----------
    time : (t,) int64, ascending, s; power : (t,) int64, mW from each on.
    new : places of the times at which nothing but the power changes.
    """

    time: Ints
    power: Ints
    new: Ints


_AFTER_ALL = np.iinfo(np.int64).max


class Use(NamedTuple):
    """A module over time, and the components that ran on it.

    Attributes
    ----------
    module : its name; watts : (4,) int64, mW of a node in each of STATES.
    transitions : what a node takes that boots, and that shuts down, W, as exactly as it is known.
    time : (t,) int64, ascending, s; busy : (t,) nodes that run components from then on; states : (t,) nodes
        in each of STATES.
    start, end : (c,) int64, s; milliwatts : (c,) int64, mean power of all nodes, mW.
    nodes : (c,), held against those that are busy; None: that is known to hold.
    idle : (c,) int64, mW of idle nodes that is not drawn while a component runs, where that has but parts of
        nodes: ``states`` count busy nodes as idle then. None: nodes are busy or idle.
    """

    module: str
    watts: Ints
    transitions: tuple[float, float]
    time: Ints
    busy: Ints
    states: Sequence[Ints]
    start: Ints
    end: Ints
    milliwatts: Ints
    nodes: Ints | None = None
    idle: Ints | None = None


@dataclass(frozen=True, eq=False)
class Account:
    """The energy of a schedule.

    Attributes
    ----------
    energy : a row a module, and ``total``: ``job_j, idle_j, transition_j, off_j, system_j`` (J), ``mean_w``,
        ``peak_w`` (W), ``seconds``.
    milliwatts : power over time of each module and ``total``.
    millijoules : (m, 5) int64 of the modules: the parts, and the system, in the order of ``energy``.
    start, end : the span accounted for, s.
    """

    energy: pd.DataFrame
    milliwatts: dict[str, Steps]
    millijoules: Ints
    start: int
    end: int

    @property
    def power(self) -> pd.DataFrame:
        """Power over time, a row at each instant at which it changes, for each module and ``total``.

        ``time`` (s), ``module``, ``power_w``; each row holds until the next of its module, the last until
        ``end``.
        """
        tables = [_power_table(name, steps.time, steps.power) for name, steps in self.milliwatts.items()]
        return pd.concat(tables, ignore_index=True)

    def check(self) -> None:
        """Raise InvariantError unless job + idle + off + transition = system, exactly."""
        off = np.flatnonzero(self.millijoules[:, :4].sum(axis=1) != self.millijoules[:, 4])
        if len(off):
            name = self.energy["module"].iloc[off[0]]
            raise InvariantError(f"energy of {name}: the parts are not the whole")

    def steps(self, module: str = TOTAL) -> tuple[Ints, Floats]:
        """Return instants (n + 1,), the last the end, and the power from each to the next (n,), W."""
        time, power, _ = self.milliwatts[module]
        changes = np.append(True, np.diff(power) != 0)
        edges = np.clip(np.append(time[changes], self.end), self.start, self.end)
        lasts = np.diff(edges) > 0
        return np.append(edges[:-1][lasts], self.end), power[changes][lasts] / MILLI

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
    return account_of(
        [
            _use(name, components[own], milliwatts[own], timeline[timeline["module"] == name], watts)
            for name in names
            for own in (components["module"].to_numpy() == name,)
        ],
        start,
        end,
    )


def account_of(uses: Sequence[Use], start: int, end: int) -> Account:
    """Add up the energy of a schedule from ``start`` to ``end`` (s), from columns.

    Raises InputError for more energy than can be counted, InvariantError where components and timeline
    disagree on the busy nodes.
    """
    steps = [_steps(use, start, end) for use in uses]
    lasting = [_seconds(step.time, start, end) for step in steps]
    rows = [
        _parts(use, *both, start, end)
        for use, both in zip(uses, zip(steps, lasting, strict=True), strict=True)
    ]
    if sum(float(part[-1]) for part in rows) >= MOST_MILLIJOULES:
        raise InputError("energy of all modules: found more than can be counted; allowed: up to 4.6e15 J")
    if len(steps) > 1:
        steps.append(_sum_of(steps))
        lasting.append(_seconds(steps[-1].time, start, end))
    peaks = [
        int(step.power.max(initial=0, where=seconds > 0))
        for step, seconds in zip(steps, lasting, strict=True)
    ]
    names = [*(use.module for use in uses), TOTAL]
    millijoules = np.array([*rows, np.sum(rows, axis=0)], dtype=np.int64)
    power = {**{use.module: step for use, step in zip(uses, steps, strict=False)}, TOTAL: steps[-1]}
    made = Account(
        _energy_table(names, millijoules, [*peaks, peaks[-1]][: len(names)], end - start),
        power,
        millijoules,
        start,
        end,
    )
    made.check()
    return made


def of_transitions(node_seconds: int, watts: float) -> int:
    """Return the energy of boots or shutdowns, mJ: of whole ones exactly what was given for them."""
    return round(node_seconds * watts * MILLI)


def milli(value: Floats, what: str) -> Ints:
    """Return watts in whole milliwatts. Raises InputError for one that is negative, not finite or absurd."""
    wrong = ~(np.isfinite(value) & (value >= 0) & (value * MILLI <= MOST_MILLIWATTS))
    if wrong.any():
        found = value[wrong][0]
        raise InputError(f"{what}: found {found:g} W; allowed: 0 to {MOST_MILLIWATTS / MILLI:g} W")
    return np.rint(value * MILLI).astype(np.int64)


def _use(
    name: str, components: pd.DataFrame, milliwatts: Ints, timeline: pd.DataFrame, watts: Mapping[str, Watts]
) -> Use:
    """Return the columns of a module. Raises InputError for times that cannot be."""
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
    busy = timeline["nodes_busy"].to_numpy(np.int64)
    states = [timeline[state].to_numpy(np.int64) for state in STATES]
    nodes = components["nodes"].to_numpy(np.int64)
    draws = _node_watts(watts, name)
    return Use(name, draws, watts[name][2:], time, busy, states, begin, finish, milliwatts, nodes)


def _steps(use: Use, start: int, end: int) -> Steps:
    """Return a module's power: instants (s), and mW from each on."""
    more = use.milliwatts if use.idle is None else use.milliwatts - use.idle
    amounts = [more] if use.nodes is None else [more, use.nodes]
    instants, new, (power, *nodes) = _summed_up(use.time, use.start, use.end, amounts)

    def held(values: Ints) -> Ints:
        return np.insert(values, new, values[new - 1]) if len(new) and values.strides != (0,) else values

    for watts, state in zip(use.watts.tolist(), use.states, strict=True):
        power += watts * (state[:1] if state.strides == (0,) else held(state))
    if nodes:
        _refuse_strange(use, Steps(instants, held(use.busy) - nodes[0], new), start, end)
    return Steps(instants, power, new + np.arange(len(new)))


def _refuse_strange(use: Use, others: Steps, start: int, end: int) -> None:
    """Raise InvariantError for nodes that run no component and should, or the other way round."""
    wrong = others.power != 0
    if wrong.any():
        wrong &= _seconds(others.time, start, end) > 0
    if wrong.any():
        at = int(np.argmax(wrong))
        claimed = int(use.busy[np.searchsorted(use.time, others.time[at], side="right") - 1])
        nodes_are = f"{claimed - others.power[at]} nodes run components, {claimed} in the timeline"
        raise InvariantError(f"{use.module} at {others.time[at]} s: {nodes_are}")


def _parts(use: Use, steps: Steps, lasting: Ints, start: int, end: int) -> Ints:
    """Return the mJ of each of PARTS and of the system."""
    power = steps.power
    if float(power.max(initial=0)) * float(end - start) >= MOST_MILLIJOULES:
        most = power.max() / MILLI
        raise InputError(
            f"energy of {use.module}: found {most:g} W over {end - start} s; allowed: up to 4.6e15 J"
        )
    seconds = lasting if len(steps.time) == len(use.time) else _seconds(use.time, start, end)
    lasts = [
        int(state[0] * seconds.sum() if state.strides == (0,) else seconds @ state) for state in use.states
    ]
    idle, off, *drawn = (watts * last for watts, last in zip(use.watts.tolist(), lasts, strict=True))
    exact = sum(of_transitions(last, watts) for last, watts in zip(lasts[2:], use.transitions, strict=True))
    begin, finish = use.start, use.end
    if use.nodes is not None or use.idle is not None:  # a run that was lost may be outside the span
        begin, finish = begin.clip(start, end), finish.clip(start, end)
    job = int(use.milliwatts @ (finish - begin))
    if use.idle is not None:
        idle -= int(use.idle @ (finish - begin))
    return np.array([job, idle, exact, off, int(power @ lasting) - sum(drawn) + exact], dtype=np.int64)


def _seconds(instants: Ints, start: int, end: int) -> Ints:
    """Return how long each instant's values hold, within a span."""
    edges = np.append(instants, end)
    if len(instants) and (instants[0] < start or instants[-1] > end):
        edges = np.clip(edges, start, end)
    return np.diff(edges)


def _summed_up(
    time: Ints, begin: Ints, finish: Ints, amounts: Sequence[Ints]
) -> tuple[Ints, Ints, list[Ints]]:
    """Return instants, and the sum of what runs from each on, for each of some amounts.

    The instants are ``time`` and whatever others the sums change at, which stand before those places of
    ``time`` that come back, too. They are few: a schedule's timeline has nearly every start and end.
    """
    starts, ends = np.searchsorted(time, begin), np.searchsorted(time, finish)
    changes = [np.zeros(len(time) + 1, np.int64) for _ in amounts]  # the last place is after all
    for change, amount in zip(changes, amounts, strict=True):
        np.add.at(change, starts, amount)
        np.subtract.at(change, ends, amount)
    known = np.append(time, _AFTER_ALL)
    odd_starts = np.flatnonzero(known[starts] != begin)
    odd_ends = np.flatnonzero(known[ends] != finish)
    new, which = np.unique(np.append(begin[odd_starts], finish[odd_ends]), return_inverse=True)
    places = np.append(starts[odd_starts], ends[odd_ends])
    more = []
    for change, amount in zip(changes, amounts, strict=True):
        signed = np.append(amount[odd_starts], -amount[odd_ends])
        np.subtract.at(change, places, signed)  # they do not belong there, but before
        of_new = np.zeros(len(new), np.int64)
        np.add.at(of_new, which, signed)
        more.append(of_new)
    kept = np.any([of_new != 0 for of_new in more], axis=0)
    at = np.searchsorted(time, new[kept])
    changes = [change[:-1] for change in changes]
    if len(at):
        time = np.insert(time, at, new[kept])
        changes = [np.insert(one, at, of_new[kept]) for one, of_new in zip(changes, more, strict=True)]
    return time, at, [np.cumsum(change, out=change) for change in changes]


def _instants(*times: Ints) -> Ints:
    """Return each time once, ascending; by sorting, which is faster here than ``numpy.unique``."""
    every = np.sort(np.concatenate(times))
    return every[np.append(True, every[1:] != every[:-1])] if len(every) else every


def _sum_of(steps: Sequence[Steps]) -> Steps:
    instants = _instants(*(step.time for step in steps))
    power = np.zeros(len(instants), np.int64)
    for step in steps:
        place = np.searchsorted(step.time, instants, side="right")
        power += np.append(0, step.power)[place]
    return Steps(instants, power, np.empty(0, np.int64))


def _power_table(name: str, time: Ints, power: Ints) -> pd.DataFrame:
    changes = np.append(True, np.diff(power) != 0)
    return pd.DataFrame({"time": time[changes], "module": name, "power_w": power[changes] / MILLI})


def _energy_table(names: list[str], millijoules: Ints, peaks: list[int], seconds: int) -> pd.DataFrame:
    table = pd.DataFrame(millijoules / MILLI, columns=[*PARTS, "system_j"])
    table.insert(0, "module", names)
    with np.errstate(invalid="ignore"):
        table["mean_w"] = table["system_j"] / seconds
    table["peak_w"] = np.array(peaks) / MILLI
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
