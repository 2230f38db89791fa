"""Reading ``sacctmgr show event -P``: which nodes were out of service, and when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.ignored import ACCOUNTING
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.associations import of_cluster
from scheduler_sim.system.slurm_dumps.moments import date, moment
from scheduler_sim.system.slurm_dumps.table import read_table

COMMAND = "sacctmgr show event -P"
NO_OUTAGE = "in this state nodes run jobs"

_STATES = {"DOWN": r"DOWN|NO_RESP", "DRAIN": r"DRAIN|DRNG|DRAINED|DRAINING", "FAIL": r"FAIL|FAILG|FAILING"}


def read_events(path: str | Path, cluster: str, notes: Notes) -> list[dict[str, Any]]:
    """Read when nodes were DOWN, DRAIN or FAIL: ``start``, ``end`` (None: still), ``nodes``, ``state``,
    ``reason``. Times are dates on the clock of the site.

    Raises ConfigError for files that cannot be read.
    """
    rows = list(read_table(path, COMMAND, ("NodeName", "TimeStart", "State"), notes.problems))
    found = []
    for row in of_cluster(rows, cluster, str(path)):
        if not row.text("nodename"):
            notes.ignore(row.pair("timestart"), ACCOUNTING)  # how large the cluster was
            continue
        state = _state(row.text("state"))
        if not state:
            notes.ignore(row.pair("state"), NO_OUTAGE)
            continue
        start = notes.read(row.pair("timestart"), moment, None)
        end = notes.read(row.pair("timeend"), moment, None) if "timeend" in row.headers else None
        if start is None:
            notes.wrong(row.place, row.headers["timestart"], "found no date; allowed: when it began")
        elif end is not None and end < start:
            notes.wrong(row.place, row.headers["timeend"], f"found {row.text('timeend')!r} before the start")
        names = notes.read(row.pair("nodename"), expand, list[str]())
        found.append(
            {
                "start": date(start),
                "end": date(end),
                "nodes": names,
                "state": state,
                "reason": row.text("reason"),
            }
        )
    return found


def _state(text: str) -> str:
    """What a state is for the scheduler, the worst of several; nothing where jobs may start."""
    words = re.split(r"[+,]", re.sub(r"[*~#!%$@^-]", "", text.upper()))
    return next(
        (state for state, spelled in _STATES.items() if any(re.fullmatch(spelled, w) for w in words)), ""
    )
