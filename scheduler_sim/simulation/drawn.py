"""What each component draws at the P-state that it ran at, and from where that is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.energy.accounting import MILLI
from scheduler_sim.energy.alike import Alike, node_milliwatts
from scheduler_sim.energy.expand import LEARNT, MEASURED, ORIGINS, SIGNATURE
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.energy.learnt import by_level
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_use import of_parts
from scheduler_sim.result.slowing import energy_saved
from scheduler_sim.system.system import System

Ints = np.ndarray


class Drawn(NamedTuple):
    """What n components draw.

    Attributes
    ----------
    khz : int64[n], P-state, kHz.
    gpu_khz : int64[n], clock of the GPUs, kHz; 0 where that is not told apart; None: it is so nowhere.
    milliwatts : int64[n], mean power of all nodes, 0 where one never ran.
    origin : int8[n], place in ORIGINS, also of one that never ran.
    components, node_seconds : int64[origins], how many of those that ran have their power from where, and how
        much work they were.
    without : node-seconds of each application that has no signature where it ran, the most first; None where
        there are no signatures at all.
    """

    khz: Ints
    gpu_khz: Ints | None
    milliwatts: Ints
    origin: np.ndarray
    components: Ints
    node_seconds: Ints
    without: dict[str, int] | None

    def counted(self) -> dict[str, int]:
        """Return how many components have their power from where, of what there is."""
        return {name: n for name, n in zip(ORIGINS, self.components.tolist(), strict=True) if n}

    def learnt_from(self, level: Ints) -> dict[str, int]:
        """Return of how many components the power was learnt of groups of which of LEVELS, of what there is.

        ``level`` : int64[n], place in LEVELS. The innermost come first.
        """
        return by_level(level[(self.origin == LEARNT) & (self.milliwatts > 0)])

    def shares(self) -> dict[str, dict[str, Any]]:
        """Return components, node-seconds and share of all of them, by where the power is from."""
        return origin_shares(self.components, self.node_seconds)


def origin_shares(components: Ints, node_seconds: Ints) -> dict[str, dict[str, Any]]:
    """Return what ``power_from`` of the metrics has; the share of nothing is None."""
    total = int(node_seconds.sum())
    return {
        name.replace(" ", "_"): {"components": n, "node_seconds": work, "share": ratio(work, total)}
        for name, n, work in zip(ORIGINS, components.tolist(), node_seconds.tolist(), strict=True)
    }


def tells_gpus(layer: EnergyLayer, system: System) -> bool:
    """Whether clocks of GPUs are told apart on any module."""
    return any(bool(layer.clocks(module.name).gpu_khz.any()) for module in system.modules)


def drawn(
    layer: EnergyLayer,
    system: System,
    components: pd.DataFrame,
    alike: Alike,
    clock: Ints | None,
    parts: Ints | None = None,
    measured: Ints | None = None,
) -> Drawn:
    """Return what each component draws at its clock (its place; -1, or None: the reference of its module).

    ``parts`` are the nodes that each had, in millionths; None: whole ones. ``measured`` is what each is known
    to draw, mW of all its nodes, below 0: it is not; None: of none it is.
    """
    ran = components["start_time"].to_numpy() != NEVER
    module = np.asarray(components["module"].array.codes)
    khz = np.empty(len(ran), np.int64)
    gpu_khz = np.zeros(len(ran), np.int64) if tells_gpus(layer, system) else None
    power = components["nodes"].to_numpy() * ran
    origin = np.zeros(len(ran), np.int8)
    work = power * (components["end_time"] - components["start_time"]).to_numpy()
    counts, node_seconds = np.zeros((2, len(ORIGINS)), dtype=np.int64)
    without = np.zeros(len(alike.names), dtype=np.int64)
    for number, one in enumerate(system.modules):
        clocks = layer.clocks(one.name)
        own = slice(None) if len(system.modules) == 1 else np.flatnonzero(module == number)
        if not len(power[own]):
            continue
        reference = clocks.reference
        mine = np.array([reference]) if clock is None else np.where(clock[own] < 0, reference, clock[own])
        used = np.unique(mine)
        made = alike.on(layer, one.name, used)
        table, kind = node_milliwatts(made, one.name), alike.kind[own]
        khz[own] = clocks.khz[mine]
        if gpu_khz is not None:
            gpu_khz[own] = clocks.gpu_khz[mine]
        of_node = table[kind, np.searchsorted(used, mine)] if table.size > 1 else table[0, 0]
        power[own] = power[own] * of_node if parts is None else of_parts(of_node, parts[own]) * ran[own]
        of_kind = made.origin[kind]
        if measured is not None:
            known = measured[own] >= 0
            power[own] = np.where(known, measured[own] * ran[own], power[own])
            of_kind = np.where(known, MEASURED, of_kind)
        origin[own] = of_kind
        counts += _summed(of_kind, ran[own], len(ORIGINS))
        node_seconds += _summed(of_kind, work[own], len(ORIGINS))
        need_none = (of_kind == SIGNATURE) | (of_kind == MEASURED)
        without += _summed(kind, np.where(need_none, 0, work[own]), len(without))
    return Drawn(
        khz,
        gpu_khz,
        power,
        origin,
        counts,
        node_seconds,
        None if layer.signatures is None else _by_application(alike, without),
    )


def _summed(place: Ints, values: Ints, length: int) -> Ints:
    """Sum whole numbers by place, exactly."""
    found = np.zeros(length, dtype=np.int64)
    np.add.at(found, place, values)
    return found


def _by_application(alike: Alike, work: Ints) -> dict[str, int]:
    """Return the work of each application that has some, by the first of its names, the most first."""
    found: dict[str, int] = {}
    for names, seconds in zip(alike.names, work.tolist(), strict=True):
        if seconds:
            name = names[0] if names else ""
            found[name] = found.get(name, 0) + seconds
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def with_energy(components: pd.DataFrame, made: Drawn) -> None:
    """Fill in the columns that the energy layer knows."""
    ran = components["start_time"].to_numpy() != NEVER
    worked = components["run_time"].to_numpy()
    if "suspended_time" in components:
        worked = worked - components["suspended_time"].to_numpy()
    millijoules = made.milliwatts * worked
    if "slowed" in components:
        millijoules = millijoules - energy_saved(components, made.milliwatts / MILLI)
    joules = millijoules / MILLI
    components["frequency_khz"] = made.khz
    if made.gpu_khz is not None:
        components["gpu_frequency_khz"] = made.gpu_khz
    components["power_w"] = np.where(ran, made.milliwatts / MILLI, np.nan)
    components["energy_j"] = np.where(ran, joules, np.nan)
