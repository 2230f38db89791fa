"""Jobs of Frontier: SWF whose size fields mix nodes and cores; its descriptor tells the nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.fields import NO_NODES
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.trace_io import read_native

_DESCRIPTOR = re.compile(r"[^:]+:[^:]*:([1-9][0-9]{0,8})x[0-9]{1,9}")
"""``frontier:excl:2500x112`` : the machine, how nodes are shared, nodes x processors of each."""


def read_frontier(path: str | Path, on_error: str) -> Workload:
    """Read a trace of Frontier: nodes are those of the descriptor, else of the size fields, which is counted.

    Raises TraceError for anything that cannot be read as SWF.
    """
    jobs = read_native(path, "swf", on_error)
    nodes = _described(jobs)
    there = nodes > 0
    skipped = np.where((jobs["skipped"] == NO_NODES) & there, 0, jobs["skipped"]).astype(np.int8)
    jobs = jobs.replace(nodes=np.where(there, nodes, jobs["nodes"]), skipped=skipped)
    if lost := int((~there).sum()):
        note = (
            f"{lost:,} job{'s' * (lost > 1)} without a descriptor such as frontier:excl:2500x112: nodes are"
            " those of fields 8 and 5, which mix nodes and cores"
        )
        jobs.source = replace(jobs.source, notes=(*jobs.source.notes, note))
    return jobs


def _described(jobs: Workload) -> np.ndarray:
    """Return the nodes that descriptors tell, int64[rows], -1 where there is none."""
    nodes = np.full(len(jobs), -1, dtype=np.int64)
    for column in jobs.carried_columns.values():
        if is_text_column(column):
            nodes = np.maximum(nodes, _nodes_in(column))
    return nodes


def _nodes_in(column: TextColumn) -> np.ndarray:
    found = (_DESCRIPTOR.fullmatch(str(text)) for text in column.categories)
    told = np.array([int(match[1]) if match else -1 for match in found], dtype=np.int64)
    nodes: np.ndarray = told[np.asarray(column.codes)]
    return nodes
