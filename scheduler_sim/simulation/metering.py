"""What a schedule draws and takes: power of every component, of every module over time, and the account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.applications.models import Models
from scheduler_sim.energy.accounting import PARTS, STATES, TOTAL, Account, Use, account_of, milli
from scheduler_sim.energy.alike import Alike
from scheduler_sim.energy.bill import bill
from scheduler_sim.energy.budget import Budget, above
from scheduler_sim.energy.expand import ORIGINS
from scheduler_sim.energy.facility import Facility
from scheduler_sim.energy.layer import SERIES, EnergyLayer, figures_of
from scheduler_sim.energy.measured import Measured
from scheduler_sim.energy.tariff import Series
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.metrics.statistics import rounded
from scheduler_sim.metrics.utilization import window
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_use import of_parts
from scheduler_sim.result.slowing import slowed_of
from scheduler_sim.result.suspensions import spans_of
from scheduler_sim.simulation.drawn import Drawn, drawn, origin_shares, tells_gpus, with_energy
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm, tells_apart
from scheduler_sim.simulation.variability import by_node, varies
from scheduler_sim.system.shared_cores import shares_cores
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

TIME, MODULE, BUSY, SWITCHED = 0, 1, 2, slice(7, 10)
"""Columns of the core's timeline; SWITCHED: nodes off, booting and shutting down, if any ever are."""

Ints = np.ndarray


class Tariffs(NamedTuple):
    """Price (per kWh) and carbon intensity (g per kWh), None without, and facility, on the trace's clock."""

    price: Series | None
    carbon: Series | None
    facility: Facility

    @classmethod
    def of(cls, layer: EnergyLayer, unix_start: int | None, first: int) -> Tariffs:
        """Return the tariffs. Raises InputError for one that begins after the ``first`` submission, s."""
        price, carbon = (layer.series(name, unix_start) for name in SERIES)
        made = cls(price, carbon, layer.facility_of(unix_start))
        for series in (made.price, made.carbon, made.facility.temperature):
            if series is not None:
                series.covers(first, first)
        return made


def refuse_beside_shares(models: Models, system: System, policy: Policy) -> None:
    """Raise ConfigError for what models with energy want and cannot have where jobs share nodes."""
    if not tells_apart(system, policy):
        return
    of_slurm = shares_under_slurm(system, policy)
    layer = models.energy
    cap = None if layer is None else layer.cap
    if models.limited_by_energy and not (of_slurm and layer is not None and layer.choice is None):
        allowed = "a power cap" if of_slurm else "energy without cap and choice"
        raise ConfigError(
            f"models {models.name}: found a power cap or a choice by energy where jobs share nodes, or a"
            f" partition covers part of a module; allowed here: {allowed}"
        )
    if cap is not None and cap.slow_running:
        raise ConfigError("energy.cap.slow_running: found true where jobs share nodes; allowed here: false")
    if of_slurm and shares_cores(system, gang=policy.slurm.gangs):
        raise ConfigError(
            f"models {models.name}: found energy where several jobs have a core at once (OverSubscribe of a"
            " partition); allowed here: models without energy"
        )


def refuse_unmeasured(layer: EnergyLayer, workload: Workload) -> None:
    """Raise InputError where jobs are to draw what was measured, and none of a trace was."""
    if layer.replays and len(workload) and not (workload.columns["measured_power_w"] > 0).any():
        raise InputError(
            "energy.jobs: found 'measured', and no job of the trace has a measured_power_w; allowed: a trace"
            " with some, or 'modelled'"
        )


class Meter:
    """Counts the energy of one simulation, once it is over.

    Raises InputError for a module without a power profile, and for tariffs that begin too late.
    """

    def __init__(
        self, models: Models, system: System, unix_start: int | None, first: int, seed: int = 0
    ) -> None:
        layer = models.energy
        assert layer is not None
        for module in system.modules:
            layer.profiles[module.name]
        self._names, self._layer, self._system = models.names, layer, system
        self._tariffs = Tariffs.of(layer, unix_start, first)
        self._seed = seed

    @property
    def tells_gpus(self) -> bool:
        """Whether clocks of GPUs are told apart on any module."""
        return tells_gpus(self._layer, self._system)

    def read(
        self,
        components: pd.DataFrame,
        clock: Ints | None,
        placements: Placements,
        table: Mapping[str, Any],
        written: Ints,
        lost: pd.DataFrame | None,
        budget: Budget | None,
        parts: Ints | None = None,
        *,
        switched: bool = False,
    ) -> tuple[Ints, Ints, dict[str, Any], dict[str, Any]]:
        """Fill the energy into the components; return timeline, its power, metrics, the manifest's part.

        ``clock`` is that of each component (its place), -1 or None: not chosen; ``table`` is the workload
        that ``placements`` are of, ``written`` the core's timeline, ``lost`` the runs that ended in a
        requeue, of which it fills in ``mw``, ``budget`` the power cap it was to obey, ``parts`` the nodes
        that each component had, in millionths, where it may have parts of them; ``switched``: idle nodes are
        switched off, which the timeline shows.
        """
        jobs = {name: table[name][placements.in_file] for name in self._layer.reads}
        learnt_w, level = self._layer.told(jobs)
        order = placements.file_order
        types = placements.type_number if order is None else placements.type_number[order]
        known = self._names.known(jobs["app"], types)
        alike = Alike.of(known, jobs["hint"], jobs["reference_power_w"], learnt_w)
        measured = Measured.of(jobs) if self._layer.replays else None
        replayed = None if measured is None else measured.on(components["nodes"].to_numpy())
        made = drawn(self._layer, self._system, components, alike, clock, parts, replayed)
        if varies(self._layer, self._system):
            made = by_node(self._layer, self._system, components, made, parts, self._seed)
        with_energy(components, made)
        if lost is not None:
            of_lost = alike._replace(kind=alike.kind[lost["place"]])
            clock_of_lost = lost["clock"].to_numpy()
            of_nodes = None if parts is None else lost["parts"].to_numpy()
            replayed = None if measured is None else measured.rows(lost["place"]).on(lost["nodes"].to_numpy())
            drew = drawn(self._layer, self._system, lost, of_lost, clock_of_lost, of_nodes, replayed)
            lost["mw"] = drew.milliwatts
        account = accounted(
            self._layer, self._system, components, made.milliwatts, written, lost, parts, switched=switched
        )
        return (
            *with_power(written, account, self._system),
            document(account, self._system, self._tariffs, budget) | {"power_from": made.shares()},
            described(
                self._layer,
                self._system,
                made,
                budget,
                switched=switched,
                level=level,
            ),
        )


def accounted(
    layer: EnergyLayer,
    system: System,
    components: pd.DataFrame,
    milliwatts: Ints,
    written: Ints,
    lost: pd.DataFrame | None = None,
    parts: Ints | None = None,
    *,
    switched: bool = False,
) -> Account:
    """Account for a schedule from its first submission to its last end; of none if nothing ran.

    ``written`` is the core's timeline, ``lost`` has the runs that ended in a requeue, and what they drew as
    ``mw``. Nodes out of service draw what an idle one does. With ``parts``, millionths of nodes that
    components have, what is left of a node draws its part of what an idle one does. With ``switched`` the
    timeline tells how many nodes are off, boot and shut down.
    """
    ran = components["start_time"].to_numpy() != NEVER
    span = window(components)
    first = int(written[0, TIME]) if len(written) else 0
    start, end = span if span is not None else (first, first)
    module = np.asarray(components["module"].array.codes)
    runs = [components[name].to_numpy() for name in ("start_time", "end_time", "nodes")]
    others = [] if lost is None else [lost]
    others += suspended_of(components.assign(mw=milliwatts)[ran], lost)
    others += slowed_less(components.assign(mw=milliwatts)[ran], lost)
    for table in others:
        more = [table[name].to_numpy() for name in ("start_time", "end_time", "nodes", "mw")]
        *runs, milliwatts = (np.concatenate(both) for both in zip((*runs, milliwatts), more, strict=True))
        module = np.concatenate((module, table["module"].cat.codes))
        ran = np.concatenate((ran, np.ones(len(table), dtype=bool)))
        parts = None if parts is None else np.concatenate((parts, table["parts"].to_numpy()))
    begin, finish, nodes = runs
    uses = []
    for number, one in enumerate(system.modules):
        profile = layer.profiles[one.name]
        watts = milli(np.array(profile.watts), f"power profile of {one.name}")
        rows = written[written[:, MODULE] == number] if len(system.modules) > 1 else written
        own = ran & (module == number)
        mine = slice(None) if own.all() else own
        time, busy = rows[:, TIME], rows[:, BUSY]
        away = list(rows.T[SWITCHED] if switched else ())
        if not len(time) or time[0] > min(start, first):
            time, busy = np.append(min(start, first), time), np.append(0, busy)
            away = [np.append(0, nodes) for nodes in away]
        none = np.broadcast_to(np.int64(0), time.shape)
        idle = one.nodes - np.sum(away, axis=0, dtype=np.int64) - (busy if parts is None else none)
        states = dict(zip(STATES, (idle, *(away or [none] * 3)), strict=True))
        uses.append(
            Use(
                module=one.name,
                watts=watts,
                transitions=(profile.watts.booting, profile.watts.stopping),
                time=np.ascontiguousarray(time),
                busy=np.ascontiguousarray(busy),
                states=list(states.values()),
                start=begin[mine],
                end=finish[mine],
                nodes=nodes[mine] if others and parts is None else None,
                milliwatts=milliwatts[mine],
                idle=None if parts is None else of_parts(watts[0], parts[mine]),
            )
        )
    return account_of(uses, start, end)


def suspended_of(components: pd.DataFrame, lost: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return the spans in which runs were suspended, with what they had less: nodes, and power as ``mw``."""
    found = []
    for table in (components, lost):
        if table is not None and "suspended" in table:
            row, since, until = spans_of(table)
            away = table.iloc[row].assign(start_time=since, end_time=until)
            found.append(away.assign(nodes=-away["nodes"], mw=-away["mw"]))
    return found


def slowed_less(components: pd.DataFrame, lost: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return the spans in which runs were slowed, with the power that they had less as ``mw``."""
    found = []
    for table in (components, lost):
        if table is not None and "slowed" in table:
            spans = slowed_of(table)
            away = table.iloc[spans.row].assign(start_time=spans.since, end_time=spans.until)
            found.append(away.assign(nodes=0, mw=spans.milliwatts - away["mw"].to_numpy()))
    return found


def with_power(written: Ints, account: Account, system: System) -> tuple[Ints, Ints]:
    """Return the core's timeline and the power at each row, mW; new rows where nothing else changes."""
    alone = len(system.modules) == 1
    milliwatts = np.empty(len(written), dtype=np.int64)
    new, new_milliwatts, kept = [written[:0]], [milliwatts[:0]], np.ones(len(written), dtype=bool)
    nothing = np.zeros((1, written.shape[1]), dtype=np.int64)
    for number, one in enumerate(system.modules):
        own = slice(None) if alone else np.flatnonzero(written[:, MODULE] == number)
        rows = written[own]
        steps = account.milliwatts[one.name]
        recorded = np.ones(len(steps.time), dtype=bool)
        recorded[steps.new] = False
        first_is_ours = len(steps.time) - len(steps.new) > len(rows)  # nothing had happened there at first
        recorded[0] = not first_is_ours
        more = np.flatnonzero(~recorded)
        if len(more):
            before = more - np.arange(len(more))
            held = np.concatenate((nothing, rows))[before]
            held[:, TIME], held[:, MODULE] = steps.time[more], number
            differs = (more == 0) | (steps.power[more] != steps.power[more - 1])
            new.append(held[differs])
            new_milliwatts.append(steps.power[more[differs]])
            milliwatts[own] = steps.power[recorded]
            at = int(np.argmax(recorded))
            same = first_is_ours and len(rows) > 0 and not rows[0, BUSY:].any()
            if same and steps.power[at] == steps.power[at - 1]:  # a job came and went within an instant
                kept[np.argmax(written[:, MODULE] == number)] = False
        else:
            milliwatts[own] = steps.power
    added, power = np.concatenate(new), np.concatenate(new_milliwatts)
    if not len(added):
        return written, milliwatts
    order = np.argsort(added[:, TIME], kind="stable")
    written, milliwatts = written[kept], milliwatts[kept]
    at = np.searchsorted(written[:, TIME], added[order, TIME], side="right")
    return np.insert(written, at, added[order], axis=0), np.insert(milliwatts, at, power[order])


def document(
    account: Account, system: System, tariffs: Tariffs, budget: Budget | None = None
) -> dict[str, Any]:
    """Return what ``energy`` of the metrics has with an energy layer, of the system and by module."""
    nodes = {module.name: module.nodes for module in system.modules}
    pue = tariffs.facility.constant_pue

    def of(name: str) -> dict[str, Any]:
        row = account.energy[account.energy["module"] == name].iloc[0]
        try:
            amount = bill(account, nodes, module=name, **tariffs._asdict())
        except InputError as error:
            raise InputError(f"energy: {error}") from None
        values = {
            **{part: row[part] for part in (*PARTS, "system_j")},
            "mean_power_w": row["mean_w"],
            "max_power_w": row["peak_w"],
            "facility_j": amount.facility_j,
            **({} if pue is not None else {name: getattr(amount, name) for name in BEHIND}),
            "cost": amount.cost,
            "carbon_g": amount.carbon_g,
        }
        return {key: None if value is None else rounded(float(value)) for key, value in values.items()}

    names = [name for name in account.milliwatts if name != TOTAL]
    whole = of(TOTAL)
    if pue is None:
        pue = rounded(whole["facility_j"] / whole["system_j"]) if whole["system_j"] else None
    found = {**whole, "pue": pue, "modules": {name: of(name) for name in names}}
    if budget is not None:
        seconds, joules = above(account, budget)
        found |= {"above_cap_s": seconds, "above_cap_j": rounded(joules)}
    return found


BEHIND = ("conversion_j", "cooling_j", "max_facility_w")
"""What the metrics have of a facility that is more than a PUE."""


def sums(modules: Iterable[str], *, cap: bool, facility: bool) -> dict[str, Any]:
    """Return what :func:`document` has of a system with these modules, all 0."""
    own = (*PARTS, "system_j", "mean_power_w", "max_power_w", "facility_j", "cost", "carbon_g")
    names = (*own, *(BEHIND if facility else ()))
    above_cap = dict.fromkeys(("above_cap_s", "above_cap_j") if cap else (), 0.0)
    each = {module: dict.fromkeys(names, 0.0) for module in modules}
    none = np.zeros(len(ORIGINS), dtype=np.int64)
    power_from = {"power_from": origin_shares(none, none)}
    return {**dict.fromkeys(names, 0.0), "pue": 0.0, "modules": each, **above_cap, **power_from}


def described(
    layer: EnergyLayer,
    system: System,
    made: Drawn,
    budget: Budget | None,
    *,
    switched: bool,
    level: Ints | None = None,
) -> dict[str, Any]:
    """Return what the manifest says of the layer: powers by which a check counts, and how good they are.

    ``level`` is the place in LEVELS of what was learnt for each component, None where nothing was.
    """
    names = [module.name for module in system.modules]
    figures = figures_of(layer.profiles, names)
    modules = {
        name: {"idle_w": profile.idle_w, "typical_w": profile.typical_w}
        | (profile.switching if switched else {})
        | ({"node_sigma": sigma} if (sigma := profile.keys.node_sigma.value) > 0 else {})
        for name in names
        for profile in (layer.profiles[name],)
    }
    cap = {} if budget is None else {"time": budget.time.tolist(), "power_w": budget.watts.tolist()}
    return {
        **({"cap": cap} if cap else {}),
        "profile": layer.profiles.name,
        **({"currency": layer.currency} if layer.currency else {}),
        **({"switched": True} if switched else {}),
        **({} if made.gpu_khz is None else {"gpu_clocks": True}),
        "modules": modules,
        "power_from": made.counted(),
        **({} if level is None else {"learnt_from": made.learnt_from(level)}),
        **({} if made.without is None else {"without_signature": made.without}),
        "quality": figures["quality"].value_counts().sort_index().to_dict(),
        "figures": figures.astype(object).where(figures.notna(), None).to_dict("records"),
    }
