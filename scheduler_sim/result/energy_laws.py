"""What holds for power and energy, where an energy model gave them. In whole mW and mJ, so exactly.

The manifest says what an idle node of each module draws, and which runs the tables do not have, as they
ended in a requeue. Nodes out of service draw what an idle one does.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.result.columns import SWITCHED, TOTAL
from scheduler_sim.result.documents import MOST
from scheduler_sim.result.node_use import node_parts, of_parts
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.slowing import energy_saved
from scheduler_sim.result.steps import Steps, first_difference, from_changes, sum_of_intervals, value_at

Breach = str | None
MILLI = 1000
PARTS = ("job_j", "idle_j", "transition_j", "off_j")
RELATIVE = 1e-12
"""Energies in the metrics are float64."""


def power_is_known(schedule: Schedule) -> Breach:
    """Powers and energies are either finite numbers, or not known at all."""
    tables = ((schedule.components, ("power_w", "energy_j")), (schedule.timeline, ("power_w",)))
    for table, columns in tables:
        for column in columns:
            values = table[column].to_numpy()
            row = _first(~np.isnan(values) & ~((values >= 0) & (values < MOST / MILLI)))
            if row is not None:
                return f"{column} is {values[row]} in row {row}"
    return None


def component_energy(schedule: Schedule) -> Breach:
    """Energy is power × run time without suspended time; there is none without an energy model.

    In the intervals in which a component was slowed, the actual power counts.
    """
    watts, joules = schedule.of("power_w"), schedule.of("energy_j")
    known = schedule.ran & bool(schedule.energy)
    for name, values in (("power_w", watts), ("energy_j", joules)):
        row = _first(np.isnan(values) == known)
        if row is not None:
            started = schedule.of("start_time")[row]
            return f"{schedule.name(row)} has a {name} of {values[row]}, and its start is {started}"
    worked = schedule.of("run_time") - schedule.suspended_time
    expected = _milli(watts) * worked
    if schedule.further.slowed:
        expected -= energy_saved(schedule.components, watts)
    row = _first(known & (_milli(joules) != expected))
    if row is None:
        return None
    seconds = worked[row]
    return f"{schedule.name(row)} took {joules[row]} J, which is not {watts[row]} W for {seconds} s"


def power_over_time(schedule: Schedule) -> Breach:
    """At every instant a module draws as much as components, lost runs and other nodes; total: the sum."""
    if not schedule.energy:
        found = _first(~np.isnan(schedule.timeline["power_w"].to_numpy()))
        return None if found is None else f"row {found} of the timeline has a power without an energy model"
    for module in schedule.modules:
        breach = first_difference(_expected(schedule, module), _recorded(schedule, module))
        if breach:
            at, counted, recorded = breach
            drawn = f"{counted / MILLI} W by the components and the idle nodes at {at}"
            return f"{module} draws {drawn}, the timeline has {recorded / MILLI} W"
    parts = [_recorded(schedule, module) for module in schedule.modules]
    times, changes = ([part[0] for part in parts], [np.diff(part[1], prepend=0) for part in parts])
    breach = first_difference(
        from_changes(np.concatenate(times), np.concatenate(changes)), _recorded(schedule, TOTAL)
    )
    if breach:
        at, summed, total = breach
        return f"the modules draw {summed / MILLI} W at {at}, the total has {total / MILLI} W"
    return None


def energy_parts(schedule: Schedule) -> Breach:
    """Job + idle + transition + off is exactly the energy of the system, and agrees with the metrics."""
    span = schedule.span
    if not schedule.energy or span is None:
        return None
    total = np.zeros(5, dtype=np.int64)
    metrics = schedule.metrics.get("energy") or {}
    for module in schedule.modules:
        own = _parts(schedule, module, span)
        if own[:4].sum() != own[4]:
            return f"the parts of {module} are {own[:4].sum()} mJ, its power over time is {own[4]} mJ"
        if breach := _disagreement(own, (metrics.get("modules") or {}).get(module) or {}, module):
            return breach
        total += own
    return _disagreement(total, metrics, "the system")


def power_cap(schedule: Schedule) -> Breach:
    """The time and energy above the cap agree with the timeline, and nothing has started above it.

    What starts at the instant at which another is told may have started before it was told. By which nodes
    jobs have, where these differ, the cap does not go.
    """
    cap, span = schedule.energy.get("cap"), schedule.span
    if not cap or span is None:
        return None
    time, allowed = (
        np.array(cap["time"], np.int64),
        np.rint(np.array(cap["power_w"]) * MILLI).astype(np.int64),
    )
    power = _recorded(schedule, TOTAL)
    edges = np.unique(np.clip(np.concatenate((power[0], time, span)), *span))
    limit = _cap_at(time, allowed, edges)
    over, drawn = value_at(power, edges) - limit, value_at(power, edges - 1)
    seconds = np.diff(edges)
    found = int(seconds[over[:-1] > 0].sum()), int((np.maximum(over[:-1], 0) * seconds).sum()) / MILLI
    metrics = schedule.metrics.get("energy") or {}
    given = metrics.get("above_cap_s"), metrics.get("above_cap_j") or 0.0
    if given[0] != found[0] or abs(given[1] - found[1]) > RELATIVE * found[1] + 1e-5:
        said = f"the metrics say {given[0]} s and {given[1]} J"
        return f"{found[0]} s and {found[1]} J are above the power cap, {said}"
    if any("node_sigma" in module for module in schedule.energy["modules"].values()):
        return None
    starts = [schedule.of("start_time")[schedule.ran], schedule.lost["start_time"].to_numpy()]
    started = np.isin(edges, np.concatenate(starts))
    draws, most = over + limit, np.maximum(limit, _cap_at(time, allowed, edges - 1))
    row = _first((draws > most) & started & (draws > drawn) & (edges > span[0]))
    if row is not None:
        watts = draws[row] / MILLI
        return f"the power rises to {watts} W at {edges[row]}, above the cap of {most[row] / MILLI} W"
    return None


def _cap_at(time: np.ndarray, allowed: np.ndarray, instants: np.ndarray) -> np.ndarray:
    return allowed[np.maximum(np.searchsorted(time, instants, side="right") - 1, 0)]


def _expected(schedule: Schedule, module: str) -> Steps:
    """The power (mW) of a module's components, lost runs and other nodes; from its first row on."""
    idle = _idle(schedule, module)
    running = sum_of_intervals(*_runs(schedule, module))
    first = schedule.timeline["time"].to_numpy()[schedule.rows(module)][:1]
    others = (first, np.full(len(first), idle * schedule.modules[module]))
    parts = [(running, 1), (_not_idle(schedule, module, idle), -1), (others, 1)]
    parts += [(nodes, power - idle) for nodes, power in _switched(schedule, module)]
    times = [time for (time, _), _ in parts]
    changes = [np.diff(values, prepend=0) * factor for (_, values), factor in parts]
    return from_changes(np.concatenate(times), np.concatenate(changes))


def _not_idle(schedule: Schedule, module: str, idle: int) -> Steps:
    """What idle nodes (mW each) would draw and do not, as components have nodes, or parts of them."""
    if not schedule.shared:
        times, busy = schedule.recorded(module, "nodes_busy")
        return times, busy * idle
    begin, finish, _ = _runs(schedule, module)
    mask, lost = schedule.ran & schedule.in_module(module), schedule.lost
    parts = np.concatenate((node_parts(schedule)[mask], lost["parts"][lost["module"] == module].to_numpy()))
    return sum_of_intervals(begin, finish, of_parts(idle, parts.astype(np.int64)))


def _runs(schedule: Schedule, module: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, end (s) and power (mW) of all runs on a module, those that were lost the last.

    Where components are suspended or slowed, what they do not draw then follows, with less than no power.
    """
    mask = schedule.ran & schedule.in_module(module)
    tables = (schedule.lost, schedule.suspensions, schedule.slowings)
    lost, *away = (table[table["module"] == module] for table in tables)
    begin, finish, watts = (
        np.concatenate((schedule.of(name)[mask], *(one[name].to_numpy() for one in (lost, *away))))
        for name in ("start_time", "end_time", "power_w")
    )
    power = _milli(watts)
    power[len(power) - sum(map(len, away)) :] *= -1
    return begin.astype(np.int64), finish.astype(np.int64), power


def _idle(schedule: Schedule, module: str) -> int:
    """What an idle node of a module draws, mW."""
    return int(_milli(np.array(schedule.energy["modules"][module]["idle_w"])))


def _recorded(schedule: Schedule, module: str) -> Steps:
    rows = schedule.rows(module)
    power = _milli(schedule.timeline["power_w"].to_numpy()[rows])
    changes = np.diff(power, prepend=0) != 0
    return schedule.timeline["time"].to_numpy()[rows][changes], power[changes]


def _parts(schedule: Schedule, module: str, span: tuple[int, int]) -> np.ndarray:
    """The mJ of PARTS and of the whole, within a span."""
    idle = _idle(schedule, module)
    not_idle = _integral(_not_idle(schedule, module, idle), span)
    begin, finish, power = _runs(schedule, module)
    job = int(power @ (finish.clip(*span) - begin.clip(*span)))
    times = [(_integral(nodes, span), power) for nodes, power in _switched(schedule, module)]
    off, *drawn = (seconds * power for seconds, power in times or [(0, 0)] * 3)
    exact = sum(_of_transitions(schedule, module, [seconds for seconds, _ in times[1:]], drawn))
    awake = schedule.modules[module] * (span[1] - span[0]) - sum(seconds for seconds, _ in times)
    whole = _integral(_recorded(schedule, module), span)
    return np.array([job, idle * awake - not_idle, exact, off, whole - sum(drawn) + exact])


def _of_transitions(schedule: Schedule, module: str, seconds: list[int], drawn: list[int]) -> list[int]:
    """The energy of boots and of shutdowns, mJ: by what one takes, where that is told, else as drawn."""
    told = schedule.energy["modules"][module]
    if "boot_j" not in told:
        return drawn
    takes = [(told[f"{kind}_j"], told[f"{kind}_s"]) for kind in ("boot", "shutdown")]
    return [
        round(lasted * (joules / one if one else 0.0) * MILLI)
        for lasted, (joules, one) in zip(seconds or [0, 0], takes, strict=True)
    ]


def _switched(schedule: Schedule, module: str) -> list[tuple[Steps, int]]:
    """Nodes that are off, boot and shut down, and what one then draws, mW; nothing where none ever does."""
    if not schedule.switched:
        return []
    watts = schedule.energy["modules"][module]
    power = _milli(np.array([watts[key] for key in ("off_w", "boot_w", "shutdown_w")], dtype=float)).tolist()
    steps = [schedule.recorded(module, column.name) for column in SWITCHED]
    return list(zip(steps, power, strict=True))


def _disagreement(millijoules: np.ndarray, metrics: dict[str, float], whose: str) -> Breach:
    for name, value in zip((*PARTS, "system_j"), (millijoules / MILLI).tolist(), strict=True):
        given = metrics.get(name)
        if given is None or abs(given - value) > RELATIVE * abs(value) + 1e-6:
            return f"{name} of {whose} is {value} by the tables, the metrics say {given}"
    return None


def _integral(steps: Steps, span: tuple[int, int]) -> int:
    inside = steps[0][(steps[0] > span[0]) & (steps[0] < span[1])]
    edges = np.concatenate(([span[0]], inside, [span[1]])).astype(np.int64)
    return int((value_at(steps, edges[:-1]) * np.diff(edges)).sum())


def _milli(values: np.ndarray) -> np.ndarray:
    milli: np.ndarray = np.rint(np.clip(np.nan_to_num(values) * MILLI, -MOST, MOST)).astype(np.int64)
    return milli


def _first(wrong: np.ndarray) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None
