"""One record never refuses a replay: what cannot be simulated is named, or left out and counted by kind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.policy.policy import Policy

pytestmark = pytest.mark.interpreted

NODES = {"nodes": 2, "cores_per_node": 4, "gpus_per_node": 2}
SHARED = System.from_dict(
    {
        "modules": [
            {
                "name": "A",
                "nodes": 4,
                "shared": True,
                "node_sets": [
                    NODES | {"name": "s", "features": ["x"]},
                    NODES | {"name": "t", "features": ["y"]},
                ],
            }
        ],
        "partitions": [{"name": "a", "module": "A"}, {"name": "b", "module": "A"}],
    }
)
WHOLE = System.from_dict({"modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 4}]})
PREEMPTING = Policy(
    backfill="slurm", slurm={"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}
)

RESERVATION = {"name": "r", "start": 0, "duration": 60, "node_count": 1, "users": ["u"]}
STANDING, DRAWING = (
    System.from_dict(
        {"modules": [{"name": "A", "nodes": 4}], "reservations": [RESERVATION | {"flags": flags}]}
    )
    for flags in ([], ["MAGNETIC"])
)
GRES = "asking for generic resources in a way that is not possible here"
FEATURES = "asking for features in a way that is not possible here"
TOGETHER = "of jobs whose components would start together, which is not possible here"
SEVERAL = "with several placements or shared resources, which are not possible here"
LICENCES = "asking for licences in a way that is not possible here"
GONE = "in partitions that the system does not have"

KINDS = {
    "partition": (WHOLE, "easy", {"partition": ["", "gone", ""]}, GONE),
    "one of several partitions": (WHOLE, "slurm", {"partition": ["", "A,gone", ""]}, GONE),
    "feature": (WHOLE, "slurm", {"constraint": ["", "fast&", ""]}, FEATURES),
    "feature in brackets": (SHARED, "easy", {"constraint": ["", "[x|y]", ""]}, FEATURES),
    "licence": (WHOLE, "easy", {"licences": ["", "a:b:c", ""]}, LICENCES),
    "part of a GPU": (SHARED, "slurm", {"gpus": [0, 0.5, 0]}, GRES),
    "nonsense": (SHARED, "slurm", {"gres": ["", "gpu:x:y", ""]}, GRES),
    "several types": (SHARED, "easy", {"gres": ["", "gpu:1.5", ""]}, GRES),
    "two partitions under easy": (SHARED, "easy", {"partition": ["", "a,b", ""]}, SEVERAL),
}  # fmt: skip
HET = {
    "shared nodes under easy": (SHARED, "easy"),
    "preemption": (WHOLE, PREEMPTING),
    "reservations": (STANDING, "easy"),
    "reservations that draw jobs under slurm": (DRAWING, "slurm"),
}


def jobs(**columns):
    asked = {"nodes": [1, 1, 1], "submit_time": [0, 0, 0], "run_time": [10, 10, 10], "cores": [1, 1, 1]}
    return Workload.from_columns(**asked | {"component_id": [7, 8, 9]} | columns)


def outcome(system, workload, policy):
    """Leave out what cannot be simulated; return who ran, what is counted, and what is said."""
    simulation = Simulation(system, workload, policy, on_error="skip")
    result = simulation.run()
    result.check()
    ran = result.components["component_id"].tolist()
    return ran, result.metrics["counts"]["skipped_because"], simulation.workload.source.notes


@pytest.mark.parametrize("kind", KINDS)
def test_one_job_is_left_out(kind):
    system, policy, columns, reason = KINDS[kind]
    ran, counts, notes = outcome(system, jobs(**columns), policy)
    assert (ran, counts) == ([7, 9], {reason: 1})
    assert any(note.startswith(f"left out: 1 {reason} (8") for note in notes)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_names_the_job_and_the_way_out(kind):
    system, policy, columns, reason = KINDS[kind]
    with pytest.raises(InputError) as raised:
        simulate(system, jobs(**columns), policy)
    assert f"1 component cannot be simulated: 1 {reason} (8" in str(raised.value)
    assert "--on-error skip" in str(raised.value)


@pytest.mark.parametrize("kind", HET)
def test_a_heterogeneous_job_is_left_out_as_a_whole(kind):
    system, policy = HET[kind]
    workload = jobs(modular_job_id=[4, 4, 5], components_total=[2, 2, 1])
    ran, counts, notes = outcome(system, workload, policy)
    assert (ran, counts) == ([9], {TOGETHER: 2})
    assert any(f"{TOGETHER} (4)" in note for note in notes)
    with pytest.raises(
        InputError, match=r"2 components cannot be simulated[^\n]*\(4\); allowed: --on-error skip"
    ):
        simulate(system, workload, policy)


def test_with_one_component_its_whole_job_goes():
    workload = jobs(
        modular_job_id=[4, 4, 5], components_total=[2, 2, 1], partition=["A", "gone", "A"], delay=[-1, 5, -1]
    )
    ran, counts, _ = outcome(WHOLE, workload, "easy")
    assert (ran, counts) == ([9], {GONE: 1, "of jobs of which another component is left out": 1})


def test_all_kinds_are_named_at_once_with_the_first_three_of_each():
    asked = {"nodes": [1] * 7, "submit_time": [0] * 7, "run_time": [10] * 7, "cores": [1] * 7}
    workload = Workload.from_columns(
        partition=["gone", "old", "gone", "older", "", "", ""],
        constraint=["", "", "", "", "[x|y]", "", ""],
        **asked,
    )
    with pytest.raises(InputError) as raised:
        simulate(SHARED, workload, "slurm")
    said = str(raised.value)
    assert "5 components cannot be simulated" in said
    assert f"4 {GONE} (1 ['gone'], 2 ['old'], 3 ['gone'], ...)" in said
    assert f"1 {FEATURES} (5 ['[x|y]'])" in said
    assert all("; allowed: " in line for line in said.splitlines())


def test_a_fault_that_is_found_twice_is_told_once():
    """What is left when job 3 is gone, which DYNAMIC ties to job 1, would start together, too."""
    workload = jobs(
        modular_job_id=[1, 1, 3],
        components_total=[2, 2, 1],
        delay=[-1, 8, -1],
        dependency_ids=["", "", "8"],
        dependency_kinds=["", "", "DYNAMIC"],
    )
    with pytest.raises(InputError) as raised:
        simulate(SHARED, workload, "conservative")
    assert str(raised.value).count("policy.backfill: found") == 1


def test_a_dependency_on_a_job_that_is_left_out_is_lifted_and_counted():
    workload = jobs(
        partition=["gone", "", ""], dependency_ids=["", "7", ""], dependency_kinds=["", "AFTEROK", ""]
    )
    result = simulate(WHOLE, workload, "slurm", on_error="skip")
    assert (result.components["start_time"] >= 0).all()
    assert result.metrics["counts"]["not_honoured"]["skipped_predecessor"] == 1


@pytest.mark.parametrize("count", ["1500G", "1610612736000", "1.5T", "9P", "9999999999999999P"])
def test_a_large_count_is_read(count):
    """Of a resource that no node has it is counted as not modelled; where nodes have some it never fits."""
    result = simulate(SHARED, jobs(gres=["", f"bb/datawarp:{count}", ""]), "slurm")
    assert result.metrics["counts"]["not_honoured"]["gres"] == 1
    nodes = {"name": "A", "nodes": 1, "cores_per_node": 4, "shared": True, "gres": {"tmp": 20 * 1024**2}}
    for policy in ("easy", "slurm"):
        for column in ("gres", "gres_per_job", "gres_per_task"):
            asked = {column: ["tmp:20M", f"tmp:{count}", ""], "tasks": [1, 4, 1]}
            result = simulate(System.from_dict({"modules": [nodes]}), jobs(**asked), policy)
            assert result.components["state"].tolist() == ["COMPLETED", "REJECTED", "COMPLETED"]


def test_all_may_be_left_out():
    ran, counts, _ = outcome(WHOLE, jobs(partition=["gone"] * 3), "slurm")
    assert (ran, counts) == ([], {GONE: 3})


def test_what_goes_is_as_if_it_had_never_been_there():
    asked = {"nodes": [4, 4, 2], "submit_time": [0, 20, 25], "run_time": [10, 10, 10], "cores": [-1] * 3}
    with_it = jobs(partition=["gone", "", ""], **asked)
    without = jobs(**asked).select([1, 2])
    for policy in ("easy", "slurm", "f1"):
        one = simulate(WHOLE, with_it, policy, on_error="skip").components
        other = simulate(WHOLE, without, policy).components
        assert one["start_time"].tolist() == other["start_time"].tolist()


def test_a_saved_simulation_goes_on(tmp_path):
    simulation = Simulation(WHOLE, jobs(partition=["", "gone", ""]), "easy", on_error="skip")
    simulation.run(until=5)
    simulation.save(tmp_path / "saved")
    again = Simulation.load(tmp_path / "saved")
    assert again.run().components.equals(simulation.run().components)


def test_on_the_command_line(tmp_path):
    (tmp_path / "s.yaml").write_text("modules: [{name: A, nodes: 4}]\n")
    rows = ["component_id,nodes,submit_time,run_time,partition", "7,1,0,10,A", "8,1,0,10,gone", ""]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    command = [sys.executable, "-m", "scheduler_sim", "run", "s.yaml", "t.csv"]
    stopped = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert stopped.returncode == 2
    assert f"1 component cannot be simulated: 1 {GONE} (8 ['gone'])" in stopped.stderr
    assert "--on-error skip" in stopped.stderr
    passed = subprocess.run([*command, "--on-error", "skip"], cwd=tmp_path, capture_output=True, text=True)
    assert passed.returncode == 0
    assert f"left out: 1 {GONE} (8 ['gone'])" in passed.stderr
    assert f"skipped: 1 {GONE}" in passed.stdout


SITE = """\
ClusterName=acme
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-4] CPUs=8 RealMemory=64000
PartitionName=all Nodes=ALL Default=YES MaxTime=7-0
"""
HEAD = "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem"
TIMES = "2026-03-02T08:00:00|2026-03-02T08:00:05|2026-03-02T09:00:05|01:00:00|02:00:00|1|8|16G"
RECORDS = {"11": "all", "12": "oldpart", "40+0": "all", "40+1": "all", "30_1": "gone", "50": "all"}


@pytest.mark.long
def test_inspect_of_a_site_says_what_run_will_not_simulate(tmp_path):
    rows = [f"{name}|ann|phys|{partition}|COMPLETED|{TIMES}" for name, partition in RECORDS.items()]
    (tmp_path / "slurm.conf").write_text(SITE)
    (tmp_path / "sacct.txt").write_text("\n".join([HEAD, *rows, ""]))
    command = [sys.executable, "-m", "scheduler_sim"]
    page = subprocess.run([*command, "inspect", "."], cwd=tmp_path, capture_output=True, text=True)
    assert page.returncode == 0
    assert f"2 {GONE} (12 [line 3, 'oldpart'], 30_1 [line 6, 'gone'])" in page.stdout
    assert "start together" not in page.stdout  # the heterogeneous job 40 runs, also where nodes are shared
    skipping = [*command, "run", ".", "--on-error", "skip"]
    run = subprocess.run(skipping, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0
    assert f"skipped: 2 {GONE}" in run.stdout
