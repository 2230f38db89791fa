"""What components ask for, and have, beside nodes, cores and memory, in Slurm's notation of TRES."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints, alike
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.shared_nodes import counted_under_slurm
from scheduler_sim.system.node_resources import GPUS
from scheduler_sim.system.system import NAM, System
from scheduler_sim.texts import TextColumn


def asked_in_all(
    core: FullCore, placements: Placements, place: Ints, able: np.ndarray, system: System
) -> TextColumn:
    """Return ``gres/gpu:a100=2,license/cfd=1`` of each component, as its placement ``place`` asks for.

    Nothing of those that are not ``able`` to run.
    """
    amounts = dict[str, Ints]()
    if has(core, "cons_tres") and able.any():
        amounts |= _generic(core, place, counted_under_slurm(system)[GPUS:])
    for number, resource in enumerate(system.resources if placements.demand.any() and able.any() else ()):
        name = resource.name if resource.kind == NAM else f"license/{resource.name}"
        amounts[name] = placements.demand[place, number]
    return in_notation({name: np.where(able, own, 0) for name, own in amounts.items()}, len(place))


def in_notation(amounts: dict[str, Ints], rows: int) -> TextColumn:
    """Write amounts, int64[rows] by name, as ``name=amount,...``; what is 0 is left out."""
    if not amounts:
        return TextColumn.constant("", rows)
    which, first = alike(list(amounts.values()))
    texts = [
        ",".join(f"{name}={own[row]}" for name, own in amounts.items() if own[row] > 0)
        for row in first.tolist()
    ]
    return TextColumn(which, texts)


def _generic(core: FullCore, place: Ints, kinds: tuple[str, ...]) -> dict[str, Ints]:
    """Generic resources of all nodes together; GPUs under their type where one is named."""
    part = core.cons_tres
    need = part.asked["need"][place]
    of = part.need[need]
    nodes = np.maximum(of["min_nodes"], 1)
    tasks = np.maximum(of["tasks"], nodes)
    total = (
        part.total[need] + part.each[need] * nodes[:, np.newaxis] + part.per_task[need] * tasks[:, np.newaxis]
    )
    typed = np.flatnonzero(of["gpu_kind"] > 0)
    total[typed, of["gpu_kind"][typed]] = total[typed, 0]
    total[typed, 0] = 0
    names = ["gpu", *kinds[1:]]
    return {f"gres/{name}": total[:, kind] for kind, name in enumerate(names)}
