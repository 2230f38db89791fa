"""Play a case on its cluster: submit its jobs and do what operators do, each in its second; watch."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from tests.slurm_oracle.recording.cluster import Cluster

STARTS_BEFORE_S = 9
"""So long before second 0 slurmctld starts; its nodes have to be there by then."""

OPTIONS = {
    "partition": "-p",
    "nodes": "-N",
    "ntasks": "-n",
    "cpus_per_task": "-c",
    "account": "-A",
    "qos": "-q",
    "licenses": "-L",
    "array": "-a",
}
LONG_OPTIONS = (
    *("ntasks_per_node", "mem", "mem_per_cpu", "gres", "gpus", "gpus_per_node"),
    *("reservation", "switches"),
)
LOOK_AT_S = 0.7
"""The queue is looked at in this part of each second."""

OVER = ("COMPLETED", "CANCELLED", "TIMEOUT", "FAILED", "PREEMPTED", "NODE_FAIL")
COLUMNS = "%A|%T|%r|%S"


@dataclass
class Played:
    """What happened while a case was played.

    Attributes
    ----------
    origin : Unix time of second 0
    ids : Slurm's number of each job of the case
    errors : what sbatch said of jobs that it refused
    events : [second, job, state, reason, start] at each change; [second, "op", what, exit code, words]
    """

    origin: int
    ids: dict[int, int] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    events: list[list[Any]] = field(default_factory=list)

    def second(self) -> float:
        """Seconds since second 0."""
        return time.time() - self.origin


def play(cluster: Cluster) -> Played:
    """Start the controller, play the case until nothing is left to run, or its time is over."""
    case, played = cluster.case, Played(int(time.time()) + STARTS_BEFORE_S)
    cluster.start_controller(STARTS_BEFORE_S - 1)
    acts = [(job["submit"], 0, i, job) for i, job in enumerate(case["jobs"])]
    acts += [(op["t"], 1, i, op) for i, op in enumerate(case["ops"])]
    over, alive = threading.Event(), threading.Event()
    alive.set()
    watcher = threading.Thread(target=_watch, args=(cluster, played, over, alive))
    watcher.start()
    for second, is_op, _, what in sorted(acts, key=lambda act: act[:3]):
        time.sleep(max(0.0, second - played.second()))
        (_operate if is_op else _submit)(cluster, played, what)
    time.sleep(3)
    while alive.is_set() and played.second() < case["t_end_max"]:
        time.sleep(1)
    over.set()
    watcher.join()
    return played


def _submit(cluster: Cluster, played: Played, job: dict[str, Any]) -> None:
    command = ["sbatch", "--parsable", "-o", "/dev/null", "-D", "/tmp", "--export=PATH"]
    if "user" in job:
        command.append(f"--uid={job['user']}")
    if "deps" in job:
        command.append("-d" + ",".join(f"{kind}:{played.ids[other]}" for kind, other in job["deps"]))
    for i, part in enumerate(job.get("het", [job])):
        command += [":"] if i else []
        command += _options({"limit_min": job["limit_min"]} | part)
    code, said = cluster.call(*command, script=_script(job))
    if code:
        played.errors[job["id"]] = said
    else:
        played.ids[job["id"]] = int(said.split(";")[0].splitlines()[-1])


def _options(job: dict[str, Any]) -> list[str]:
    found = ["-t", str(job["limit_min"])]
    for key, flag in OPTIONS.items():
        found += [flag, str(job[key])] if key in job else []
    found += [f"--{key.replace('_', '-')}={job[key]}" for key in LONG_OPTIONS if key in job]
    found += ["--exclusive"] if job.get("exclusive") else []
    found += ["--oversubscribe"] if job.get("oversubscribe") else []
    if "requeue" in job:
        found.append("--requeue" if job["requeue"] else "--no-requeue")
    return found


COUNTS = """#!/usr/bin/perl
use Time::HiRes "time";
my ($left, $last) = (RUNTIME, time);
while ($left > 0) {
  select undef, undef, undef, 0.05;
  my $gone = time - $last;
  $left -= $gone if $gone < 0.5;
  $last += $gone;
}
"""
"""Runs for so many seconds in which it works: a longer gap is a time in which it was suspended."""


def _script(job: dict[str, Any]) -> str:
    if job.get("counted"):
        return COUNTS.replace("RUNTIME", str(job["runtime"]))
    return f"#!/bin/bash\nsleep {job['runtime']}\n"


def _operate(cluster: Cluster, played: Played, op: dict[str, Any]) -> None:
    """``@60`` in a command is second 60."""

    def moment(found: re.Match[str]) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(played.origin + int(found[1])))

    job = str(played.ids.get(op.get("id", 0), 0))
    commands = {
        "cancel": ["scancel", job],
        "update": ["scontrol", "update", f"JobId={job}", *op.get("args", [])],
        "run": [re.sub(r"@(\d+)", moment, word) for word in op.get("args", [])],
    }
    code, said = cluster.call(*commands.get(op["op"], ["scontrol", op["op"], job]))
    played.events.append([round(played.second(), 2), "op", op, code, said])


def _watch(cluster: Cluster, played: Played, over: threading.Event, alive: threading.Event) -> None:
    """Note each change of a job in squeue, once a second; say when no job is left."""
    last: dict[str, list[str]] = {}
    for second in range(cluster.case["t_end_max"] + 1):
        time.sleep(max(0.0, second + LOOK_AT_S - played.second()))
        if over.is_set():
            return
        _, said = cluster.call("squeue", "-h", "-t", "all", "-o", COLUMNS)
        ours = {str(slurms): mine for mine, slurms in played.ids.items()}
        rows = [row for row in (line.split("|") for line in said.splitlines()) if len(row) == 4]
        now = round(played.second(), 2)
        for job, *seen in rows:
            if last.get(job) != seen:
                last[job] = seen
                played.events.append([now, ours.get(job, -1), *seen])
        if any(row[1] not in OVER for row in rows):
            alive.set()
        else:
            alive.clear()
