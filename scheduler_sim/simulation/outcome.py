"""From the tables of the core to the result: components, timeline, metrics, manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from scheduler_sim.applications.models import Models
from scheduler_sim.applications.unmatched import unmatched
from scheduler_sim.energy.accounting import MILLI
from scheduler_sim.energy.budget import Budget
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS
from scheduler_sim.metrics.compute import compute
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import (
    NEVER,
    STATES,
    SWITCHED,
    TOTAL,
    component_columns,
    frame,
    timeline_columns,
)
from scheduler_sim.result.result import Result
from scheduler_sim.simulation.lost import LostRun, lost_runs
from scheduler_sim.simulation.metering import Meter
from scheduler_sim.simulation.plans import Plans
from scheduler_sim.simulation.reasons import reason_columns
from scheduler_sim.simulation.written import Written, written
from scheduler_sim.system.system import System
from scheduler_sim.version import __version__
from scheduler_sim.workload.fields import SKIP_REASONS
from scheduler_sim.workload.table import Workload

_DIGESTS: WeakKeyDictionary[Workload, str] = WeakKeyDictionary()
"""Of workloads that are simulated more than once, as in a study."""

TOLD = (
    *("modular_job_id", "component_id", "submit_time", "name", "user", "app", "nodes", "skipped"),
    *("hint", "reference_power_w"),
)
"""Columns of a workload that a result needs."""


def component_table(
    core: FullCore, table: pd.DataFrame, placements: Placements, system: System, *, reasons: bool = False
) -> pd.DataFrame:
    """One row a component, in the order of the file, by the columns of the contract, with ``reasons``."""
    rows = len(placements.rows)
    comp = core.jobs[:rows]
    started = comp["start"] != NEVER
    placed = np.where(started, comp["placed"], 0)
    module = np.where(started, core.placements["module"][placed], _first_module(core, placements))
    nodes = np.where(started, core.placements["nodes"][placed], placements.asked_nodes)
    limit = np.where(
        started, core.placements["limit"][placed], core.orders.columns[1, :rows].astype(np.int64)
    )
    eligible = np.ascontiguousarray(comp["eligible"])
    submit = _column(table, "submit_time", placements)
    resources = np.where(started, comp["wait_resources"], NEVER)
    columns: dict[str, Any] = {
        "modular_job_id": _column(table, "modular_job_id", placements),
        "component_id": _column(table, "component_id", placements),
        **{name: _text(table, name, placements) for name in ("name", "user", "app")},
        "module": _named(module, [m.name for m in system.modules]),
        "nodes": nodes,
        "frequency_khz": np.full(rows, NEVER),
        "submit_time": submit,
        "eligible_time": eligible,
        "start_time": np.ascontiguousarray(comp["start"]),
        "end_time": np.ascontiguousarray(comp["end"]),
        "time_limit": limit,
        "run_time": np.where(started, comp["end"] - comp["start"], NEVER),
        "state": _states(comp["state"]),
        "wait_dependency": np.where(started, eligible - submit, NEVER),
        "wait_priority": np.where(started, comp["start"] - eligible - resources, NEVER),
        "wait_resources": resources,
        **(reason_columns(core, table, placements, system) if reasons else {}),
    }
    places = _file_places(placements)
    if places is not None:
        columns = {name: values[np.argsort(places)] for name, values in columns.items()}
    return frame(columns, component_columns(reasons))


def timeline_table(rows: Written, milliwatts: np.ndarray | None, system: System) -> pd.DataFrame:
    """The timeline of each module, and the total over them, in order of time.

    ``rows`` are the core's, ``milliwatts`` the power at each of them, if that is known.
    """
    names = [*(module.name for module in system.modules), TOTAL]
    if milliwatts is not None:
        rows = {**rows, "milliwatts": milliwatts}
    time, code, values = _of_one(rows) if len(names) == 2 else _of_several(rows, len(names) - 1)
    power = np.full(len(time), np.nan) if milliwatts is None else values.pop("milliwatts") / MILLI
    columns = {
        "time": time,
        "module": _named(code, names),
        "nodes_busy": values["busy"],
        "nodes_reserved_idle": values["held"] if "held" in values else np.zeros(len(time), dtype=np.int64),
        "nodes_down": values["down"],
        "queue_components": values["queued"],
        "queue_nodes": values["queued_nodes"],
        "power_w": power,
        **{
            column.name: values[name]
            for column, name in zip(SWITCHED, SWITCHED_COLUMNS, strict=True)
            if name in values
        },
    }
    return frame(columns, timeline_columns("off" in values))


def _of_one(rows: Written) -> tuple[np.ndarray, np.ndarray, Written]:
    """Return each row for the module, and once more for the system: times, numbers of both, values."""
    time, _, *columns = (_twice(column) for column in rows.values())
    code = np.tile(np.array([0, 1], dtype=np.int8), len(time) // 2)
    return time, code, dict(zip(list(rows)[2:], columns, strict=True))


def _twice(column: np.ndarray) -> np.ndarray:
    both = np.empty((len(column), 2), dtype=np.int64)
    both[:] = column[:, None]
    return both.ravel()


def _of_several(rows: Written, modules: int) -> tuple[np.ndarray, np.ndarray, Written]:
    """Return the rows of the modules, and those of the system behind them at each instant, likewise."""
    time, module, *columns = rows.values()
    values = np.column_stack(columns)
    total_time, total = _totals(time, module, values, modules)
    place = np.argsort(np.concatenate((time, total_time)), kind="stable")
    code = np.concatenate((module, np.full(len(total_time), modules)))[place]
    values = np.concatenate((values, total))[place]
    named = zip(list(rows)[2:], values.T, strict=True)
    time = np.concatenate((time, total_time))[place]
    return time, code, {name: np.ascontiguousarray(column) for name, column in named}


def build_result(
    core: FullCore,
    table: pd.DataFrame,
    placements: Placements,
    system: System,
    plans: Plans,
    manifest: Mapping[str, Any],
    not_honoured: Mapping[str, int],
    operated: Mapping[str, int],
    meter: Meter | None = None,
    budget: Budget | None = None,
    lost: Sequence[LostRun] = (),
    models: Models | None = None,
) -> Result:
    """Put everything together; ``meter`` counts the energy, ``budget`` is the cap, ``lost`` the lost runs.

    ``table`` has the columns TOLD, and those of ``reasons`` if ``manifest`` says that there are any;
    ``manifest`` has version, seed, system, policy and inputs;
    ``operated`` how many were ``requeued``, and ``held_back`` after they had been in the queue, and
    ran longer than the limit to which theirs was ``shortened``, and waited while their partition or number
    of nodes was ``updated``;
    how many ``units`` there are; how many were ``shifted`` to cheap or clean hours.
    """
    components = component_table(core, table, placements, system, reasons=bool(manifest.get("reasons")))
    rows, milliwatts, energy = written(core), None, None
    places = _file_places(placements)
    if meter is not None:
        metered, milliwatts, energy, described = meter.read(
            components,
            _pstates(core, placements, places),
            placements,
            table,
            np.column_stack(list(rows.values())),
            lost_runs(lost, placements, places, system) if lost else None,
            budget,
        )
        rows = dict(zip(rows, metered.T, strict=True))
        manifest = {**manifest, "energy": described}
    timeline = timeline_table(rows, milliwatts, system)
    nothing = {} if models is None else _unmatched(models, system, table, placements)
    manifest = {**manifest, **({"unmatched": nothing} if nothing else {})}
    modules = {module.name: module.nodes for module in system.modules}
    counts: dict[str, Any] = {
        "skipped": int(np.count_nonzero(table["skipped"].to_numpy())),
        "not_honoured": dict(not_honoured),
        **_details(table, placements),
        **resized(core, placements),
        **({"unmatched": {kind: len(names) for kind, names in nothing.items()}} if nothing else {}),
        **{name: count for name, count in operated.items() if count},
    }
    plans = plans.in_file_order(places)
    metrics = compute(
        components,
        timeline,
        modules=modules,
        edges=plans.edges,
        offset=plans.offset,
        appointment=plans.appointment,
        counts=counts,
        energy=energy,
        warnings=() if models is None else models.warnings(list(modules)),
    )
    return Result(
        components, timeline, metrics, {**manifest, "modules": modules, "counts": metrics["counts"]}
    )


def _unmatched(
    models: Models, system: System, table: pd.DataFrame, placements: Placements
) -> dict[str, list[str]]:
    """Return the names in the models that mean nothing on this system, or to these components."""
    known = models.names.known(_text(table, "app", placements), placements.type_number)
    return unmatched(models, [module.name for module in system.modules], known, placements.type_number)


def _details(table: pd.DataFrame, placements: Placements) -> dict[str, Any]:
    several = int(np.count_nonzero(np.diff(placements.first) > 1))
    owner = np.repeat(np.arange(len(placements.rows)), np.diff(placements.first))
    other = owner[placements.nodes != placements.asked_nodes[owner]]
    skipped = np.bincount(table["skipped"].to_numpy())[1:]
    names = [SKIP_REASONS[code] for code in range(1, len(skipped) + 1)] if len(skipped) else []
    details = {
        "skipped_because": {name: int(n) for name, n in zip(names, skipped, strict=True) if n},
        "rejected_because": placements.rejected,
        "several_placements": several,
        "several_sizes": len(np.unique(other)),
    }
    return {name: value for name, value in details.items() if value}


def resized(core: FullCore, placements: Placements) -> dict[str, dict[str, int]]:
    """Count components that ran on fewer and on more nodes than in the first placement; empty without any."""
    comp = core.jobs[: len(placements.rows)]
    change = (core.placements["nodes"][comp["placed"]] - placements.asked_nodes)[comp["start"] >= 0]
    counts = {"fewer_nodes": int((change < 0).sum()), "more_nodes": int((change > 0).sum())}
    return {"resized": counts} if any(counts.values()) else {}


def manifest_of(
    system: System,
    policy: Mapping[str, Any],
    workload: Mapping[str, Any],
    trace: Workload,
    inputs: list[dict[str, str]],
    seed: int,
    models: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What repeats this run, and nothing that differs between two repetitions.

    ``workload`` has the settings under which the trace was read; of the ``trace`` itself
    only what is needed to tell its clock.
    """
    start = trace.source.header_number("UnixStartTime")
    return {
        "version": __version__,
        "seed": seed,
        "system": system.to_dict(),
        "policy": dict(policy),
        "workload": dict(workload),
        **({"models": dict(models)} if models is not None else {}),
        "trace": {"unix_start_time": start} if start is not None else {},
        "inputs": inputs,
    }


def digest_of_file(role: str, path: Path) -> dict[str, str]:
    """Name (without its folder) and sha256 of an input file."""
    with path.open("rb") as file:
        return {"role": role, "name": path.name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def digest_of_workload(workload: Workload) -> dict[str, str]:
    """sha256 of a workload that was built in Python, column by column."""
    if workload not in _DIGESTS:
        _DIGESTS[workload] = _digest_of(workload)
    return {"role": "workload", "name": Path(workload.source.name).name, "sha256": _DIGESTS[workload]}


def _digest_of(workload: Workload) -> str:
    digest = hashlib.sha256()
    for name in workload.table:
        digest.update(str(name).encode())
        column = workload.table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            digest.update("\0".join(map(str, column.cat.categories)).encode("utf-8", "surrogateescape"))
            digest.update(np.ascontiguousarray(column.cat.codes.to_numpy(dtype=np.int64)).tobytes())
        else:
            digest.update(np.ascontiguousarray(column.to_numpy()).tobytes())
    return digest.hexdigest()


def _file_places(placements: Placements) -> np.ndarray | None:
    """Where each component stands in the file, None if the file is in order of submission."""
    rows = placements.rows
    if (np.diff(rows) > 0).all():
        return None
    places = np.empty(len(rows), dtype=np.int64)
    places[np.argsort(rows)] = np.arange(len(rows))
    return places


def _pstates(core: FullCore, placements: Placements, places: np.ndarray | None) -> np.ndarray | None:
    """The P-state (kHz) of each component where it ran, else in its first placement; -1: it has none.

    In the order of the file; None where none was chosen.
    """
    if placements.khz is None:
        return None
    khz = np.full(len(placements.rows), NEVER)
    comp = core.jobs[: len(khz)]
    able = np.diff(placements.first) > 0
    ran = able & (comp["start"] != NEVER)
    place = placements.first[:-1] + np.where(ran, comp["placed"] - comp["first"], 0)
    khz[able] = placements.khz[place[able]]
    return khz if places is None else khz[np.argsort(places)]


def _first_module(core: FullCore, placements: Placements) -> np.ndarray:
    """The module of the first placement; of a rejected component, of the first it asked for."""
    comp = core.jobs[: len(placements.rows)]
    able = comp["first"] < comp["last"]
    return np.where(
        able, core.placements["module"][np.where(able, comp["first"], 0)], placements.asked_module
    )


def _column(table: pd.DataFrame, name: str, placements: Placements) -> np.ndarray:
    return table[name].to_numpy()[placements.rows]


def _text(table: pd.DataFrame, name: str, placements: Placements) -> pd.Categorical:
    texts: Any = table[name].array
    return pd.Categorical.from_codes(np.asarray(texts.codes)[placements.rows], texts.categories)


def _named(codes: np.ndarray, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))


def _states(codes: np.ndarray) -> pd.Categorical:
    over = (name if name in STATES else "PENDING" for name in slot.STATE_NAMES)
    names = np.array([STATES.index(name) for name in over], dtype=np.int8)
    return _named(names[codes], list(STATES))


def _totals(time: np.ndarray, module: np.ndarray, values: np.ndarray, modules: int) -> tuple[Any, Any]:
    """Sum over the modules at each instant; instants at which the sums do not change are left out."""
    change = np.empty_like(values)
    for i in range(modules):
        own = module == i
        change[own] = np.diff(values[own], axis=0, prepend=np.zeros((1, values.shape[1]), dtype=np.int64))
    instants, first = np.unique(time, return_index=True)
    sums = np.cumsum(np.add.reduceat(change, first), axis=0) if len(first) else values[:0]
    differs = np.ones(len(sums), dtype=bool)
    differs[1:] = (np.diff(sums, axis=0) != 0).any(axis=1)
    return instants[differs], sums[differs]
