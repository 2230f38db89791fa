"""The runs of components that lost some, in the order of the components."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.energy.accounting import MILLI
from scheduler_sim.result.columns import (
    NEVER,
    NODE_FAIL,
    SLOWED,
    SUSPENDED,
    Columns,
    Further,
    frame,
    not_known,
    numbers,
    rows_named,
    run_columns,
)
from scheduler_sim.result.node_use import WHOLE
from scheduler_sim.simulation.checkpoint_account import Writing, accounted
from scheduler_sim.simulation.lost import PREEMPTED
from scheduler_sim.simulation.rules.checkpoints import FIELDS
from scheduler_sim.system.node_resources import THOUSANDTHS


def run_table(
    components: Columns,
    lost: pd.DataFrame | None,
    failed: np.ndarray,
    parts_of: Callable[[], Ints] | None,
    writing: Writing | None = None,
) -> pd.DataFrame | None:
    """Return the table of runs; None where no run was lost, and none wrote a checkpoint.

    ``lost`` is as of ``lost_runs``, with the power ``mw`` where there is an energy model; ``failed``,
    bool[components], were ended by a failure of nodes; ``parts_of`` tells the nodes that each component had
    (millionths), None where nodes are not told apart; ``writing`` how they write checkpoints, None where none
    do.
    """
    ran = numbers(components, "start_time") != NEVER
    over = ran & (failed | rows_named(components["state"], PREEMPTED))
    again = np.zeros(len(ran), dtype=bool) if lost is None else np.isin(np.arange(len(ran)), lost["place"])
    wrote = False if writing is None else writing.wrote
    rows = np.flatnonzero(over | (ran & again) | wrote)
    if lost is None and not len(rows):
        return None
    own = _last_runs(components, rows, parts_of).assign(gone=over[rows])
    own = own.assign(**(dict.fromkeys(("worked", *FIELDS), 0) if writing is None else writing.columns(rows)))
    own["ended"] = own["ended"].where(~failed[rows], NODE_FAIL)
    if lost is None:
        return _described(own, components)
    lost = lost.assign(
        gone=True,
        module=lost["module"].astype(str),
        cores=np.where(lost["cores"] == NEVER, np.nan, lost["cores"] / THOUSANDTHS),
        power_w=lost["mw"] / MILLI if "mw" in lost else np.nan,
    )
    both = pd.concat([lost[own.columns], own], ignore_index=True)
    return _described(both.sort_values("place", kind="stable", ignore_index=True), components)


def _last_runs(components: Columns, rows: np.ndarray, parts_of: Callable[[], Ints] | None) -> pd.DataFrame:
    """The runs of some components that these end with."""
    nodes, unknown = numbers(components, "nodes")[rows], not_known(len(rows))
    return pd.DataFrame(
        {
            "place": rows,
            "module": np.asarray(components["module"][rows], dtype=object),
            "nodes": nodes,
            "parts": nodes * WHOLE if parts_of is None else parts_of()[rows],
            "cores": unknown if parts_of is None else numbers(components, "cores")[rows],
            "start_time": numbers(components, "start_time")[rows],
            "end_time": numbers(components, "end_time")[rows],
            "ended": np.asarray(components["state"][rows], dtype=object),
            "power_w": numbers(components, "power_w")[rows] if "power_w" in components else unknown,
            **{name: np.asarray(components[name][rows]) for name in _with_spans(components)},
        }
    )


def _described(table: pd.DataFrame, components: Columns) -> pd.DataFrame:
    """Return the documented columns."""
    account = accounted(table)
    spans = _with_spans(components)
    ran, whole = (table["end_time"] - table["start_time"]).to_numpy(), account.pop("kept_s")
    ran = ran - table["suspended_time"].to_numpy() if "suspended_time" in spans else ran
    kept = np.where(whole == account["work_s"], 0, whole)  # what ended by itself is done all over again
    lost_s = np.where(table["gone"], ran - kept - account["checkpoint_s"] - account["restart_s"], 0)
    made = {
        **{name: table[name] for name in ("module", "nodes", "parts", "cores", "start_time", "end_time")},
        "component_id": numbers(components, "component_id")[table["place"]],
        "run": table.groupby("place").cumcount() + 1,
        "state": table["ended"],
        **account,
        "lost_s": lost_s,
        "node_seconds_lost": table["parts"] / WHOLE * lost_s,
        "power_w": table["power_w"],
        "energy_lost_j": table["power_w"] * lost_s,
        **{name: table[name] for name in spans},
    }
    further = Further(suspended="suspended" in spans, slowed="slowed" in spans)
    return frame(made, run_columns(further)).copy()  # which may be written into


def _with_spans(components: Columns) -> tuple[str, ...]:
    """The columns that say when they were suspended, and when slowed, where they may be."""
    return tuple(column.name for column in (*SUSPENDED, *SLOWED) if column.name in components)
