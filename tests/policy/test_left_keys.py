"""Of the path of a slurm.conf Python takes the machine: what policy slurm then goes without is named."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from scheduler_sim import Policy, Simulation, Workload

KEYS = "SelectType=select/linear\nSchedulerParameters=bf_interval=2\n"
CONF = f"{KEYS}NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n"
ONE = {"nodes": [1], "submit_time": [0], "run_time": [1], "time_limit": [1]}


@pytest.fixture
def conf(tmp_path: Path) -> str:
    (tmp_path / "slurm.conf").write_text(CONF)
    return str(tmp_path / "slurm.conf")


def test_keys_that_policy_slurm_goes_without_are_named(conf: str) -> None:
    with pytest.warns(UserWarning, match=r"goes without 2 of its keys \(SelectType, bf_interval\)"):
        Simulation(conf, Workload.from_columns(**ONE), "slurm")
    stated = Policy(backfill="slurm", slurm={"bf_interval": 30})
    with pytest.warns(UserWarning, match=r"goes without 1 of its keys \(SelectType\)"):
        Simulation(conf, Workload.from_columns(**ONE), stated)


def test_other_policies_have_no_such_keys(conf: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Simulation(conf, Workload.from_columns(**ONE), "easy")
