"""From the tables of the core to the result: components, timeline, metrics, manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from scheduler_sim.engine.core.state import FAILED
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.metrics.compute import compute
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.columns import NEVER, REPAIRS, Columns, Further, frame
from scheduler_sim.result.result import Result
from scheduler_sim.result.table import Deferred
from scheduler_sim.simulation.checkpoint_account import writing
from scheduler_sim.simulation.component_table import OF_ARRAY, OF_RECORD, OF_TRACE, TEXTS, ComponentTable
from scheduler_sim.simulation.lost import LostRun, lost_runs
from scheduler_sim.simulation.node_parts import part_columns, parts_had, told_apart
from scheduler_sim.simulation.outages import outage_warnings
from scheduler_sim.simulation.plans import Plans
from scheduler_sim.simulation.reasons import ASKED, reason_columns
from scheduler_sim.simulation.rejections import count_rejected, why_rejected
from scheduler_sim.simulation.rules.checkpoints import checkpoint_warnings
from scheduler_sim.simulation.rules.power_saving import switches
from scheduler_sim.simulation.rules.spread import spread_warnings
from scheduler_sim.simulation.run_table import run_table
from scheduler_sim.simulation.slowed import Slowness
from scheduler_sim.simulation.spread import leaf_sizes, spread_columns, topology_told
from scheduler_sim.simulation.suspended import Suspended, can_suspend, suspended_columns
from scheduler_sim.simulation.timeline_table import TimelineTable
from scheduler_sim.simulation.written import written
from scheduler_sim.system.system import System
from scheduler_sim.texts import is_text_column
from scheduler_sim.version import __version__
from scheduler_sim.workload.columns import is_shared, shared
from scheduler_sim.workload.fields import SKIP_REASONS
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models
    from scheduler_sim.energy.budget import Budget
    from scheduler_sim.simulation.metering import Meter

Input = dict[str, str] | Callable[[], dict[str, str]]
"""What tells an input apart, or works it out when somebody asks."""

_DIGESTS: WeakKeyDictionary[Workload, str] = WeakKeyDictionary()
"""Of workloads that are simulated more than once, as in a study."""

TOLD = (
    *(*OF_TRACE, *TEXTS, *ASKED, *OF_RECORD, *OF_ARRAY, "skipped", "nodes"),
    *("hint", "reference_power_w", "allocated_nodes", "measured_power_w"),
)
"""Columns of a workload that a result needs."""


WITH_COLUMNS = {
    "reasons": "slurm",
    "shared": "shared_nodes",
    "devices": "devices",
    "limited": "resource_limits",
}
"""Which part of the core adds which further columns; advance reservations are of two parts."""


NOT_BY_TOPOLOGY = (
    "the policy does not use the topology of the system to choose nodes: the"
    " distances between nodes are only measured (policy.topology: compact uses it)"
)


def build_result(
    core: FullCore,
    table: Mapping[str, Any],
    placements: Placements,
    of_rules: Mapping[str, Any],
    system: System,
    plans: Plans,
    manifest: Callable[[], dict[str, Any]],
    not_honoured: Mapping[str, int],
    operated: Mapping[str, int],
    meter: Meter | None = None,
    budget: Budget | None = None,
    lost: Sequence[LostRun] = (),
    spans: Sequence[Suspended] = (),
    struck: Collection[tuple[int, int]] = (),
    models: Models | None = None,
    reserved: Sequence[Mapping[str, Any]] | None = None,
    repairs: pd.DataFrame | None = None,
    slowed: Slowness | None = None,
) -> Result:
    """Put everything together; ``meter`` counts the energy, ``budget`` is the cap, ``lost`` the lost runs.

    ``spans`` are those in which components were suspended, ``slowed`` those in which they were slowed;
    ``repairs`` is what was changed in the trace when it was read;
    ``reserved`` is what there is to tell of advance reservations, None without any;
    ``struck`` are those that failures of nodes ended for good (row in the core, start in s).

    ``table`` has the columns TOLD; ``manifest`` returns what :func:`manifest_of` does, when somebody asks;
    ``operated`` how many were ``requeued``, and ``held_back`` after they had been in the queue, and
    ran when their limits were changed (``limits_changed``), ran longer than the limit to which theirs was
    ``shortened``, and waited while their partition or number
    of nodes was ``updated``;
    ``of_rules`` are columns that rules of the run add;
    how many ``units`` there are; how many were ``shifted`` to cheap or clean hours.
    """
    made = ComponentTable(core, table, placements, system)
    told: dict[str, Any] = {}
    reasons, parts, shared = dict[str, Any](), dict[str, Any](), dict[str, dict[str, float]]()
    if has(core, "slurm"):
        told["reasons"] = True
        reasons = reason_columns(core, table, placements, system)
    reasons = _in_file(reasons | dict(of_rules), placements)
    if has(core, "resource_limits"):
        told["limited"] = True
    if meter is None and switches(core) is not None:
        told["switched"] = True
    if reserved is not None:
        told["reserved"] = reserved
    if has(core, "shared_nodes"):
        told["shared_nodes"] = apart = told_apart(system)
        shared = {name: there for name, there in apart.items() if system.module(name).shared}
        parts = _in_file(part_columns(core, placements, system), placements)
        told |= {"devices": True} if has(core, "devices") else {}
    if system.topology is not None:
        told["topology"] = topology_told(system)
        parts |= spread_columns(system, made.known["module"], (reasons | parts)["node_list"])
    of_parts: dict[str, Any] = {name: has(core, part) for name, part in WITH_COLUMNS.items()}
    of_parts["switched"] = switches(core) is not None
    further = Further(**of_parts)._replace(
        reserved=reserved is not None,
        suspended=can_suspend(core),
        slowed=slowed is not None,
        clocked=meter is not None and meter.tells_gpus,
        spread="topology" in told,
        recorded=made.recorded is not None,
        carried=made.carried,
        arrays=made.arrays,
    )
    if further.recorded:
        told["recorded"] = True
    if made.arrays:
        told["arrays"] = True
    if made.carried:
        told["carried"] = dict(made.carried)
    if repairs is not None:
        repairs = frame({one.name: repairs[one.name] for one in REPAIRS}, REPAIRS)
        told["repaired"] = {str(kind): int(n) for kind, n in repairs["kind"].value_counts(sort=False).items()}
    suspended = dict[str, Any]()
    if further.suspended:
        told["suspended"] = True
        count = len(placements.rows)
        found = suspended_columns(spans, np.arange(count), np.asarray(core.jobs["start"])[:count])
        suspended = _in_file(found, placements)
    if slowed is not None:
        told["slowed"] = True
        count, jobs = len(placements.rows), np.asarray(core.jobs)
        place = core.placements[jobs["placed"][:count]]
        found = slowed.columns(np.arange(count), jobs["start"][:count], place["module"], place["nodes"])
        suspended |= _in_file(found, placements)
    if further.clocked:
        suspended["gpu_frequency_khz"] = np.zeros(len(placements.rows), dtype=np.int64)
    components: Deferred | pd.DataFrame = (deferred := made.deferred(reasons | parts | suspended, further))
    known: Columns = made.known | parts | suspended
    rows, milliwatts, energy = written(core), None, None
    of_lost = (
        lost_runs(lost, placements, system, spans if further.suspended else None, slowed) if lost else None
    )
    if meter is not None:
        known = components = deferred.frame()
        metered, milliwatts, energy, described = meter.read(
            components,
            _clocks(core, placements),
            placements,
            table,
            np.column_stack(list(rows.values())),
            of_lost,
            budget,
            parts_had(components, told, system) if "shared_nodes" in told else None,
            switched=further.switched,
        )
        rows = dict(zip(rows, metered.T, strict=True))
        told["energy"] = described
    timeline = TimelineTable(rows, milliwatts, system, further)
    runs = run_table(
        known,
        of_lost,
        _failed(core, placements, struck),
        (lambda: parts_had(deferred.frame(), told, system)) if "shared_nodes" in told else None,
        writing(core, placements),
    )
    told |= {} if runs is None else {"runs": True}
    nothing = {} if models is None else _unmatched(models, system, table, placements)
    told |= {"unmatched": nothing} if nothing else {}
    modules = {module.name: module.nodes for module in system.modules}
    counts: dict[str, Any] = {
        "skipped": int(np.count_nonzero(table["skipped"])),
        "not_honoured": dict(not_honoured),
        **_details(core, table, placements),
        **(_spread(core, placements) if has(core, "cons_tres") else resized(core, placements)),
        **({"unmatched": {kind: len(names) for kind, names in nothing.items()}} if nothing else {}),
        **{name: count for name, count in operated.items() if count},
    }
    plans = plans.in_file_order(placements.file_order)
    metrics = compute(
        known,
        timeline.of_modules,
        modules=modules,
        edges=plans.edges,
        offset=plans.offset,
        appointment=plans.appointment,
        counts=counts,
        energy=energy,
        warnings=[
            *outage_warnings(counts),
            *checkpoint_warnings(counts),
            *spread_warnings(counts),
            *(() if models is None else models.warnings(list(modules))),
            *([NOT_BY_TOPOLOGY] if "topology" in told and not _goes_by_topology(core) else []),
        ],
        shared=shared,
        system=system.to_dict() if shared else None,
        runs=runs,
        leaves=leaf_sizes(system),
    )
    told |= {"modules": modules, "counts": metrics["counts"]}
    return Result(
        components,
        timeline.deferred(),
        metrics,
        lambda: {**manifest(), **told},
        runs,
        repairs if "repaired" in told else None,
    )


def _failed(core: FullCore, placements: Placements, struck: Collection[tuple[int, int]]) -> np.ndarray:
    """bool[n], in the order of the file: whether a failure of nodes ended a component."""
    failed = np.zeros(len(placements.rows), dtype=bool)
    for row, start in struck:
        failed[row] = core.jobs[row].state == FAILED and core.jobs[row].start == start
    return failed if placements.file_order is None else failed[placements.file_order]


def _in_file(columns: dict[str, Any], placements: Placements) -> dict[str, Any]:
    """Columns in the order of the file, of components in that of the core."""
    back = placements.file_order
    return columns if back is None else {name: values[back] for name, values in columns.items()}


def _unmatched(
    models: Models, system: System, table: Mapping[str, Any], placements: Placements
) -> dict[str, list[str]]:
    """Return the names in the models that mean nothing on this system, or to these components."""
    from scheduler_sim.applications.unmatched import unmatched

    known = models.names.known(table["app"][placements.in_table], placements.type_number)
    return unmatched(models, [module.name for module in system.modules], known, placements.type_number)


def _details(core: FullCore, table: Mapping[str, Any], placements: Placements) -> dict[str, Any]:
    several = int(np.count_nonzero(np.diff(placements.first) > 1))
    owner = placements.owner
    other = owner[placements.nodes != placements.asked_nodes[owner]] if placements.resizes else owner[:0]
    skipped = np.bincount(table["skipped"])[1:]
    names = [SKIP_REASONS[code] for code in range(1, len(skipped) + 1)] if len(skipped) else []
    details = {
        "skipped_because": {name: int(n) for name, n in zip(names, skipped, strict=True) if n},
        "rejected_because": count_rejected(why_rejected(core, placements)),
        "several_placements": several,
        "several_sizes": len(np.unique(other)),
    }
    return {name: value for name, value in details.items() if value}


def _spread(core: FullCore, placements: Placements) -> dict[str, int]:
    """Count components that Slurm dealt to more nodes than the least they may have; empty without any."""
    comp = core.jobs[: len(placements.rows)]
    ran = comp["start"] >= 0
    more = int((core.placements["nodes"][comp["placed"]] != placements.asked_nodes)[ran].sum())
    return {"several_sizes": more} if more else {}


def resized(core: FullCore, placements: Placements) -> dict[str, dict[str, int]]:
    """Count components that ran on fewer and on more nodes than in the first placement; empty without any."""
    if not placements.resizes:
        return {}
    comp = core.jobs[: len(placements.rows)]
    change = (core.placements["nodes"][comp["placed"]] - placements.asked_nodes)[comp["start"] >= 0]
    counts = {"fewer_nodes": int((change < 0).sum()), "more_nodes": int((change > 0).sum())}
    return {"resized": counts} if any(counts.values()) else {}


def manifest_of(
    system: System,
    policy: Policy,
    workload: Mapping[str, Any],
    trace: Workload,
    inputs: Sequence[Input],
    seed: int,
    models: Models | None = None,
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
        "policy": policy.to_dict(),
        "workload": dict(workload),
        **({"models": models.to_dict()} if models is not None else {}),
        "trace": {"unix_start_time": start} if start is not None else {},
        "inputs": [one() if callable(one) else one for one in inputs],
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
    """A column that says the same in all rows counts once, with how often."""
    digest = hashlib.sha256()
    for name, column in (workload.columns | workload.carried_columns).items():
        digest.update(name.encode())
        numbers, dtype = column, getattr(column, "dtype", None)
        if is_text_column(column):
            digest.update("\0".join(map(str, column.categories)).encode("utf-8", "surrogateescape"))
            numbers, dtype = column.codes, np.dtype(np.int64)
        if len(numbers) == 1 or is_shared(numbers := shared(numbers)):
            digest.update(f"{len(numbers)} times".encode())
            numbers = numbers[:1]
        digest.update(np.ascontiguousarray(numbers, dtype=dtype).data)
    return digest.hexdigest()


def _clocks(core: FullCore, placements: Placements) -> np.ndarray | None:
    """The clock (its place) of each component where it ran, else in its first placement; -1: it has none.

    In the order of the file; None where none was chosen.
    """
    if placements.clock is None:
        return None
    clock = np.full(len(placements.rows), NEVER)
    comp = core.jobs[: len(clock)]
    able = np.diff(placements.first) > 0
    ran = able & (comp["start"] != NEVER)
    place = placements.first[:-1] + np.where(ran, comp["placed"] - comp["first"], 0)
    clock[able] = placements.clock[place[able]]
    return clock if placements.file_order is None else clock[placements.file_order]


def _goes_by_topology(core: FullCore) -> bool:
    """Whether nodes were chosen by where they lie."""
    return has(core, "topology") or has(core, "leaves")
