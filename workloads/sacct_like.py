"""A made-up dump of sacct: a week of the made-up site in ``configs/systems/small-site.conf``.

``python workloads/sacct_like.py [FILE]`` writes ``workloads/sample-sacct.txt``, or the file given.
Jobs and users are drawn, and start when our own policy ``slurm`` starts them: no Slurm has seen them.
What a dump does not tell is in it, too: the latencies of a daemon and the phase of its timers, on whom
a job waited, and a day on which nodes were out of service.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from scheduler_sim import Policy, Result, Simulation, Workload
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.streams import stream
from scheduler_sim.system.slurm_conf.site import read_slurm_conf

SAMPLE = Path(__file__).parent / "sample-sacct.txt"
CONF = Path(__file__).parent.parent / "configs" / "systems" / "small-site.conf"
MONDAY = int(datetime(2026, 3, 2, tzinfo=UTC).timestamp())
DAY = 86400
WEEK = 7 * DAY
DAEMON = {"latency": "measured", "looks_first": "backfill", "starts_before_s": 100_003}
DRAINED = ("batch", 30, 2 * DAY + 8 * 3600, 3 * DAY + 8 * 3600)  # module, nodes, from and to (s)
FIRST_JOB = 41_000
CORES = 64
#: Share of the jobs, sizes (nodes), limits (minutes) and what the jobs are called, by partition.
KINDS = {
    "batch": (0.60, [1, 2, 4, 8, 16, 32, 64], [60, 120, 240, 480, 720, 1440], ["cfd", "climate", "lattice"]),
    "long": (0.07, [1, 2, 4, 8], [2880, 4320], ["folding", "relax"]),
    "test": (0.13, [1, 2, 4], [5, 10, 30], ["test", "compile"]),
    "gpu": (0.20, [1, 2, 4], [120, 480, 1440], ["train", "infer"]),
}
HEADER = (
    "JobID|JobIDRaw|JobName|User|Account|QOS|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit"
    "|NNodes|NCPUS|ReqMem|ExitCode"
)
LABEL = "# Made up by workloads/sacct_like.py: no site, user or job in here is real.\n"


def jobs_of_a_week(submissions: int = 400) -> dict[str, np.ndarray]:
    """Draw the jobs: a column each, a row a job; the tasks of an array are rows of their own."""
    draw = stream(7, "sacct sample")
    by_hour = np.array([2] * 7 + [4, 8] + [12] * 8 + [6, 4] + [3] * 5, dtype=float)  # office hours
    hours = np.concatenate([by_hour if day < 5 else by_hour / 3 for day in range(7)])
    hour = np.sort(draw.choice(len(hours), size=submissions, p=hours / hours.sum()))
    submit = np.sort(hour * 3600 + draw.integers(0, 3600, submissions))
    rows, number = [], FIRST_JOB
    for moment in submit.tolist():
        partition = str(draw.choice(list(KINDS), p=[share for share, *_ in KINDS.values()]))
        _, sizes, limits, names = KINDS[partition]
        user = int(draw.integers(0, 24))
        limit = 60 * int(draw.choice(limits))
        tasks = int(draw.integers(3, 9)) if draw.random() < 0.06 and partition != "long" else 1
        nodes = int(draw.choice(sizes[:3] if tasks > 1 else sizes))
        waits_for = int(draw.integers(1, 6)) if draw.random() < 0.08 else 0  # so many rows before
        name = str(draw.choice(names))
        for task in range(tasks):
            ends = draw.choice(
                ["ok", "fails", "overruns", "cancelled", "withdrawn"], p=[0.82, 0.06, 0.05, 0.04, 0.03]
            )
            run = 2 * limit if ends == "overruns" else max(10, int(limit * float(draw.beta(1.4, 2.1))))
            raw = number if task == tasks - 1 else number + task + 1  # the last task keeps the array's number
            rows.append((number, task if tasks > 1 else -1, raw, moment, user, partition, name, nodes, limit))
            rows[-1] += (run, str(ends), waits_for if task == 0 and tasks == 1 else 0)
        number += tasks
    names = (
        "array",
        "task",
        "raw",
        "submit",
        "user",
        "partition",
        "name",
        "nodes",
        "limit",
        "run",
        "ends",
        "after",
    )
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def main(path: str | Path = SAMPLE) -> None:
    """Draw the jobs, schedule them, and write what sacct would tell of them at the end of the week."""
    job = jobs_of_a_week()
    withdrawn = job["ends"] == "withdrawn"
    row = np.arange(len(withdrawn))
    before = np.maximum(row - job["after"], 0)
    waits = (job["after"] > 0) & (before < row) & ~withdrawn & ~withdrawn[before]
    workload = Workload.from_columns(
        component_id=job["raw"],
        submit_time=job["submit"],
        run_time=job["run"],
        time_limit=job["limit"],
        nodes=job["nodes"],
        user=[_user(number) for number in job["user"]],
        account=[_account(number) for number in job["user"]],
        name=job["name"],
        partition=job["partition"],
        exit_code=(job["ends"] == "fails").astype(np.int64),
        dependency_ids=np.where(waits, job["raw"][before].astype(str), ""),
        dependency_kinds=np.where(waits, "AFTERANY", ""),
        skipped=withdrawn.astype(np.int8),
    )
    ran = _simulated(workload).components.set_index("component_id")
    lines = [_line(job, i, ran.loc[job["raw"][i]] if not withdrawn[i] else None) for i in row.tolist()]
    Path(path).write_text(LABEL + "\n".join([HEADER, *lines, ""]), encoding="utf-8")


def _simulated(workload: Workload) -> Result:
    """Run the week as the site's slurm.conf says, with nodes that are drained for a day."""
    site = read_slurm_conf(CONF, modelled=SlurmKeys.model_fields)
    policy = Policy(backfill="slurm", slurm={**site.policy, **DAEMON})
    simulation = Simulation(site.system, workload, policy)
    module, nodes, begin, end = DRAINED

    def maintenance() -> Iterator[object]:
        yield simulation.env.timeout(begin - simulation.env.now)
        simulation.drain(module, nodes)
        yield simulation.env.timeout(end - begin)
        simulation.resume(module, nodes)

    simulation.process(maintenance())
    return simulation.run()


def _line(job: dict[str, np.ndarray], i: int, ran) -> str:  # type: ignore[no-untyped-def]
    """Return what sacct says of a job, some time after the week: its last columns are empty until it ends."""
    array, task, nodes = int(job["array"][i]), int(job["task"][i]), int(job["nodes"][i])
    user, submit, ends = int(job["user"][i]), int(job["submit"][i]), str(job["ends"][i])
    if ran is None:
        eligible, start, end = submit, None, submit + 600 + 60 * user
        state, code = f"CANCELLED by {5000 + user}", "0:0"
    else:
        eligible, start, end = (int(ran[name]) for name in ("eligible_time", "start_time", "end_time"))
        state, code = {
            "TIMEOUT": ("TIMEOUT", "0:0"),
            "FAILED": ("FAILED", "1:0"),
        }.get(ran["state"], ("COMPLETED", "0:0"))
        if ends == "cancelled":
            state, code = f"CANCELLED by {5000 + user}", "0:15"
        if start > WEEK:
            state, start, end, code = "PENDING", None, None, "0:0"
        elif end > WEEK:
            state, end, code = "RUNNING", None, "0:0"
    elapsed = 0 if start is None else (end or WEEK) - start
    limit = int(job["limit"][i])
    fields = (
        array if task < 0 else f"{array}_{task}",
        job["raw"][i],
        job["name"][i],
        _user(user),
        _account(user),
        "normal",
        job["partition"][i],
        state,
        *(_moment(moment) for moment in (submit, eligible, start, end)),
        elapsed,
        f"{limit // 86400}-{limit // 3600 % 24:02}:{limit // 60 % 60:02}:00".removeprefix("0-"),
        nodes,
        nodes * CORES,
        f"{nodes * 200}G",
        code,
    )
    return "|".join(map(str, fields))


def _user(number: int) -> str:
    return f"user{number:02}"


def _account(number: int) -> str:
    return f"project{number % 7}"


def _moment(seconds: int | None) -> str:
    if seconds is None:
        return "Unknown"
    return datetime.fromtimestamp(MONDAY + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


if __name__ == "__main__":
    main(*sys.argv[1:2])
