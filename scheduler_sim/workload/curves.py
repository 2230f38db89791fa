"""What one plots of a trace, or what a law expects of it: shares, distributions, load over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.units import DAY
from scheduler_sim.workload.local_time import local_clock
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.summary import columns_of, header_nodes, quantities_of, work_over_time
from scheduler_sim.workload.table import Workload

SLICES = 60
"""Slices of the submission span in which the load is counted."""

NO_MODULE = "none given"
"""Module of components whose partition the trace leaves to the system."""


class Cdf(NamedTuple):
    """Cumulative distribution: ``share[i]`` (0 to 1) of all is at most ``x[i]``; ``x`` ascends."""

    x: np.ndarray
    share: np.ndarray


@dataclass(frozen=True, slots=True)
class TraceCurves:
    """What one plots of a trace, or what a model's law expects of it; None where that is not known.

    Parameters
    ----------
    name : trace, module or law
    jobs, components : how many there are; nodes : of the machine
    hour_shares : float64[24], share of submissions in each hour of the day
    weekday_shares : float64[7], share of submissions on each day; Monday first if ``calendar``,
        else the first day is that of second 0 of the trace
    sizes (nodes), time_limits, run_times, inter_arrivals (s), accuracy (run time / time limit) :
        distributions over the components; limits and accuracy over those with a limit of their own
    load_edges : int64[n + 1], s on the trace's clock; load : float64[n], work submitted in each
        slice (nodes × run time) over its length: over that of ``nodes`` if they are known, else in nodes
    unix_start : Unix time of second 0 of the trace
    """

    name: str
    jobs: int | None = None
    components: int | None = None
    nodes: int | None = None
    hour_shares: np.ndarray | None = None
    weekday_shares: np.ndarray | None = None
    calendar: bool = False
    sizes: Cdf | None = None
    time_limits: Cdf | None = None
    run_times: Cdf | None = None
    accuracy: Cdf | None = None
    inter_arrivals: Cdf | None = None
    load_edges: np.ndarray | None = None
    load: np.ndarray | None = None
    unix_start: int | None = None


def curves_of(workload: Workload, nodes: int | None = None, module: str | None = None) -> TraceCurves:
    """Return the curves of what is simulated of a workload.

    Parameters
    ----------
    workload : the trace
    nodes : nodes of the machine, or of the module; None = of the machine, as the header says
    module : only components that name this partition first; None = all

    Raises
    ------
    InputError
        for a module that no component names first.
    """
    live = workload.columns["skipped"] == 0
    name = Path(workload.source.name).name
    if module is not None:
        modules = module_names(workload)
        if module not in modules:
            raise InputError(f"module: found {module!r}; allowed: {', '.join(modules)}")
        names, code = _first_names(workload)
        live, name = live & (code == names.index(module)), module
    else:
        nodes = nodes or header_nodes(workload)
    column = columns_of(workload, live)
    cdf = {quantity: _cdf(values) for quantity, values in quantities_of(column).items()}
    clock, calendar = local_clock(workload.source, column["submit_time"])
    edges, _, work = work_over_time(column, SLICES)
    return TraceCurves(
        name=name,
        jobs=len(np.unique(column["modular_job_id"])),
        components=len(clock),
        nodes=nodes,
        hour_shares=_shares(clock // 3600, 24),
        weekday_shares=_shares(clock // DAY, 7),
        calendar=calendar,
        sizes=cdf["nodes"],
        time_limits=cdf["time_limit"],
        run_times=cdf["run_time"],
        accuracy=cdf["accuracy"],
        inter_arrivals=cdf["inter_arrival"],
        load_edges=edges if len(work) else None,
        load=work / (np.diff(edges) * (nodes or 1)) if len(work) else None,
        unix_start=workload.source.header_number("UnixStartTime") if calendar else None,
    )


def curves_by_module(workload: Workload) -> list[TraceCurves]:
    """Return the curves of each module alone, in the order of :func:`module_names`."""
    return [curves_of(workload, module=name) for name in module_names(workload)]


def module_names(workload: Workload) -> list[str]:
    """Return the partitions that simulated components name first, sorted by name."""
    names, code = _first_names(workload)
    live = workload.columns["skipped"] == 0
    return [names[i] for i in np.unique(code[live])]


def _first_names(workload: Workload) -> tuple[list[str], np.ndarray]:
    """Return the names that come first in a partition list, sorted, and which of them each row has."""
    column = workload.columns["partition"]
    firsts = [str(text).split(",")[0].strip() for text in column.categories]
    firsts = [NO_MODULE if is_missing(first) else first for first in firsts]
    names = sorted(set(firsts))
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place[first] for first in firsts], dtype=np.int64)[column.codes]


def _cdf(values: np.ndarray) -> Cdf | None:
    if not len(values):
        return None
    x, counts = np.unique(values, return_counts=True)
    return Cdf(x, np.cumsum(counts) / len(values))


def _shares(number: np.ndarray, parts: int) -> np.ndarray | None:
    return np.bincount(number % parts, minlength=parts) / len(number) if len(number) else None
