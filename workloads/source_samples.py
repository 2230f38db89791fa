"""Made-up samples of public data, each in the layout of its source: ``workloads/sources/``.

``python workloads/source_samples.py [DIR]`` writes them there, or into the folder given. The jobs are the
first of ``sample-1000.swf``, which our generator drew: no machine has run them. Each sample reads back as
these jobs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from scheduler_sim import read_trace

HERE = Path(__file__).parent
FOLDER = HERE / "sources"
JOBS = 60
MONDAY = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
STEPS_A_SECOND = 2.5
BATCH_STEP = 4294967291  # of Slurm, the script itself


def jobs(count: int = JOBS) -> pd.DataFrame:
    """So many jobs, 60 in the samples: times in s since 1970, a row a job; the sample again and again."""
    sample = read_trace(HERE / "sample-1000.swf").table
    table = sample.iloc[np.arange(count) % len(sample)].reset_index(drop=True)
    again = (np.arange(count) // len(sample)) * (int(sample["submit_time"].max()) + 1)
    submit = table["submit_time"].to_numpy() + again + MONDAY
    start = submit + 7 * (np.arange(count) % 5)
    nodes = np.minimum(table["nodes"].to_numpy(), 16)
    return pd.DataFrame(
        {
            "id": np.arange(1, count + 1),
            "submit": submit,
            "start": start,
            "end": start + table["run_time"].to_numpy(),
            "limit": -(-np.maximum(table["time_limit"], table["run_time"]).to_numpy() // 60) * 60,
            "nodes": nodes,
            "user": [f"user{i % 7}" for i in range(count)],
            "failed": np.arange(count) % 11 == 10,
        }
    )


def on_clock(seconds: pd.Series, zone: str, spelt: str = "%Y-%m-%d %H:%M:%S") -> list[str]:
    """Moments as a clock in a time zone shows them."""
    return [datetime.fromtimestamp(one, ZoneInfo(zone)).strftime(spelt) for one in seconds.tolist()]


def pm100(all_: pd.DataFrame, path: Path) -> None:
    """As Marconi100's jobs were published."""
    rome = ZoneInfo("Europe/Rome")
    times = {
        f"{name}_time": [datetime.fromtimestamp(one, rome) for one in all_[name]]
        for name in ("submit", "start", "end")
    }
    frame = pd.DataFrame(
        {
            "job_id": all_["id"],
            **times,
            "run_time": all_["end"] - all_["start"],
            "time_limit": all_["limit"] // 60,
            "num_nodes_alloc": all_["nodes"],
            "num_cores_alloc": 128 * all_["nodes"],
            "num_gpus_alloc": 4 * all_["nodes"],
            "mem_alloc": 237 * all_["nodes"],
            "partition": "1",
            "qos": "0",
            "user_id": all_["user"],
            "group_id": "g1",
            "job_state": np.where(all_["failed"], "FAILED", "COMPLETED"),
            "exit_code": np.where(all_["failed"], "1:0", "0:0"),
            "node_power_consumption": list(_series(all_)),
        }
    )
    frame.to_parquet(path, index=False)


def _series(all_: pd.DataFrame) -> Iterator[np.ndarray]:
    """W of all nodes of each job, every 20 s: as its user has it, and now and then a little more or less."""
    for i, job in all_.iterrows():
        watts = 900 + 60 * int(job["user"][4:]) + 10 * (i % 5)
        samples = np.arange(max((job["end"] - job["start"]) // 20, 1))
        yield job["nodes"] * (watts + 5.0 * (samples % 3 - 1))


def fdata(all_: pd.DataFrame, path: Path) -> None:
    """As Fugaku's jobs were published."""
    frame = pd.DataFrame(
        {
            "jid": all_["id"],
            "usr": all_["user"],
            "jnam": "job",
            **{
                short: on_clock(all_[name], "Asia/Tokyo")
                for short, name in (("adt", "submit"), ("sdt", "start"), ("edt", "end"))
            },
            "elpl": all_["limit"],
            "nnumr": all_["nodes"],
            "nnuma": all_["nodes"],
            **{
                f"{which}pcon": watts * all_["nodes"]
                for which, watts in (("avg", 90.5), ("min", 62.0), ("max", 110.0))
            },
            "econ": 90.5 * all_["nodes"] * (all_["end"] - all_["start"]),
        }
    )
    frame.to_parquet(path, index=False)


def alcf(all_: pd.DataFrame, path: Path) -> None:
    """As the jobs of Theta and others were published."""
    frame = pd.DataFrame(
        {
            "COBALT_JOBID": all_["id"],
            **{
                f"{theirs}_TIMESTAMP": on_clock(all_[name], "UTC")
                for theirs, name in (("QUEUED", "submit"), ("START", "start"), ("END", "end"))
            },
            "USERNAME_GENID": all_["user"],
            "PROJECT_NAME_GENID": "project1",
            "QUEUE_NAME": "default",
            "WALLTIME_SECONDS": all_["limit"].astype(float),
            "NODES_USED": all_["nodes"],
            "NODES_REQUESTED": all_["nodes"],
            "EXIT_STATUS": all_["failed"].astype(int),
        }
    )
    frame.to_csv(path, index=False, lineterminator="\n")


def helios(all_: pd.DataFrame, path: Path) -> None:
    """As the jobs of Helios were published."""
    frame = pd.DataFrame(
        {
            "job_id": all_["id"],
            "user": all_["user"],
            "vc": "vc1",
            "gpu_num": 8 * all_["nodes"],
            "cpu_num": 64 * all_["nodes"],
            "node_num": all_["nodes"],
            "state": np.where(all_["failed"], "FAILED", "COMPLETED"),
            **{f"{name}_time": on_clock(all_[name], "Asia/Shanghai") for name in ("submit", "start", "end")},
            "duration": all_["end"] - all_["start"],
        }
    )
    frame.to_csv(path, index=False, lineterminator="\n")


def pai(all_: pd.DataFrame, path: Path) -> None:
    """As the tasks of PAI were published, below the names of their columns."""
    frame = pd.DataFrame(
        {
            "job_name": [f"{one:024x}" for one in all_["id"]],
            "task_name": "worker",
            "inst_num": all_["nodes"].astype(float),
            "status": np.where(all_["failed"], "Failed", "Terminated"),
            "start_time": (all_["submit"] - MONDAY).astype(float),
            "end_time": (all_["submit"] - MONDAY + all_["end"] - all_["start"]).astype(float),
            "plan_cpu": 600.0,
            "plan_mem": 29.296875,
            "plan_gpu": 50.0,
            "gpu_type": "MISC",
        }
    )
    frame.to_csv(path, index=False, lineterminator="\n")


def openb(all_: pd.DataFrame, path: Path) -> None:
    """As the pods of openb were published: each a part of one node."""
    frame = pd.DataFrame(
        {
            "name": [f"openb-pod-{one:04d}" for one in all_["id"]],
            "cpu_milli": 4000,
            "memory_mib": 16384,
            "num_gpu": 1,
            "gpu_milli": np.where(all_["id"] % 3 == 0, 1000, 460),
            "gpu_spec": np.where(all_["id"] % 5 == 0, "V100M16|V100M32", ""),
            "qos": "LS",
            "pod_phase": np.where(all_["failed"], "Failed", "Succeeded"),
            "creation_time": all_["submit"] - MONDAY,
            "deletion_time": all_["end"] - MONDAY,
            "scheduled_time": all_["start"] - MONDAY,
        }
    )
    frame.to_csv(path, index=False, lineterminator="\n")


def philly(all_: pd.DataFrame, path: Path) -> None:
    """As Philly's job log was published; of each tenth job the first of two attempts failed."""
    spelt = {name: on_clock(all_[name], "America/Los_Angeles") for name in ("submit", "start", "end")}
    between = on_clock((all_["start"] + all_["end"]) // 2, "America/Los_Angeles")
    found: list[dict[str, Any]] = []
    for i, job in all_.iterrows():
        detail = [{"ip": f"m{node}", "gpus": ["gpu0", "gpu1"]} for node in range(job["nodes"])]
        bounds = [(spelt["start"][i], spelt["end"][i])]
        if i % 10 == 9:
            bounds = [(spelt["start"][i], between[i]), (between[i], spelt["end"][i])]
        attempts = [{"start_time": one, "end_time": end, "detail": detail} for one, end in bounds]
        found.append(
            {
                "status": "Failed" if job["failed"] else "Pass",
                "vc": "vc1",
                "jobid": f"application_{job['id']}",
                "attempts": attempts,
                "submitted_time": spelt["submit"][i],
                "user": job["user"],
            }
        )
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def gavel(all_: pd.DataFrame, path: Path) -> None:
    """As Gavel's traces are laid out; a job takes ``nodes`` GPUs, 16 at most."""
    lines = []
    for _, job in all_.iterrows():
        steps = (job["end"] - job["start"]) * STEPS_A_SECOND
        words = (
            "ResNet-18 (batch size 32)",
            "python3 main.py",
            "cv",
            "--num_steps",
            1,
            f"{steps:.1f}",
            job["nodes"],
            1,
            -1,
        )
        lines.append("\t".join(map(str, (*words, f"{job['submit'] - MONDAY:.6f}"))))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sizes = sorted(set(all_["nodes"].tolist()))
    rates = {f"('ResNet-18 (batch size 32)', {size})": {"null": STEPS_A_SECOND} for size in sizes}
    slower = {key: {"null": STEPS_A_SECOND / 3} for key in rates}
    text = json.dumps({"v100": rates, "k80": slower}, indent=1)
    path.with_name("throughputs.json").write_text(text + "\n", encoding="utf-8")


def pbs(all_: pd.DataFrame, path: Path) -> None:
    """As PBS accounts for jobs: a record when one starts, one when it ends."""
    path.write_text("".join(f"{line}\n" for line in _records(all_)), encoding="utf-8")


def _records(all_: pd.DataFrame) -> Iterator[str]:
    at = {name: on_clock(all_[name], "UTC", "%m/%d/%Y %H:%M:%S") for name in ("start", "end")}
    for i, job in all_.iterrows():
        hours, rest = divmod(int(job["limit"]), 3600)
        said = (
            f"user={job['user']} group=g1 project=_pbs_project_default jobname=run queue=workq"
            f" ctime={job['submit']} qtime={job['submit']} etime={job['submit']} start={job['start']}"
            f" Resource_List.ncpus={32 * job['nodes']} Resource_List.nodect={job['nodes']}"
            f" Resource_List.walltime={hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
        )
        yield f"{at['start'][i]};S;{job['id']}.server;{said}"
        ended = f"end={job['end']} Exit_status={int(job['failed'])}"
        yield f"{at['end'][i]};E;{job['id']}.server;{said} {ended}"


def eacct(all_: pd.DataFrame, path: Path) -> None:
    """As EAR's eacct writes what it knows of each step on each node: the script, and one step within it.

    Of the last node of a job there is the step alone. EAR knows of no submission: it is the start here.
    """
    path.write_text("".join(f"{line}\n" for line in _signatures(all_)), encoding="utf-8")


def _signatures(all_: pd.DataFrame) -> Iterator[str]:
    names = (
        "JOBID", "STEPID", "USERID", "GROUPID", "ACCOUNTID", "JOBNAME", "JOB_START_TIME", "JOB_END_TIME",
        "NODENAME", "AVG_CPUFREQ_KHZ", "TIME_SEC", "CPI", "DC_NODE_POWER_W",
    )  # fmt: skip
    yield ";".join(names)
    for i, job in all_.iterrows():
        run = job["end"] - job["start"]
        for node in range(job["nodes"]):
            watts = 400 + 20 * int(job["user"][4:]) + node
            last = node == job["nodes"] - 1
            for step, seconds in ((0, run),) if last else ((BATCH_STEP, run), (0, run - run // 10)):
                said = (job["id"], step, job["user"], "g1", "project1", f"app{i % 3}")
                told = (job["submit"], job["submit"] + run, f"n{node}", 2_400_000, f"{seconds}.00", 0.5)
                yield ";".join(map(str, (*said, *told, f"{watts}.00")))


def frontier(all_: pd.DataFrame, path: Path) -> None:
    """As Frontier's jobs were published: SWF with GPUs, a soft limit and a descriptor, and sizes in cores."""
    lines = ["; Made up by workloads/source_samples.py", f"; UnixStartTime: {MONDAY}"]
    lines += ["; MaxNodes: 9408", "; MaxProcs: 9408"]
    for _, job in all_.iterrows():
        run, wait = job["end"] - job["start"], job["start"] - job["submit"]
        fields = [
            job["id"],
            job["submit"] - MONDAY,
            wait,
            run,
            job["nodes"] * 112,
            -1,
            -1,
            job["nodes"] * 112,
            job["limit"],
        ]
        fields += [-1, 0 if job["failed"] else 1, int(job["user"][4:]), 1, 1, 1, 1, -1, -1]
        lines.append(" ".join(map(str, [*fields, 8 * job["nodes"], -1, f"frontier:excl:{job['nodes']}x112"])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


SAMPLES = {
    "pm100": (pm100, "pm100.parquet"),
    "fdata": (fdata, "fdata.parquet"),
    "alcf": (alcf, "alcf.csv"),
    "helios": (helios, "helios.csv"),
    "pai": (pai, "pai.csv"),
    "openb": (openb, "openb.csv"),
    "philly": (philly, "philly.json"),
    "gavel": (gavel, "gavel.trace"),
    "pbs": (pbs, "pbs.log"),
    "eacct": (eacct, "eacct.csv"),
    "frontier": (frontier, "frontier.swf"),
}
"""By source: what writes the sample, and what it is called."""


def main(folder: Path = FOLDER) -> None:
    """Write all samples."""
    folder.mkdir(parents=True, exist_ok=True)
    made = jobs()
    for write, name in SAMPLES.values():
        write(made, folder / name)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
