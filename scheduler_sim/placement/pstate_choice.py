"""Clocks, and the module, of each component, chosen by energy before anything is scheduled.

Under a power cap a placement also asks for power, of which there is as much as the cap allows above what idle
nodes draw; and there may be one for each of several clocks, among which the scheduler chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.applications.conversion import scaled
from scheduler_sim.applications.models import Models
from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.alike import Alike, node_milliwatts
from scheduler_sim.energy.budget import highest_milliwatts, idle_milliwatts
from scheduler_sim.energy.choice import choose
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.energy.layer_keys import FREQUENCY, MODULE, CapKeys, ChoiceKeys
from scheduler_sim.energy.measured import Measured
from scheduler_sim.placement.placements import Placements, kept
from scheduler_sim.placement.repeating import first_of, repeated
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

OPTIONS_AT_ONCE = 1 << 20

MostParts = Callable[[Workload, Placements], Ints]
"""How much of nodes each placement has at most, in millionths."""

WHOLE = 1_000_000
"""A node, in parts of it."""

POWER_CAP = "power_cap"
"""Why a component is rejected that no cap would ever let run."""


class Clocked(NamedTuple):
    """The placements that are left, in order.

    Attributes
    ----------
    place : number among those there were; run, limit : s; clock : its place among the clocks of its module;
    milliwatts : of a node.
    """

    place: Ints
    run: Ints
    limit: Ints
    clock: Ints
    milliwatts: Ints


class _States(NamedTuple):
    """Every kind of component at every clock of every module, one after the other.

    ``first``: where a module begins; ``each``: how many clocks it has; ``reference``: which is the reference;
    within it kind after kind.
    """

    first: Ints
    each: Ints
    reference: Ints
    clock: Ints
    gpu_khz: Ints
    factor: Floats
    milliwatts: Ints

    @classmethod
    def of(cls, layer: EnergyLayer, system: System, alike: Alike, *, reference_only: bool) -> _States:
        clock, gpu_khz, factor, milliwatts, count, reference = [], [], [], [], [], []
        for module in system.modules:
            clocks = layer.clocks(module.name)
            which = np.array([clocks.reference]) if reference_only else np.arange(len(clocks.khz))
            made = alike.on(layer, module.name, which)
            clock.append(np.tile(which, len(alike.names)))
            gpu_khz.append(np.tile(made.gpu_khz, len(alike.names)))
            reference.append(clocks.reference)
            factor.append(made.time_factor.ravel())
            milliwatts.append(node_milliwatts(made, module.name).ravel())
            count.append(len(made.khz))
        sizes = np.array([len(one) for one in clock], dtype=np.int64)
        return cls(
            np.cumsum(sizes) - sizes,
            np.array(count, dtype=np.int64),
            np.array(reference, dtype=np.int64),
            np.concatenate(clock),
            np.concatenate(gpu_khz),
            np.concatenate(factor),
            np.concatenate(milliwatts),
        )


def with_energy(
    placements: Placements,
    workload: Workload,
    system: System,
    models: Models,
    *,
    only_first: bool,
    most_parts: MostParts | None = None,
) -> Placements:
    """Return the placements that a choice by energy and a power cap leave.

    ``models`` have an energy layer. ``only_first``: no second placement is wanted, so that lower P-states are
    none. ``most_parts``: jobs have parts of nodes, each placement no more than that.

    Raises InputError for a component without any option.
    """
    layer = models.energy
    assert layer is not None
    rows = placements.rows
    jobs = {name: workload.columns[name][rows] for name in layer.reads}
    known = models.names.known(jobs["app"], placements.type_number)
    alike = Alike.of(known, jobs["hint"], jobs["reference_power_w"], layer.told(jobs)[0])
    several = 1 if layer.cap is None or only_first else layer.cap.pstates
    made = clocked(placements, alike, system, layer, several=several)
    left = kept(placements, made.place)
    left = replace(left, run=made.run, limit=made.limit, clock=made.clock)
    if layer.cap is None:
        return left
    parts = left.nodes * WHOLE if most_parts is None else most_parts(workload, left)
    measured = Measured.of(jobs) if layer.replays else None
    return _within_cap(left, made.milliwatts, parts, measured, system, layer)


def clocked(
    placements: Placements, alike: Alike, system: System, layer: EnergyLayer, *, several: int = 1
) -> Clocked:
    """Choose among the placements of each component and the clocks of their modules.

    Run times and limits follow the clock, rounded up to whole seconds, before anything is chosen; so a bound
    on the slowdown holds for the seconds that are simulated. Where there is one, a limit is at most
    (1 + slowdown) × that of the reference. A clock that takes a limit beyond the MaxTime of its partition
    is not possible. ``several``: at how many clocks each placement that is chosen may run, lower ones
    of less power after the chosen one.

    Raises InputError for a component without any option.
    """
    of_reference = layer.choice is None or layer.choice.of == MODULE
    states = _States.of(layer, system, alike, reference_only=of_reference and several == 1)
    most = np.array([-1 if p.max_time_s is None else p.max_time_s for p in system.partitions], dtype=np.int64)
    counts = states.each[placements.module]
    before = first_of(counts)[placements.first]
    parts, start, n = [], 0, len(placements.rows)
    while start < n:
        stop = max(int(np.searchsorted(before, before[start] + OPTIONS_AT_ONCE, side="right")) - 1, start + 1)
        options = _Options.of(placements, alike, states, most, layer.choice, start, min(stop, n))
        at_reference = options.clock == states.reference[placements.module[options.place]]
        best = _best(options, at_reference if of_reference else None, layer.choice)
        if several > 1 and layer.cap is not None:
            options, best = _with_lower(options, states, best, layer.cap, layer.choice, several)
        parts.append(Clocked(*(getattr(options, name)[best] for name in Clocked._fields)))
        start = stop
    nothing = Clocked(*(np.empty(0, dtype=np.int64) for _ in Clocked._fields))
    return Clocked(*(np.concatenate(columns) for columns in zip(nothing, *parts, strict=True)))


def _within_cap(
    of: Placements,
    milliwatts: Ints,
    parts: Ints,
    measured: Measured | None,
    system: System,
    layer: EnergyLayer,
) -> Placements:
    """Let placements ask for their power above idle (mW), and leave out those beyond the highest cap.

    ``milliwatts`` is what a node of each draws by the models, ``parts`` how much of nodes each has at most
    (millionths), ``measured`` what is known of components.
    """
    nodes = {module.name: module.nodes for module in system.modules}
    idle = np.array([idle_milliwatts(layer, {name: 1}) for name in nodes], dtype=np.int64)
    most = highest_milliwatts(layer, nodes)
    asked = _above_idle(milliwatts, idle[of.module], parts)
    if measured is not None:
        known = measured.rows(np.repeat(np.arange(len(of.rows)), np.diff(of.first))).on(of.nodes)
        whole_mw = idle[of.module] * np.where(parts % WHOLE == 0, parts // WHOLE, 0)
        asked = np.where(known >= 0, known - whole_mw, asked)
    asked = np.maximum(asked, 1)  # what asks for nothing fits nowhere
    left = asked <= most
    found = kept(replace(of, demand=np.column_stack((of.demand, asked))), left)
    lost = int(np.count_nonzero((np.diff(found.first) == 0) & (np.diff(of.first) > 0)))
    return replace(found, rejected={**of.rejected, **({POWER_CAP: lost} if lost else {})})


def _above_idle(milliwatts: Ints, idle: Ints, parts: Ints) -> Ints:
    """What parts of nodes draw above idle, mW: one more where the account rounds both, down."""
    nodes, part = np.divmod(parts, WHOLE)
    busy, rest = milliwatts * part, idle * part
    rounded = (busy % WHOLE > 0) | (rest % WHOLE > 0)
    drawn: Ints = (milliwatts - idle) * nodes + busy // WHOLE - rest // WHOLE + rounded
    return drawn


class _Options(NamedTuple):
    """Placements of some components at all clocks; those of one side by side, clocks rising.

    Attributes
    ----------
    place : number of the placement; group : of what one option is chosen.
    run, limit : s; state : place among all states; clock : place among those of its module.
    milliwatts : of a node; joules : of all, NaN: not possible.
    reference_s, own_s : run time at the reference clock for the bounds of choice and of a cap.
    own_limit : time limit at the reference clock, s.
    """

    place: Ints
    group: Ints
    run: Ints
    limit: Ints
    state: Ints
    clock: Ints
    milliwatts: Ints
    joules: Floats
    reference_s: Ints
    own_s: Ints
    own_limit: Ints

    @classmethod
    def of(
        cls,
        of: Placements,
        alike: Alike,
        states: _States,
        most: Ints,
        keys: ChoiceKeys | None,
        start: int,
        stop: int,
    ) -> _Options:
        """Return the options of components ``start`` to ``stop``."""
        places = np.arange(of.first[start], of.first[stop])
        components = np.repeat(np.arange(start, stop), np.diff(of.first[start : stop + 1]))
        times = states.each[of.module[places]]
        again, step = repeated(times)
        place, owner = places[again], components[again]
        module = of.module[place]
        state = states.first[module] + alike.kind[owner] * states.each[module] + step
        alone = keys is None or keys.of == FREQUENCY
        group, reference = (place, place) if alone else (owner, of.first[owner])

        factor, milliwatts = states.factor[state], states.milliwatts[state]
        known = (milliwatts >= 0) & np.isfinite(factor)
        factor = np.where(known, factor, 1.0)
        run, limit = scaled(of.run[place], factor), np.maximum(scaled(of.limit[place], factor), 1)
        if keys is not None and keys.slowdown is not None:
            limit = _cut(limit, keys.slowdown, of.limit[reference])
        top = most[of.partition[place]]
        known &= (top < 0) | (limit <= np.maximum(top, of.limit[place]))
        joules = np.where(known, milliwatts / 1000 * of.nodes[place] * run, np.nan)
        return cls(
            place, group, run, limit, state, states.clock[state], milliwatts, joules,
            of.run[reference], of.run[place], of.limit[place],
        )  # fmt: skip


def _best(options: _Options, allowed: NDArray[np.bool_] | None, keys: ChoiceKeys | None) -> Ints:
    """Return the best option of each group, rising; without a choice the one that is allowed."""
    if keys is None:
        assert allowed is not None
        return np.flatnonzero(allowed)
    joules = options.joules if allowed is None else np.where(allowed, options.joules, np.nan)
    return choose(
        options.group,
        options.run.astype(np.float64),
        joules,
        keys.objective,
        slowdown=keys.slowdown,
        reference_s=options.reference_s.astype(np.float64),
    )


def _with_lower(
    options: _Options,
    states: _States,
    best: Ints,
    cap: CapKeys,
    choice: ChoiceKeys | None,
    several: int,
) -> tuple[_Options, Ints]:
    """Put lower clocks of the same placement behind each best option, evenly down to that of least power.

    Lower is what has no higher clock, of GPUs either, and less power than all that is as fast. Their limits
    are cut to the bound of the cap, so that it holds for components that are killed, too.
    """
    place, number = options.place, np.arange(len(options.place))
    chosen = np.full(int(place.max(initial=-1)) + 1, -1, dtype=np.int64)
    chosen[place[best]] = best
    its = chosen[place]
    lower = (its >= 0) & (number < its) & np.isfinite(options.joules)
    gpu_khz = states.gpu_khz[options.state]
    lower &= (options.milliwatts < options.milliwatts[its]) & (gpu_khz <= gpu_khz[its])
    for bound, reference in (
        (choice.slowdown if choice else None, options.reference_s),
        (cap.slowdown, options.own_s),
    ):
        if bound is not None:
            lower &= options.run <= (1.0 + bound) * reference
    rows = _slower_and_slower(np.flatnonzero(lower), options)
    first = np.searchsorted(place[rows], place[rows])
    rank, each = np.arange(1, len(rows) + 1) - first, np.bincount(place[rows])[place[rows]]
    wanted = np.minimum(several - 1, each)
    rows = rows[rank * wanted // each > (rank - 1) * wanted // each]
    if cap.slowdown is not None:
        limit = _cut(options.limit, cap.slowdown, options.own_limit)
        options = options._replace(limit=np.where(number == its, options.limit, limit))
    found = np.concatenate((best, rows))
    return options, found[np.argsort(place[found], kind="stable")]


def _slower_and_slower(rows: Ints, options: _Options) -> Ints:
    """Sort options by placement, the fastest first, and leave out what draws no less than one before it."""
    rows = rows[np.lexsort((-rows, options.run[rows], options.place[rows]))]
    watts, number = options.milliwatts[rows], np.unique(options.place[rows], return_inverse=True)[1]
    watts = watts - number * (watts.max(initial=0) + 1)  # so that those of the next placement are all below
    before = np.minimum.accumulate(watts)
    left: Ints = rows[np.append(True, watts[1:] < before[:-1])[: len(rows)]]
    return left


def _cut(limit: Ints, slowdown: float, reference: Ints) -> Ints:
    """Return time limits (s) of at most (1 + slowdown) × those of the reference."""
    longest = np.floor((1.0 + slowdown) * reference).astype(np.int64)
    limits: Ints = np.minimum(limit, np.maximum(longest, 1))
    return limits
