"""Putting a workload on a system into the tables of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine.core.state import HOLD
from scheduler_sim.engine.engine import FullCore, HoldSizes, Sizes, blank, has
from scheduler_sim.engine.rules.dependencies import AFTER, AFTERANY, AFTERNOTOK, AFTEROK
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy import order
from scheduler_sim.simulation.power_cap import PowerCap
from scheduler_sim.simulation.scheme import Scheme
from scheduler_sim.simulation.slurm_load import load_slurm, slurm_sizes
from scheduler_sim.simulation.slurm_rows import SlurmRows
from scheduler_sim.simulation.switching import Switching, put_switching
from scheduler_sim.simulation.terms import Terms, are_asked
from scheduler_sim.simulation.units import Units, room_for_nodes, room_for_rects, write_units
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

KINDS = {
    "AFTER": AFTER,
    "AFTERANY": AFTERANY,
    "AFTEROK": AFTEROK,
    "AFTERNOTOK": AFTERNOTOK,
}
SPARE_RELEASES = 64
"""Room for announced returns of nodes; grown when more are announced."""


def sizes_for(system: System, rows: int, placements: int, releases: int = 0, switched: bool = False) -> Sizes:
    """Room for so many jobs on this system; ``switched``: idle nodes are switched off."""
    nodes = [module.nodes for module in system.modules]
    running = max(min(rows, sum(nodes)), 1) + SPARE_RELEASES + releases + switched * (max(nodes) + 1)
    return Sizes(
        rows=max(rows, 1),
        placements=max(placements, 1),
        modules=len(nodes),
        pools=len(nodes) + len(system.resources),
        nodes=max(nodes),
        columns=len(order.COLUMNS),
        releases=running,
        profile=running + 4 * rows + 8,
        timeline=2 * rows + 8 * len(nodes) + 1024,
    )


def load(
    workload: Workload,
    system: System,
    placements: Placements,
    scheme: Scheme,
    units: Units,
    cap: PowerCap | None = None,
    begin: np.ndarray | None = None,
    switching: Switching | None = None,
) -> FullCore:
    """Return a core that holds the whole workload, nothing of it submitted yet.

    With a power ``cap`` placements ask for one shared resource more than the system has. ``begin``,
    int64[n], s: components may not begin before. ``switching``: when idle nodes are switched off.
    """
    workload = workload if begin is None else _beginning(workload, placements, begin)
    rows, rigid = len(placements.rows), placements.rigid
    edges = edges_between(workload, placements)
    edges["delay"] += units.think[edges["row"]]
    places = rows if rigid else len(placements.module)
    keys = scheme.policy.slurm if scheme.policy.backfill == "slurm" else None
    slurm = None
    if keys:
        numbers = SlurmRows(system, keys)
        trace = numbers.describe(workload, placements)
        slurm = slurm_sizes(numbers, trace, system, keys, places)
        if units.members:  # entries have to be listed, and advance reservations stand in the plan
            beside = 2 * sum(map(len, units.members))
            slurm = slurm._replace(entries=max(slurm.entries, places), records=slurm.records + beside)
        edges = _known(edges, workload.table["dependency_any"].to_numpy()[placements.rows] != 0)
    words = slurm.words if slurm else 0
    booked = int(room_for_nodes(units, workload["nodes"][placements.rows], words).sum())
    room = units.sizes(max(rows, 1), room_for_rects(units, 1 + placements.demand.shape[1]), booked)
    sizes = sizes_for(system, rows, places, cap.changes if cap else 0, switching is not None)
    bound = keys is not None or are_asked(workload, placements.rows)
    core = blank(
        sizes._replace(pools=sizes.pools + (cap is not None)),
        {
            "slurm": slurm,
            "power_saving": switching is not None,
            "coscheduling": room if room.members else None,
            "calls": room.calls,
            "holds": HoldSizes(sizes.rows) if bound else None,
            "dependencies": len(edges),
        },
        scheme.name,
    )
    core.clock.jobs = rows
    submit = workload.table["submit_time"].to_numpy()[placements.rows]
    origin = int(submit[0]) if rows else 0
    core.clock.now = core.clock.origin = origin
    put_system(core, system, origin)
    if cap is not None:
        core.pools[cap.pool].free = cap.highest  # so much there is at some time
    if switching is not None:
        put_switching(core, switching, origin)
    core = scheme.write_rules(core, complex_components=not rigid or bool(units.members))
    where = write_components(core, workload, placements, scheme)
    write_edges(core, edges, workload.table["dependency_any"].to_numpy()[placements.rows] != 0)
    if keys:
        core = load_slurm(core, numbers, trace, system, keys, where)
    write_units(core, units, run_times(placements), scheme.policy)
    if bound and keys is None:
        terms = Terms()
        core = terms.write(core, 0, terms.describe(workload, placements))
    return core


def _beginning(workload: Workload, placements: Placements, begin: np.ndarray) -> Workload:
    """Let a trace ask for begin times."""
    asked = workload["begin_time"].copy()
    later = np.where(begin > workload["submit_time"][placements.rows], begin, -1)
    asked[placements.rows] = np.maximum(asked[placements.rows], later)
    return workload.replace(begin_time=asked)


def run_times(placements: Placements) -> np.ndarray:
    """int64[n], s that components take without a limit, in the first placement that can run."""
    first, able = placements.first[:-1], np.diff(placements.first) > 0
    run = placements.asked_run.copy()
    run[able] = placements.run[first[able]]
    return run


def put_system(core: FullCore, system: System, now: int) -> None:
    """All nodes idle, all shared resources free."""
    for i, module in enumerate(system.modules):
        core.pools[i].free = core.pools[i].short_free = module.nodes
        core.pools[i].short_since = now
    for i, resource in enumerate(system.resources):
        core.pools[len(system.modules) + i].free = resource.amount


def write_components(
    core: FullCore, workload: Workload, placements: Placements, scheme: Scheme, *, at: int = 0, used: int = 0
) -> Any:
    """Write components into rows ``at ..``, their placements from ``used`` on; return the rows of those.

    As long as no component has several, the placement of the one in row i is row i, also if it is rejected.
    """
    table, rows = workload.table, placements.rows
    part = slice(at, at + len(rows))
    if core.rules.complex:
        first, last = used + placements.first[:-1], used + placements.first[1:]
        where = used + np.arange(len(placements.module))
    else:
        able = np.diff(placements.first) > 0
        first = np.arange(part.start, part.stop)
        last, where = first + able, first[able]
    write_placements(core, where, placements, scheme)

    comp = core.jobs
    comp["submit"][part] = table["submit_time"].to_numpy()[rows]
    comp["tier"][part] = placements.tier
    comp["held"][part] = held = table["hold"].to_numpy()[rows] != 0
    comp["missing"][part] = HOLD * placements.held + HOLD * held
    comp["fails"][part] = table["exit_code"].to_numpy()[rows] != 0
    comp["first"][part], comp["last"][part] = first, last
    core.orders.columns[:, part] = columns_of(workload, placements, int(core.clock.origin))
    _write_keys(core, part, scheme)
    return where


def _write_keys(core: FullCore, part: slice, scheme: Scheme) -> None:
    """Keys of the orders that do not depend on time."""
    for name, keys in zip(("key", "second_key"), keys_of(core, part, scheme), strict=True):
        if keys is not None:
            core.jobs[name][part] = keys


def keys_of(core: FullCore, part: slice, scheme: Scheme) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Keys of some components by the two orders; None of one that depends on time, or that there is not."""
    policy, columns = scheme.policy, core.orders.columns[:, part]
    first = second = None
    if not scheme.dynamic:
        first = order.static_keys(str(policy.order), scheme.order_function, columns)
    if policy.backfill_order is not None and not scheme.second_dynamic:
        second = order.static_keys(str(policy.backfill_order), scheme.second_function, columns)
    return first, second


def write_request(core: FullCore, row: int, where: slice, placements: Placements, scheme: Scheme) -> None:
    """Write what one component asks for anew; its placements stand in rows ``where``."""
    comp = core.jobs
    comp["first"][row], comp["last"][row] = where.start, where.stop
    comp["tier"][row] = placements.tier[0]
    core.orders.columns[1:3, row] = placements.asked_limit[0], placements.asked_nodes[0]
    core.orders.columns[4, row] = placements.tier[0]
    if scheme.policy.backfill != "slurm":  # there the key is the priority
        _write_keys(core, slice(row, row + 1), scheme)
    if has(core, "coscheduling"):
        core.coscheduling.member["run"][row], core.coscheduling.member["limit"][row] = (
            placements.run[0],
            placements.asked_limit[0],
        )


def write_placements(core: FullCore, where: Any, placements: Placements, scheme: Scheme) -> None:
    """Write placements into rows ``where``."""
    place = core.placements
    longest = placements.limit + scheme.policy.overrun_s
    duration = np.minimum(placements.run, longest)
    for name, values in (
        ("module", placements.module),
        ("nodes", placements.nodes),
        ("limit", placements.limit),
        ("duration", duration),
        ("killed", placements.run > longest),
        ("cost", placements.cost),
        ("test", np.maximum(duration, 1) if scheme.policy.candidate_time == "run" else placements.limit),
    ):
        place[name][where] = values
    core.demand[where] = placements.demand


def columns_of(workload: Workload, placements: Placements, origin: int) -> np.ndarray:
    """float64[len(order.COLUMNS), n]: what an order may read of each component."""
    table, rows = workload.table, placements.rows
    columns = np.empty((len(order.COLUMNS), len(rows)))
    columns[0] = table["submit_time"].to_numpy()[rows] - origin
    columns[1] = placements.asked_limit
    columns[2] = placements.asked_nodes
    columns[3] = table["memory_kb"].to_numpy()[rows]
    columns[4] = placements.tier
    return columns


def edges_between(workload: Workload, placements: Placements) -> pd.DataFrame:
    """Dependencies as rows of the core: ``row`` waits for ``after_row``, kind as a code."""
    edges = workload.dependencies()
    place = np.full(len(workload), -1, dtype=np.int64)
    place[placements.rows] = np.arange(len(placements.rows))
    return pd.DataFrame(
        {
            "row": place[edges["row"].to_numpy()],
            "after_row": place[edges["after_row"].to_numpy()],
            "kind": edges["kind"].map(KINDS).to_numpy(dtype=np.int64),
            "delay": edges["minutes"].to_numpy() * 60,
        }
    )


def _known(edges: pd.DataFrame, any_will_do: np.ndarray) -> pd.DataFrame:
    """Without what Slurm takes as satisfied: a dependency on a job not known yet, and its alternatives."""
    known = (edges["after_row"] < edges["row"]).to_numpy()
    row = edges["row"].to_numpy()
    kept: pd.DataFrame = edges[known & ~(any_will_do[row] & np.isin(row, row[~known]))]
    return kept


def write_edges(core: FullCore, edges: pd.DataFrame, any_will_do: np.ndarray) -> None:
    """Write the dependencies, by the component waited for; bool[n]: any one of theirs is enough."""
    count, rows = len(edges), np.arange(core.clock.jobs)
    needs = np.bincount(edges["row"], minlength=len(rows))
    if has(core, "slurm"):
        core.slurm.job["satisfiable"][: len(rows)] = np.where(any_will_do & (needs > 0), needs, 1)
    if not count:
        return
    edges = edges.sort_values("after_row", kind="stable")
    core.dependencies["successor"][:count] = edges["row"]
    core.dependencies["kind"][:count] = edges["kind"]
    core.dependencies["delay"][:count] = edges["delay"]
    after = edges["after_row"].to_numpy()
    core.jobs["after"][: len(rows)] = np.searchsorted(after, rows, side="left")
    core.jobs["after_last"][: len(rows)] = np.searchsorted(after, rows, side="right")
    core.jobs["missing"][: len(rows)] += np.where(any_will_do, np.minimum(needs, 1), needs)
