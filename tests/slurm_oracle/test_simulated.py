"""The DEEP-EST simulator's schedules, as far as the plain model gets in a few seconds."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_slurm_records import Config, Job, Partition
from tests.oracle.plain_slurm_simulator import SimulatedSlurm
from tests.slurm_oracle.agreement import WITHOUT_MAIN
from tests.slurm_oracle.cases import Simulated, load_simulated
from tests.slurm_oracle.figures import start_gaps


def play(given: Simulated, until: int) -> SimulatedSlurm:
    partitions, first = {}, 0
    for name, count in given.nodes.items():
        partitions[name] = Partition(list(range(first, first + count)))
        first += count
    config = Config(
        partitions,
        as_19_05=True,
        bf_interval=30,
        bf_max_job_test=50,
        bf_node_space_size=1000,
        kill_wait=60,
        over_time_limit=1,
    )
    crews: dict[int, list[int]] = {}
    for row in given.jobs:
        crews.setdefault(row["job"], []).append(row["id"])
    jobs = [
        Job(
            *(row["id"], row["submit"], [row["partition"]], row["nodes"], row["runtime"], row["limit"]),
            depends=(",", [("afterok", row["depends"], 0)] if row["depends"] else []),
            het=crews[row["job"]][0] if len(crews[row["job"]]) > 1 else 0,
        )
        for row in given.jobs
    ]
    slurm = SimulatedSlurm(config, jobs, main=given.run.name not in WITHOUT_MAIN)
    slurm.run(until)
    return slurm


@pytest.mark.long
@needs_shared
@pytest.mark.parametrize(
    ("name", "until", "started"),
    [("d22full", 2500, 100), ("scenario_dep1000", 200_000, 200), ("scenario_het1000", 200_000, 200)],
)
def test_simulated(name: str, until: int, started: int):
    given = load_simulated(name)
    slurm = play(given, until)
    ours = {job.id: (job.id, job.state, job.start, job.end) for job in slurm.seen}
    theirs = {i: f for i, f in given.run.fates.items() if f[2] <= until - 31}
    gaps = start_gaps(ours, theirs)
    assert len(gaps) == len(theirs) >= started
    assert max(gaps) <= 1
