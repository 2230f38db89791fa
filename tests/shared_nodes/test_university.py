"""An ordinary university cluster: what a packer of cores, memory and GPUs made of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler_sim import read_trace, simulate
from scheduler_sim.system.read_system import read_system
from tests.conftest import SHARED, needs_shared

SITE = SHARED / "data" / "sites" / "university"
FIRST_FIT = {"backfill": "first_fit", "packing": "best_fit"}

pytestmark = needs_shared


@pytest.fixture(scope="module")
def site():
    return read_system(SITE / "slurm.conf"), read_trace(SITE / "sacct.txt.gz")


def recorded_waits(jobs):
    """Seconds from submission to start in the dump."""
    return jobs["wait_time"]


def test_the_packer_is_first_fit_on_the_nodes_with_the_fewest_free_cores(site):
    """It knew no priorities, and took 1 G of the dump as 1,000 MB; its nodes stood in order of name."""
    system, jobs = site
    alike = replace(system, partitions=tuple(replace(one, priority=0) for one in system.partitions))
    decimal = np.rint(jobs["memory_kb"] / 1024**2 * 1000).astype(np.int64) * 1024
    result = simulate(alike, jobs.replace(memory_kb=decimal), FIRST_FIT)
    result.check()
    waits = result.components["start_time"] - result.components["submit_time"]
    assert waits.tolist() == recorded_waits(jobs).tolist()
    assert result.metrics["counts"]["not_honoured"] == {}


def test_with_the_files_as_they_are_the_mean_wait_is_close(site):
    system, jobs = site
    result = simulate(system, jobs, FIRST_FIT)
    result.check()
    mean = result.metrics["wait_time"]["mean"]
    assert mean == pytest.approx(recorded_waits(jobs).mean(), rel=0.1)
    assert result.metrics["counts"]["rejected"] == 0
