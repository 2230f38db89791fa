"""What a check asks of jobs that got their nodes before they started: these were off, and booted."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate

pytestmark = pytest.mark.interpreted


def models(**boot_s):
    """Idle nodes are switched off after 5 s; boots take so long (s), by module."""
    profiles = [
        {
            "name": name,
            "idle_w": 50,
            "peak_w": 1000,
            "typical_w": 200,
            "pstates_khz": [1_000_000, 2_000_000],
            "reference_khz": 2_000_000,
            "off_w": 0,
            "boot": {"time_s": seconds, "energy_j": 5000},
            "shutdown": {"time_s": 7, "energy_j": 0},
        }
        for name, seconds in boot_s.items()
    ]
    return {"energy": {"power": {"modules": profiles}, "idle_off": {"timeout_s": 5, "min_awake": 0}}}


def test_a_job_may_start_when_its_reservation_is_over():
    """It gets its nodes in it, at 50, and has them as they are up."""
    lab = {"name": "lab", "start": 25, "end": 85, "nodes": "ALL", "users": ["u"]}
    system = System.from_dict({"modules": [{"name": "A", "nodes": 4}], "reservations": [lab]})
    workload = Workload.from_columns(
        nodes=[1, 3],
        submit_time=[0, 50],
        run_time=[1, 200],
        time_limit=[60, 230],
        user=["u", "u"],
        reservation=["", "lab"],
    )
    result = simulate(system, workload, "slurm", models=models(A=50))
    assert result.components["start_time"].tolist() == [120, 90]
    assert result.components["state"][1] == "TIMEOUT"
    result.check()


def test_one_that_a_limit_does_not_bind_may_start_while_its_nodes_boot():
    """Both get theirs at 101, job 2 as the first; in QOS q, 3 is not bound by the limit of the account."""
    system = System.from_dict({"modules": [{"name": "A", "nodes": 1}, {"name": "B", "nodes": 1}]})
    workload = Workload.from_columns(
        nodes=[1, 1, 1],
        submit_time=[0, 100, 100],
        run_time=[1, 900, 900],
        time_limit=[60, 900, 900],
        partition=["A", "B", "A"],
        qos=["", "", "q"],
        user=["u"] * 3,
        account=["a"] * 3,
    )
    limits = {
        "qos": {"q": {"GrpTRES": {"node": 4}}},
        "accounts": {"root": {"limits": {"GrpTRES": {"node": 1}}}, "a": {"users": {"u": 1}}},
    }
    result = simulate(system, workload, Policy(backfill="slurm", slurm=limits), models=models(A=5, B=50))
    assert result.components["start_time"].tolist() == [0, 151, 106]
    result.check()


def test_a_job_outside_may_run_into_a_reservation_as_it_starts_late():
    """By its limit from 60 on, when it gets its nodes, it would end as that begins; it starts at 111."""
    lab = {"name": "lab", "start": 180, "end": 400, "nodes": "ALL", "users": ["v"]}
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}], "reservations": [lab]})
    workload = Workload.from_columns(
        nodes=[1, 2], submit_time=[0, 50], run_time=[1, 120], time_limit=[60, 120], user=["u", "u"]
    )
    result = simulate(system, workload, "slurm", models=models(A=50))
    assert result.components["end_time"].tolist() == [1, 231]
    result.check()
