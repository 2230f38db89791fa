"""What of shared/data/slurm_oracle_2 this version claims to do, told in the words of the first set.

There partitions have names of nodes, jobs go to the default partition where they name none, and an array
is one job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import SHARED

DATA_2 = SHARED / "data" / "slurm_oracle_2"
OWN = Path(__file__).parent / "recorded"
"""Recordings that this project made itself, of the same form."""

TASK = 1000  # ids of an array's tasks: so far apart

CLAIMED = (
    "A1a_arrays",
    "F1a_fairtree",
    "F2a_factors",
    "F3a_fairtree_nolimits",
    "F4a_factors_nolimits",
    "HA1a_arrays",
    "HE1a_het_window",
    "HL1a_licences",
    "HQ1a_qos_limits",
    "HQ2a_assoc_limits",
    "HS1a_cores",
    "HS2a_memory",
    "HS3a_gpus",
    "L1a_licences",
    "Q1a_qos_limits",
    "Q2a_assoc_limits",
    "Q3a_limit_stop",
    "Q4a_minutes",
    "S1a_cores",
    "S2a_memory",
    "S3a_gpus",
    "S4a_exclusive",
)
MISSED: tuple[str, ...] = ()
"""Claimed, and not met yet."""

PREEMPTING = (
    *("HP1a_requeue", "HP2a_cancel", "HP3a_suspend", "HP4a_qos"),
    *("P1a_requeue", "P2a_cancel", "P3a_suspend", "P4a_qos", "P5a_grace"),
)
"""Claimed, too, and met; of these runs and who is preempted count as well: see ``preempting``."""

RESERVING = ("HR1a_reservation", "R1a_reservations", "R2a_resv_changes")
"""Likewise, with what operators do to reservations meanwhile: see ``test_reservations``."""


def names_2() -> list[str]:
    """All cases of the set."""
    return sorted(path.name.removesuffix(".json.gz") for path in (DATA_2 / "in").glob("*.json.gz"))


def as_in_the_first(given: dict[str, Any]) -> dict[str, Any]:
    """A case of this set as one of the first would be written."""
    sizes = {spec["names"]: len(expanded(spec["names"])) for spec in given["nodes"]}
    parts = given["partitions"]
    default = next(part["name"] for part in parts if "Default=YES" in part["opts"])
    return given | {
        "nodes": {part["name"]: sizes[part["nodes"]] for part in parts},
        "part_opts": {part["name"]: part["opts"] for part in parts},
        "jobs": [task for job in given["jobs"] for task in _tasks({"partition": default} | job)],
    }


def expanded(text: str) -> list[str]:
    """Names of nodes: `g[1-2,4],n1` are g1, g2, g4, n1."""
    found = []
    for name, inside in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", text):
        for item in inside.split(",") if inside else [""]:
            first, _, last = item.partition("-")
            numbers = range(int(first), int(last or first) + 1) if item else [""]
            found += [f"{name}{number}" for number in numbers]
    return found


def _tasks(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A job itself, or the tasks of ``1-5%2``: five, of which two may run at a time."""
    if "array" not in job:
        yield job
        return
    tasks, _, most = job["array"].partition("%")
    first, last = tasks.split("-")
    for task in range(int(first), int(last) + 1):
        yield job | {"id": job["id"] + TASK * task, "array": job["id"], "array_limit": int(most or -1)}
