"""A veto and a rank of one's own, as plain functions beside the order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.schedulers.test_classic import facts
from tests.scheduling.cases import Case, any_cases, policies, simple_cases

FOUR = System.homogeneous(4)


def jobs(*rows: tuple[int, int, int], **more: Any) -> Workload:
    """(submit, nodes, run time) of each; limits are run times."""
    submit, nodes, run = zip(*rows, strict=True)
    return Workload.from_columns(nodes=nodes, submit_time=submit, run_time=run, time_limit=run, **more)


def starts(workload: Workload, system: System = FOUR, **keys: Any) -> list[int]:
    result = simulate(system, workload, keys)
    result.check()
    return result.components["start_time"].tolist()


def small(nodes: float) -> bool:
    return nodes < 3


def small_before(nodes: float, now: float) -> bool:
    return nodes < 3 or now >= 150


def always() -> bool:
    return True


@pytest.mark.interpreted
@pytest.mark.parametrize("backfill", ["none", "first_fit", "easy", "conservative"])
def test_who_may_not_start_is_passed_over(backfill: str) -> None:
    #  the first asks for 3 nodes: nothing is reserved for it, nobody waits for it
    workload = jobs((0, 3, 10), (0, 2, 10), (0, 2, 10), (1, 2, 5))
    assert starts(workload, backfill=backfill, may_start=small) == [-1, 0, 0, 10]


@pytest.mark.interpreted
def test_it_is_asked_again_each_minute() -> None:
    assert starts(jobs((0, 3, 10), (0, 2, 5)), backfill="easy", may_start=small_before) == [180, 0]


@pytest.mark.interpreted
def test_one_that_never_may_start_ends_the_run_after_a_week() -> None:
    simulation = Simulation(FOUR, jobs((0, 3, 10), (0, 2, 5)), {"may_start": small})
    result = simulation.run()
    assert result.components["state"].tolist() == ["PENDING", "COMPLETED"]
    assert 7 * 86400 <= simulation.env.now <= 7 * 86400 + 120


@pytest.mark.interpreted
@examples(150)
@given(any_cases())
def test_a_veto_that_lets_all_start_changes_nothing(case: Case) -> None:
    system, workload = case.machine.system(), case.workload()
    without = simulate(system, workload, Policy(**case.policy))
    if case.policy.get("shadow") != "static":
        vetoed = simulate(system, workload, Policy(may_start=always, **case.policy))
        assert facts(vetoed) == facts(without)


@pytest.mark.interpreted
@examples(150)
@given(simple_cases(policies(simple=True).map(lambda keys: keys | {"shadow": "dynamic"}), dependencies=False))
def test_those_who_never_may_start_are_as_if_they_were_not_there(case: Case) -> None:
    """But for the time of a pass in which the one who may not would have been looked at."""
    system = case.machine.system()
    others = replace(case, jobs=tuple(job for job in case.jobs if job.nodes < 3))
    if (
        not others.jobs
        or case.policy["order"] in ("wfp3", "unicef")
        or min(j.submit for j in case.jobs) != min(j.submit for j in others.jobs)
    ):
        return  # orders that count from the first submission, or change with each pass
    with_all = simulate(system, case.workload(), Policy(may_start=small, **case.policy)).components
    without = simulate(system, others.workload(), Policy(**case.policy)).components
    kept = with_all[with_all["nodes"] < 3]
    assert kept["start_time"].tolist() == without["start_time"].tolist()
    assert (with_all[with_all["nodes"] >= 3]["start_time"] == -1).all()


@pytest.mark.interpreted
def test_the_smallest_rank_is_taken() -> None:
    modules = [{"name": name, "nodes": 2} for name in ("cm", "esb")]
    system = System.from_dict({"modules": modules})
    both = jobs((0, 2, 5), (0, 2, 5), (0, 1, 5), partition=["cm,esb"] * 3)

    def esb_first(module: str, nodes: float) -> float:
        return nodes if module == "esb" else 10 * nodes

    first = simulate(system, both, {"backfill": "first_fit", "placement": esb_first}).components
    assert first["module"].tolist() == ["esb", "cm", "esb"]
    waits = simulate(system, both, {"backfill": "easy", "placement": esb_first}).components
    assert waits["module"].tolist() == ["esb", "esb", "cm"]
    assert waits["start_time"].tolist() == [0, 5, 0]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"placement": lambda walltime: 1}, "parameter 'walltime'; allowed: module, partition, nodes, limit"),
        ({"placement": lambda nodes: 1 / 0}, "fails: ZeroDivisionError"),
        ({"placement": lambda nodes: float("nan")}, "returns NaN"),
        ({"may_start": lambda user: True}, "parameter 'user'; allowed: submit, limit, nodes"),
        ({"may_start": "nowhere.txt"}, "found 'nowhere.txt'; allowed: path.py:function"),
        ({"backfill": "slurm", "may_start": small}, "allowed: only with backfill: none or backfill: easy"),
    ],
)
def test_mistakes(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        starts(jobs((0, 1, 5)), **keys)


@pytest.mark.interpreted
def test_an_answer_that_is_none_is_counted() -> None:
    def fails(nodes: float) -> bool:
        raise ValueError

    result = simulate(FOUR, jobs((0, 1, 5)), {"may_start": fails})
    assert result.components["start_time"].tolist() == [0]
    assert result.manifest["counts"]["not_honoured"] == {"may_start": 1}


@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_both_compiled_from_a_file(tmp_path: Path) -> None:
    veto = "def small_before(nodes, now):\n    return nodes < 3 or now >= 150\n"
    (tmp_path / "own.py").write_text(f"{veto}\ndef last(limit):\n    return -limit\n")
    (tmp_path / "policy.yaml").write_text(
        "backfill: easy\nmay_start: own.py:small_before\nplacement: own.py:last\n"
    )
    policy = Policy.from_yaml(tmp_path / "policy.yaml")
    assert {role for role, _ in policy.files} == {"policy", "may_start", "placement"}
    result = simulate(FOUR, jobs((0, 3, 10), (0, 2, 5)), policy)
    assert result.components["start_time"].tolist() == [180, 0]
