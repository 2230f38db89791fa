"""The recorded cases of shared/data/slurm_oracle as plain Python data.

`load_case` gives a workload with every recorded run of it; `load_simulated` a schedule of the DEEP-EST
simulator. Times are whole seconds from the recording's second 0; jobs are known by our ids, not by Slurm's.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import SHARED

DATA = SHARED / "data" / "slurm_oracle"

# What was done by hand during a recording, by its annotation.
BY_HAND = {"E44_het_limits": [{"t": 432, "op": "cancel", "id": 11}]}

Fate = tuple[int, str, int | None, int | None]  # id, state, start, end


@dataclass
class Run:
    """What Slurm did once."""

    name: str
    origin: int  # epoch of second 0
    daemon_start: int  # when the daemon started, seconds before second 0 as a negative number
    submit: dict[int, int]
    partition: dict[int, str]
    fates: dict[int, Fate]

    @property
    def order(self) -> list[int]:
        """Ids in the order of their starts; ties by id."""
        started = [fate for fate in self.fates.values() if fate[2] is not None]
        return [fate[0] for fate in sorted(started, key=lambda fate: (fate[2], fate[0]))]


@dataclass
class Case:
    """A workload, its configuration and its recorded runs."""

    name: str
    nodes: dict[str, int]
    conf: dict[str, str]
    partition_options: dict[str, dict[str, str]]
    jobs: list[dict]
    ops: list[dict]
    runs: list[Run] = field(default_factory=list)

    @property
    def heterogeneous(self) -> bool:
        return any("het" in job for job in self.jobs)


def read_json(path: Path) -> dict:
    with gzip.open(path, "rt") as file:
        return json.load(file)


def case_names() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in (DATA / "in").glob("*.json.gz"))


def load_case(name: str) -> Case:
    given = read_json(DATA / "in" / f"{name}.json.gz")
    conf = {key: value for key, value in given["slurm_conf"].items() if value is not None}
    options = {
        part: dict(item.split("=", 1) for item in text.split()) for part, text in given["part_opts"].items()
    }
    ops = given["ops"] + BY_HAND.get(name, [])
    case = Case(name, given["nodes"], conf, options, given["jobs"], ops)
    for path in sorted((DATA / "out").glob("*.json.gz")):
        run = path.name.removesuffix(".out.json.gz")
        if run.split("@")[0] == name:
            case.runs.append(_load_run(run, read_json(path)))
    case.conf = _effective(case.conf, read_json(DATA / "out" / f"{name}.out.json.gz"))
    return case


def _effective(conf: dict[str, str], recorded: dict) -> dict[str, str]:
    """The recording's slurm.conf under the case's own settings."""
    lines = (
        line.split("=", 1) for line in recorded["slurm_conf"] if not line.startswith(("NodeName", "Part"))
    )
    return dict(lines) | conf


def _load_run(name: str, recorded: dict) -> Run:
    since = next(line for line in recorded["sdiag"] if line.startswith("Data since"))
    began = int(re.search(r"\((\d+)\)", since).group(1))
    jobs = [job for job in recorded["jobs"] if not job["het_offset"]]
    return Run(
        name=name,
        origin=recorded["t0_epoch"],
        daemon_start=began - recorded["t0_epoch"],
        submit={job["id"]: job["submit"] for job in jobs},
        partition={job["id"]: job["partition"] for job in jobs},
        fates={job["id"]: _fate(job) for job in jobs},
    )


def _fate(job: dict) -> Fate:
    started = job["log_starts"] or job["state"] not in ("PENDING", "CANCELLED")
    start = job["start"] if started else None
    ended = job["state"] not in ("PENDING", "RUNNING")
    return job["id"], job["state"], start, job["end"] if ended else None


@dataclass
class Simulated:
    """A schedule of the DEEP-EST Slurm simulator."""

    nodes: dict[str, int]
    jobs: list[dict]  # id, job, submit, partition, nodes, runtime, limit, depends (AFTEROK), delay (s)
    run: Run


def load_simulated(name: str) -> Simulated:
    """Only the jobs that the simulator accepted; ids are Slurm's."""
    recorded = read_json(DATA / "deep_est_simulator" / f"{name}.json.gz")
    jobs, run = [], Run(name, 0, 0, {}, {}, {})
    for job, line in zip(recorded["jobs"], recorded["mwf"], strict=True):
        row = line.split(";")
        if job["state"] == "FAILED":
            continue
        depends = [int(part) for part in job["dependency"].removeprefix("afterok").split(":") if part]
        jobs.append(
            {
                "id": job["slurm_id"],
                "job": int(row[0]),
                "submit": job["submit"],
                "partition": job["partition"],
                "nodes": job["nodes"],
                "runtime": int(row[10]),
                "limit": _minutes(job["limit"]),
                "depends": depends,
                "delay": max(int(row[40]), 0),
            }
        )
        run.submit[job["slurm_id"]] = job["submit"]
        run.partition[job["slurm_id"]] = job["partition"]
        run.fates[job["slurm_id"]] = (job["slurm_id"], job["state"], job["start"], job["end"])
    return Simulated({"ESB": 75, "CM": 50, "DAM": 16}, jobs, run)


def _minutes(text: str) -> int:
    """[days-]hours:minutes:seconds in minutes."""
    days, _, clock = text.rpartition("-")
    hours, minutes, _seconds = (int(part) for part in clock.split(":"))
    return (int(days or 0) * 24 + hours) * 60 + minutes
