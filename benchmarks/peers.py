"""Other simulators on the same jobs: ``python -m benchmarks.peers TRACE JOBS FILE`` writes these.

AccaSim is installed from PyPI into a temporary environment; CQSim runs from a checkout.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks import trace as generated
from benchmarks.children import Failed, Usage, child, shown, whole
from benchmarks.section import KTH_NODES, Asked, named, table

ACCASIM = "1.1.3"
CASES = ("fcfs", 5_000), ("easy", 5_000), ("easy", 20_000)
COLUMNS = "<trace", "<policy", "jobs", "<simulator", "cpu s", "wall s", "peak MB", "x ours", "starts as ours"
DRIVERS = Path(__file__).with_name("drivers")
ACCASIM_START = re.compile(r"^(\d+);.*__(\d+-\d+-\d+ \d+:\d+:\d+);", re.MULTILINE)
OURS = "scheduler-sim"
SWF_FIELDS = 18

Starts = dict[int, int]


class Peer(NamedTuple):
    """A simulator: its command before trace, folder, policy and cores, and how its starts are read."""

    name: str
    command: tuple[str | Path, ...]
    starts: Callable[[Path], Starts]


def section(asked: Asked) -> str:
    """Whole processes, trace in and starts out; the jobs are the same, first come first served."""
    if not (asked.peers or asked.cqsim):
        return "Not measured: `--peers` installs AccaSim, `--cqsim PATH` names a checkout of CQSim."
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        peers, left_out = found(asked, Path(folder, "environment"))
        for policy, jobs in shown([("fcfs", 300), ("easy", 300)] if asked.quick else CASES):
            place = Path(folder, f"{policy}-{jobs}")
            place.mkdir()
            rows += compared(asked, place, policy, jobs, peers)
    return "\n\n".join([table(COLUMNS, rows), *left_out])


def found(asked: Asked, environment: Path) -> tuple[list[Peer], list[str]]:
    """Simulators that can be run here, and what is said of the others."""
    peers, left_out = [], []
    if not asked.peers:
        left_out.append("Left out: AccaSim, as `--peers` was not given.")
    elif told := install(environment):
        left_out.append(f"Left out: AccaSim {ACCASIM} cannot be installed here: {told}")
    else:
        command = environment / "bin" / "python", DRIVERS / "run_accasim.py"
        peers.append(Peer(f"AccaSim {ACCASIM}", command, starts_of_accasim))
    if not asked.cqsim:
        left_out.append("Left out: CQSim, as `--cqsim PATH` was not given.")
    else:
        command = sys.executable, DRIVERS / "run_cqsim.py", asked.cqsim
        peers.append(Peer("CQSim", command, starts_of_cqsim))
    return peers, left_out


def install(environment: Path) -> str:
    """Install AccaSim into an environment of its own, for this Python; returns why not."""
    pip = environment / "bin" / "python", "-m", "pip", "install", "--quiet", f"accasim=={ACCASIM}"
    for command in ((sys.executable, "-m", "venv", environment), pip):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
    return ""


def compared(
    asked: Asked, place: Path, policy: str, jobs: int, peers: Sequence[Peer]
) -> list[tuple[str, ...]]:
    """Rows of one case: this simulator's, and each peer's."""
    name, nodes, source = "generated", generated.NODES, ""
    if asked.has_trace:
        name, nodes, source = named(asked.trace), KTH_NODES, str(asked.trace)
    swf, case = place / "jobs.swf", (f"{name}, {nodes:,} nodes", policy, f"{jobs:,}")
    child("peers", "jobs", source, str(jobs), str(swf))
    ours, expected = by_ourselves(place, swf, policy, nodes)
    rows = [(*case, OURS, *ours.spelt(), "1.0", "")]
    for peer in peers:
        out = place / peer.name
        out.mkdir()
        try:
            usage = whole(*peer.command, swf, out, policy, str(nodes))
        except Failed:
            rows.append((*case, peer.name, "failed", "", "", "", ""))
            continue
        starts = peer.starts(out)
        same = sum(starts.get(job) == start for job, start in expected.items()) / len(expected)
        ratio = f"{usage.cpu_s / ours.cpu_s:.1f}"
        rows.append((*case, peer.name, *usage.spelt(), ratio, f"{100 * same:.1f} %"))
    return rows


def by_ourselves(place: Path, swf: Path, policy: str, nodes: int) -> tuple[Usage, Starts]:
    """Run this simulator twice, as the first may compile; what the second took, and its starts."""
    system, result = place / "system.yaml", place / "result"
    system.write_text(f"modules: [{{name: nodes, nodes: {nodes}}}]\n", encoding="utf-8")
    words = system, swf, "--policy", policy, "--quiet", "--out", result
    *_, usage = (whole(sys.executable, "-m", "scheduler_sim", "run", *words) for _ in range(2))
    return usage, {int(job): start for job, start in child("peers", "starts", str(result)).items()}


def starts_of_accasim(folder: Path) -> Starts:
    """Read start times, seconds, from the schedule that AccaSim writes as dates."""
    text = (folder / "sched-jobs.swf").read_text(encoding="utf-8")
    dates = {int(job): datetime.fromisoformat(start) for job, start in ACCASIM_START.findall(text)}
    return {job: int(start.replace(tzinfo=UTC).timestamp()) for job, start in dates.items()}


def starts_of_cqsim(folder: Path) -> Starts:
    """Read start times: the last but one field of a job."""
    lines = [line.split(";") for line in (folder / "result.rst").read_text(encoding="utf-8").splitlines()]
    return {int(line[0]): int(float(line[-2])) for line in lines}


def write_jobs(source: str, jobs: int, path: str) -> None:
    """Write the first jobs that run at all as SWF, from 0 s on, cut at their requests, which all have.

    Others leave out jobs of 0 s, or end the instant with them.
    """
    import numpy as np

    from scheduler_sim import read_trace

    workload = read_trace(source) if source else generated.workload(jobs)
    rows = np.flatnonzero(np.asarray(workload["run_time"]) > 0)[:jobs]
    names = "submit_time", "run_time", "nodes", "time_limit"
    submit, run, nodes, limit = (np.asarray(workload[name])[rows].astype(np.int64) for name in names)
    limit = np.where(limit > 0, limit, run)
    swf = np.full((len(rows), SWF_FIELDS), -1)
    swf[:, 0], swf[:, 1] = np.arange(1, len(rows) + 1), submit - submit.min()
    swf[:, 3], swf[:, 4], swf[:, 7], swf[:, 8] = np.minimum(run, limit), nodes, nodes, limit
    swf[:, 10] = 1  # completed
    np.savetxt(path, swf, fmt="%d")


def starts_of(result: str) -> Starts:
    """Start times of a result of this simulator, by job."""
    from scheduler_sim import Result

    components = Result.load(result).components
    return dict(zip(components["modular_job_id"].tolist(), components["start_time"].tolist(), strict=True))


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "jobs":
        write_jobs(given[0], int(given[1]), given[2])
    print(json.dumps(starts_of(*given) if what == "starts" else None))
