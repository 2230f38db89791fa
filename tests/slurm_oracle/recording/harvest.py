"""What Slurm did, once a case is played: by scontrol, by its log, and by its database."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any

from tests.slurm_oracle.recording.cluster import Cluster
from tests.slurm_oracle.recording.play import Played

STARTED = re.compile(r"(sched: Allocate|backfill: (?:_start_job: )?Started) JobId=(\d+)(?:[_+]\d+\((\d+)\))?")
DONE = re.compile(r"_job_complete: JobId=(\d+)(?:[_+]\d+\((\d+)\))? done")
LINE = re.compile(r"\[(\d{4}-\d\d-\d\dT[\d:.]+)\] (.*)")


def harvest(cluster: Cluster, played: Played) -> dict[str, Any]:
    """Return a recording: the fields of those of ``slurm_oracle_2`` that tests read."""
    suspended = {event[1] for event in played.events if event[2] == "SUSPENDED"}
    found: dict[str, Any] = {
        "name": cluster.name,
        "t0_epoch": played.origin,
        "slurm_conf": cluster.settings,
        "submit_errors": played.errors,
        "jobs": _jobs(cluster, played),
        "events": [event for event in played.events if event[1] == "op" or event[1] in suspended],
        "sdiag": [line for line in cluster.call("sdiag")[1].splitlines() if line.startswith("Data since")],
    }
    if cluster.case.get("accounting"):
        found["sacctmgr_qos"] = cluster.call("sacctmgr", "-P", "show", "qos")[1].splitlines()
        own = f"cluster={cluster.label}"
        found["sacctmgr_assoc"] = cluster.call("sacctmgr", "-P", "show", "assoc", "where", own)[
            1
        ].splitlines()
    return found


def _jobs(cluster: Cluster, played: Played) -> list[dict[str, Any]]:
    starts, ends = _logged(cluster, played.origin)
    names = {slurms: mine for mine, slurms in played.ids.items()}
    jobs = []
    for line in cluster.call("scontrol", "-o", "show", "job")[1].splitlines():
        said = dict(word.split("=", 1) for word in line.split(" ") if "=" in word)
        task = said.get("ArrayTaskId", "0")
        if "JobId" not in said or not task.isdigit():  # the rest of an array
            continue
        number = int(said["JobId"])
        ours = names.get(int(said.get("ArrayJobId") or said.get("HetJobId") or number))
        if ours is None:  # one of which sbatch said that it was refused
            continue
        held = said["JobState"] == "PENDING" and said["Reason"] == "ReservationDeleted"
        jobs.append(
            {
                "id": ours,
                "task": int(task) if "ArrayJobId" in said else None,
                "het_offset": int(said["HetJobOffset"]) if "HetJobOffset" in said else None,
                "state": "RESV_DEL_HOLD" if held else said["JobState"],
                "Partition": said["Partition"],
                "nodes": said["NodeList"],
                "submit": _second(said["SubmitTime"], played.origin),
                "start": _second(said["StartTime"], played.origin),
                "end": _second(said["EndTime"], played.origin),
                "log_starts": starts.get(number, []),
                "log_done": ends.get(number, []),
            }
        )
    return sorted(jobs, key=lambda job: (job["id"], job["task"] or 0, job["het_offset"] or 0))


def _logged(cluster: Cluster, origin: int) -> tuple[dict[int, list[list[Any]]], dict[int, list[float]]]:
    """When slurmctld said that each job was started, by which scheduler, and when that it was done."""
    starts: dict[int, list[list[Any]]] = {}
    ends: dict[int, list[float]] = {}
    for line in cluster.log.read_text(errors="replace").splitlines():
        if not (parts := LINE.match(line)):
            continue
        second = round(datetime.fromisoformat(parts[1]).timestamp() - origin, 3)
        if started := STARTED.search(parts[2]):
            by = "main" if started[1].startswith("sched:") else "backfill"
            starts.setdefault(int(started[3] or started[2]), []).append([second, by])
        elif done := DONE.search(parts[2]):
            ends.setdefault(int(done[2] or done[1]), []).append(second)
    return starts, ends


def _second(moment: str, origin: int) -> int | None:
    """Seconds since second 0 of a local time; None where there is none."""
    if not moment[:1].isdigit():
        return None
    return int(time.mktime(time.strptime(moment, "%Y-%m-%dT%H:%M:%S"))) - origin
