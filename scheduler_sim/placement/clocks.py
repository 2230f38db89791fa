"""P-states, and the module, of each component, chosen by energy before anything is scheduled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.applications.models import scaled
from scheduler_sim.energy.alike import Alike, node_milliwatts
from scheduler_sim.energy.choice import choose
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.energy.layer_keys import FREQUENCY, MODULE, ChoiceKeys
from scheduler_sim.energy.pstates import Array, Ints
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.placement.table import Placements

OPTIONS_AT_ONCE = 1 << 20


class Clocked(NamedTuple):
    """The placements that are left, in order: numbers, run times (s), limits (s) and P-states (kHz)."""

    place: Ints
    run: Ints
    limit: Ints
    khz: Ints


class _States(NamedTuple):
    """Every kind of component in every P-state of every module, one after the other.

    ``first``: where a module begins; ``each``: how many P-states it has; within it kind after kind.
    """

    first: Ints
    each: Ints
    khz: Ints
    factor: Array
    milliwatts: Ints

    @classmethod
    def of(cls, layer: EnergyLayer, system: System, alike: Alike, *, reference_only: bool) -> _States:
        khz, factor, milliwatts, count = [], [], [], []
        for module in system.modules:
            only = np.array([layer.profiles[module.name].reference_khz]) if reference_only else None
            made = alike.on(layer, module.name, only)
            khz.append(np.tile(made.khz, len(alike.app)))
            factor.append(made.time_factor.ravel())
            milliwatts.append(node_milliwatts(made, module.name).ravel())
            count.append(len(made.khz))
        sizes = np.array([len(one) for one in khz], dtype=np.int64)
        return cls(
            np.cumsum(sizes) - sizes,
            np.array(count, dtype=np.int64),
            np.concatenate(khz),
            np.concatenate(factor),
            np.concatenate(milliwatts),
        )


def clocked(placements: Placements, workload: Workload, system: System, layer: EnergyLayer) -> Clocked:
    """Choose among the placements of each component and the P-states of their modules.

    Run times and limits follow the clock, rounded up to whole seconds, before anything is chosen; so a bound
    on the slowdown holds for the seconds that are simulated. Where there is one, a limit is at most
    (1 + slowdown) × that of the reference. A P-state that takes a limit beyond the MaxTime of its partition
    is not possible.

    Raises InputError for a component without any option.
    """
    keys = layer.choice
    assert keys is not None
    app, hint, stated = (
        _column(workload, name, placements.rows) for name in ("app", "hint", "reference_power_w")
    )
    alike = Alike.of(app, hint, stated)
    states = _States.of(layer, system, alike, reference_only=keys.of == MODULE)
    most = np.array([-1 if p.max_time_s is None else p.max_time_s for p in system.partitions], dtype=np.int64)
    counts = states.each[placements.module]
    before = np.concatenate(([0], np.cumsum(counts)))[placements.first]
    parts, start, n = [], 0, len(placements.rows)
    while start < n:
        stop = max(int(np.searchsorted(before, before[start] + OPTIONS_AT_ONCE, side="right")) - 1, start + 1)
        parts.append(_chosen(placements, alike, states, most, keys, start, min(stop, n)))
        start = stop
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return Clocked(nothing, nothing, nothing, nothing)
    return Clocked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def with_clocks(placements: Placements, made: Clocked) -> Placements:
    """Return the placements that are left, at the P-states chosen."""
    owner = np.repeat(np.arange(len(placements.rows)), np.diff(placements.first))
    counts = np.bincount(owner[made.place], minlength=len(placements.rows))
    left = np.zeros(len(owner), dtype=bool)
    left[made.place] = True
    of = placements
    return replace(
        of,
        first=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        run=made.run,
        limit=made.limit,
        cost=of.cost[made.place] * made.limit / of.limit[made.place],
        khz=made.khz,
        of_nodes=None if of.of_nodes is None else of.of_nodes.picked(left),
        **{name: getattr(of, name)[made.place] for name in ("module", "partition", "nodes", "demand")},
    )


def _chosen(
    of: Placements, alike: Alike, states: _States, most: Ints, keys: ChoiceKeys, start: int, stop: int
) -> Clocked:
    """Choose for components ``start`` to ``stop``."""
    places = np.arange(of.first[start], of.first[stop])
    components = np.repeat(np.arange(start, stop), np.diff(of.first[start : stop + 1]))
    times = states.each[of.module[places]]
    place, owner = np.repeat(places, times), np.repeat(components, times)
    step = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
    module = of.module[place]
    state = states.first[module] + alike.kind[owner] * states.each[module] + step
    group, reference = (place, place) if keys.of == FREQUENCY else (owner, of.first[owner])

    factor, milliwatts = states.factor[state], states.milliwatts[state]
    known = (milliwatts >= 0) & np.isfinite(factor)
    factor = np.where(known, factor, 1.0)
    run, limit = scaled(of.run[place], factor), np.maximum(scaled(of.limit[place], factor), 1)
    if keys.slowdown is not None:
        longest = np.floor((1.0 + keys.slowdown) * of.limit[reference]).astype(np.int64)
        limit = np.minimum(limit, np.maximum(longest, 1))
    top = most[of.partition[place]]
    known &= (top < 0) | (limit <= np.maximum(top, of.limit[place]))
    joules = np.where(known, milliwatts / 1000 * of.nodes[place] * run, np.nan)
    best = choose(
        group,
        run.astype(np.float64),
        joules,
        keys.objective,
        slowdown=keys.slowdown,
        reference_s=of.run[reference].astype(np.float64),
    )
    return Clocked(place[best], run[best], limit[best], states.khz[state[best]])


def _column(workload: Workload, name: str, rows: Ints) -> Any:
    column = workload.table[name].array
    if isinstance(column, pd.Categorical):
        return pd.Categorical.from_codes(np.asarray(column.codes)[rows], column.categories)
    return np.asarray(column)[rows]
