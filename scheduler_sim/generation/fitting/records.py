"""The records of a trace that a model is learnt from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.units import DAY
from scheduler_sim.workload.curves import NO_MODULE, module_names
from scheduler_sim.workload.fields import CANCELLED
from scheduler_sim.workload.local_time import local_clock
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.summary import columns_of, header_nodes
from scheduler_sim.workload.table import Workload

FEWEST = 30
MOST_NODES = 1 << 24
_SUFFIXES = re.compile(r"\.(swf|mwf|csv|parquet)(\.gz|\.zst)?$")
_CANCELLED_STATUS = 5


@dataclass(frozen=True)
class Records:
    """Jobs of one module, int64 arrays in order of submission unless said otherwise.

    Parameters
    ----------
    name : of the trace; module : or None for all of it; nodes : of the machine or module
    size (nodes), run_time, limit (s) : of the jobs that are simulated; user : code of each
    stated : bool, which of them give a limit of their own; requested : whether at least half do.
        Else ``limit`` is the run time of all
    submit, clock : s, of the jobs simulated and of those cancelled before they ran; ``clock``
        counts from a Monday's midnight if ``calendar``, else from second 0
    cancelled : jobs cancelled before they ran; lags : s, of those of them whose wait is known
    cancelled_running : simulated jobs that were cancelled while they ran
    """

    name: str
    module: str | None
    nodes: int
    size: np.ndarray
    run_time: np.ndarray
    limit: np.ndarray
    stated: np.ndarray
    requested: bool
    user: np.ndarray
    submit: np.ndarray
    clock: np.ndarray
    calendar: bool
    cancelled: int
    lags: np.ndarray
    cancelled_running: int

    @property
    def jobs(self) -> int:
        """How many jobs were submitted."""
        return len(self.submit)

    @property
    def timed(self) -> np.ndarray:
        """Which jobs the time laws are learnt from."""
        return self.stated if self.requested else np.ones_like(self.stated)

    @property
    def days(self) -> float:
        """Days from the first submission to the last."""
        return float(self.clock.max() - self.clock.min()) / DAY

    @property
    def gaps(self) -> np.ndarray:
        """Seconds between submissions."""
        return np.diff(self.submit)


def records_of(workload: Workload, nodes: int | None, module: str | None) -> Records:
    """Return the records of a trace, or of one module of it.

    Raises
    ------
    InputError
        for an unknown module, too few jobs, jobs all submitted at once, or nodes out of range.
    """
    table = workload.table
    chosen = _of_module(workload, module)
    skipped = table["skipped"].to_numpy()
    live, cancelled = chosen & (skipped == 0), chosen & (skipped == CANCELLED)
    if int(live.sum()) < FEWEST:
        raise InputError(f"too few jobs to learn from: found {int(live.sum())}; allowed: {FEWEST} or more")
    column = columns_of(workload, live)
    if nodes is None:
        nodes = (header_nodes(workload) if module is None else None) or int(column["nodes"].max())
    if not 1 <= nodes <= MOST_NODES:
        raise InputError(f"nodes: found {nodes}; allowed: 1 to {MOST_NODES}")
    submit = np.sort(table["submit_time"].to_numpy()[live | cancelled])
    if submit[0] == submit[-1]:
        raise InputError(f"all jobs are submitted at {submit[0]} s; allowed: a trace that spans some time")
    clock, calendar = local_clock(workload.source, submit)
    stated = column["requested"] > 0
    requested = bool(stated.mean() >= 0.5)
    limit = np.maximum(np.where(stated & requested, column["time_limit"], column["run_time"]), 1)
    order = np.argsort(column["submit_time"], kind="stable")
    wait = table["wait_time"].to_numpy()[cancelled]
    return Records(
        name=_SUFFIXES.sub("", Path(workload.source.name).name) or "trace",
        module=module,
        nodes=nodes,
        size=column["nodes"][order],
        run_time=column["run_time"][order],
        limit=limit[order],
        stated=stated[order],
        requested=requested,
        user=np.asarray(table["user"].array.codes)[live][order],
        submit=submit,
        clock=clock,
        calendar=calendar,
        cancelled=int(cancelled.sum()),
        lags=wait[wait >= 0],
        cancelled_running=int((live & (table["status"].to_numpy() == _CANCELLED_STATUS)).sum()),
    )


def _of_module(workload: Workload, module: str | None) -> np.ndarray:
    """Return which rows name a module first; all, if it is None."""
    if module is None:
        return np.ones(len(workload), dtype=bool)
    names = module_names(workload)
    if module not in names:
        raise InputError(f"module: found {module!r}; allowed: {', '.join(names)}")
    column = workload.columns["partition"]
    firsts = (str(text).split(",")[0].strip() for text in column.categories)
    named = [(NO_MODULE if is_missing(first) else first) == module for first in firsts]
    rows: np.ndarray = np.array(named)[column.codes]
    return rows
