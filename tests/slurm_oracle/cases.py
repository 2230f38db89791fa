"""The recorded cases of shared/data/slurm_oracle and slurm_oracle_2 as plain Python data.

`load_case` gives a workload with every recorded run of it; `load_simulated` a schedule of the DEEP-EST
simulator. Times are whole seconds from the recording's second 0; jobs are known by our ids, not by Slurm's.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.conftest import SHARED
from tests.slurm_oracle.database import Accounts, QosPriorities, accounts_of, limits_as_keys, qos_of
from tests.slurm_oracle.second_set import DATA_2, OWN, TASK, as_in_the_first

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
    cut_off: float | None = None  # the last second of a recording that ended before its jobs

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
    accounts: Accounts = field(default_factory=dict)  # as in policy.slurm
    qos: QosPriorities = field(default_factory=dict)
    accounting: dict = field(default_factory=dict)  # keys of policy.slurm: accounts and QOS, with limits

    @property
    def sure(self) -> dict[int, str]:
        """The end states in which all recordings agree, by job."""
        first, *others = (run.fates for run in self.runs)
        return {
            job: fate[1]
            for job, fate in first.items()
            if all(job in o and o[job][1] == fate[1] for o in others)
        }

    @property
    def heterogeneous(self) -> bool:
        return any("het" in job for job in self.jobs)


def read_json(path: Path) -> dict:
    with gzip.open(path, "rt") as file:
        return json.load(file)


def case_names() -> list[str]:
    """Those of the first set."""
    return sorted(path.name.removesuffix(".json.gz") for path in (DATA / "in").glob("*.json.gz"))


@cache
def load_case(name: str) -> Case:
    data = next(data for data in (OWN, DATA_2, DATA) if (data / "in" / f"{name}.json.gz").is_file())
    given = read_json(data / "in" / f"{name}.json.gz")
    recorded = {path.name.removesuffix(".out.json.gz"): read_json(path) for path in _recordings(data, name)}
    if data != DATA:
        given = as_in_the_first(given)
    conf = {key: value for key, value in given["slurm_conf"].items() if value is not None}
    options = {
        part: dict(item.split("=", 1) for item in text.split()) for part, text in given["part_opts"].items()
    }
    ops = given["ops"] + BY_HAND.get(name, [])
    accounts = accounts_of(given.get("accounting", []))
    qos = qos_of(recorded[name].get("sacctmgr_qos", []))
    shown = "sacctmgr_assoc" in recorded[name]
    return Case(
        name,
        given["nodes"],
        _effective(conf, recorded[name]),
        options,
        given["jobs"],
        ops,
        [_load_run(run, found) for run, found in recorded.items()],
        accounts,
        qos,
        limits_as_keys(recorded[name]) if shown else {"accounts": accounts, "qos": qos},
    )


def _recordings(data: Path, name: str) -> list[Path]:
    every = (data / "out").glob(f"{name}*.out.json.gz")
    return sorted(path for path in every if path.name.removesuffix(".out.json.gz").split("@")[0] == name)


def _effective(conf: dict[str, str], recorded: dict) -> dict[str, str]:
    """The recording's slurm.conf under the case's own settings."""
    lines = (
        line.split("=", 1) for line in recorded["slurm_conf"] if not line.startswith(("NodeName", "Part"))
    )
    return dict(lines) | conf


def _load_run(name: str, recorded: dict) -> Run:
    since = next(line for line in recorded["sdiag"] if line.startswith("Data since"))
    began = int(re.search(r"\((\d+)\)", since).group(1))
    jobs = [job for job in recorded["jobs"] if not job.get("het_offset") and job["id"] is not None]
    return Run(
        name=name,
        origin=recorded["t0_epoch"],
        daemon_start=began - recorded["t0_epoch"],
        submit={_number(job): job["submit"] for job in jobs},
        partition={_number(job): job.get("partition") or job["Partition"] for job in jobs},
        fates={_number(job): _fate(job) for job in jobs},
        cut_off=_cut_off(recorded, jobs),
    )


def _cut_off(recorded: dict, jobs: list[dict]) -> float | None:
    if all(job["state"] != "RUNNING" for job in jobs) or not recorded["events"]:
        return None
    return max(event[0] for event in recorded["events"])


def _fate(job: dict) -> Fate:
    started = job["log_starts"] or job["state"] not in ("PENDING", "CANCELLED")
    start = job["start"] if started else None
    ended = job["state"] not in ("PENDING", "RUNNING")
    return _number(job), job["state"], start, job["end"] if ended else None


def _number(job: dict) -> int:
    """The id of a job, or of a task of an array."""
    return job["id"] + TASK * (job.get("task") or 0)


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
