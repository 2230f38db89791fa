"""What jobs of a ``sacct`` dump have, or ask for, of their nodes: memory, cores, GPUs, other resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.workload.sacct_columns import Columns
from scheduler_sim.workload.sacct_text import Tres
from scheduler_sim.workload.validation import MAX_AMOUNT

#: Columns of trackable resources: what a job had goes before what it asked for.
TRES = ("AllocTRES", "ReqTRES")
_CPUS = ("AllocCPUS", "NCPUS", "ReqCPUS")


def parts_of_nodes(columns: Columns, nodes: np.ndarray) -> dict[str, Any]:
    """Return the columns of a workload on this, of jobs with so many nodes (int64[rows])."""
    size = np.maximum(nodes, 1)
    gpus, gres = _gpus_and_others(columns, size)
    cores = _cores(columns)
    return {
        "memory_kb": _memory(columns, size, cores),
        "cores": _on_each(cores, size),
        "gpus": _on_each(gpus, size),
        "gres": gres,
    }


def of_tres(columns: Columns, column: str, part: str) -> np.ndarray:
    """Return int64[rows], one of the numbers in a column of trackable resources, -1 where it is not said."""
    if column not in columns:
        return np.full(len(columns), -1, dtype=np.int64)
    said, codes = columns.mapped(column)
    counts: np.ndarray = np.array([getattr(one, part) for one in said], dtype=np.int64)[codes]
    return counts


def had_types(columns: Columns) -> np.ndarray:
    """Return bool[rows]: which had GPUs of a type, with nothing in the dump to say if they asked for it."""
    if "AllocTRES" not in columns or any(name in columns for name in ("ReqTRES", "ReqGRES")):
        return np.zeros(len(columns), dtype=bool)
    said, codes = columns.mapped("AllocTRES")
    had: np.ndarray = np.array([bool(one.types) for one in said], dtype=bool)[codes]
    if "SubmitLine" in columns:
        asked, codes = columns.mapped("SubmitLine")
        had &= ~np.array([bool(whole.types or each.types) for whole, each in asked], dtype=bool)[codes]
    return had


def _on_each(amount: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return what is had on each node of an amount on all of them, rounded up; negative stays."""
    return np.where(amount < 0, amount, -(-amount // nodes))


def _memory(columns: Columns, nodes: np.ndarray, cores: np.ndarray) -> np.ndarray:
    """Return the memory asked for on each node, KB rounded up; -1 = none."""
    if "ReqMem" not in columns:
        return _on_each(of_tres(columns, "ReqTRES", "kb"), nodes)
    said, codes = columns.mapped("ReqMem")
    kb = np.array([one.kb for one in said], dtype=np.int64)[codes]
    per = np.array([one.per for one in said], dtype=object)[codes]
    cpus = np.where(per == "cpu", np.maximum(cores, 1), 1)
    if (over := kb > MAX_AMOUNT // cpus).any():
        rows = np.flatnonzero(over)
        message = f"more memory than can be counted for {cpus[rows[0]]} CPUs"
        raise columns.error(message, "ReqMem", rows, "less")
    return np.where(per == "node", kb, _on_each(kb * cpus, nodes))


def _cores(columns: Columns) -> np.ndarray:
    """Return the CPUs of a job on all its nodes; -1 = not said."""
    cores = np.full(len(columns), -1, dtype=np.int64)
    for said in (
        *(columns.numbers_of(column) for column in _CPUS),
        *(of_tres(columns, column, "cpus") for column in TRES),
    ):
        cores = np.where(cores > 0, cores, said)
    return cores


def _gpus_and_others(columns: Columns, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the GPUs of a job on all its nodes (-1 = not said), and a list of the rest of each node.

    That are the types of GPUs that were asked for, and other resources.
    """
    gpus = np.full(len(columns), -1, dtype=np.int64)
    others, types = (np.full(len(columns), "", dtype=object) for _ in range(2))
    licences_elsewhere = "Licenses" in columns
    for source in _resources(columns):
        texts, codes = np.array([one.types for one in source.said], dtype=object), source.codes
        number = np.array([one.gpus for one in source.said], dtype=np.int64)[codes]
        number = np.where(source.on_each_node & (number > 0), number * nodes, number)
        gpus = np.where(gpus >= 0, gpus, number)
        if source.asked:
            types = np.where(types != "", types, texts[codes])
        others = np.where(others != "", others, _others(source, nodes, licences_elsewhere))
    between = np.where((types != "") & (others != ""), ",", "")
    return gpus, types + between + others


class Source(NamedTuple):
    """What a column says of resources: its spellings, and which of them each row has."""

    said: list[Tres]
    codes: np.ndarray
    on_each_node: bool  # else of all nodes together
    asked: bool  # else what the job had


def _resources(columns: Columns) -> Iterator[Source]:
    """Yield what each source says, the best first.

    TRES name GPUs only where the site accounts them; the options of the submission always do.
    """
    for column in (*TRES, "AllocGRES", "ReqGRES"):
        if column in columns:
            yield Source(*columns.mapped(column), column == "ReqGRES", column.startswith("Req"))
    if "SubmitLine" in columns:
        options, codes = columns.mapped("SubmitLine")
        yield Source([whole for whole, _ in options], codes, False, True)
        yield Source([each for _, each in options], codes, True, True)


def _others(source: Source, nodes: np.ndarray, licences_elsewhere: bool) -> np.ndarray:
    """The other resources on each node, each spelling and number of nodes once."""
    found = np.full(len(nodes), "", dtype=object)
    there = np.array([bool(one.others) for one in source.said], dtype=bool)[source.codes]
    over = np.ones_like(nodes) if source.on_each_node else nodes
    if there.any():
        times = int(over.max()) + 1
        pairs, which = np.unique(source.codes[there] * times + over[there], return_inverse=True)
        texts = [_listed(source.said[i // times], i % times, licences_elsewhere) for i in pairs.tolist()]
        found[there] = np.array(texts, dtype=object)[which]
    return found


def _listed(said: Tres, nodes: int, licences_elsewhere: bool) -> str:
    """Other resources as a list, generic ones as had on each of so many nodes, rounded up.

    Without licences where these have a column of their own.
    """
    items = []
    for item in said.others.split(","):
        name, _, number = item.rpartition(":")
        if name.startswith("gres/"):
            items.append(f"{name}:{-(-int(number) // nodes)}")
        elif not (licences_elsewhere and name.startswith("license/")):
            items.append(item)
    return ",".join(items)
