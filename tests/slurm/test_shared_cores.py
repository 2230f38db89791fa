"""Cores that several jobs have at once (OverSubscribe) from a system and a trace: schedules, laws, words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError, InvariantError
from scheduler_sim.result.node_rows import node_rows
from tests.engine.interpreted import interpreted
from tests.result.test_check import set_component

ROWS = "jobs shared cores of module CM and had up to 8 of its 4 at once"


def system(*sharing: str, nodes: int = 1, **module: Any) -> System:
    partitions = [
        {"name": f"p{i}", "module": "CM", "slurm": {"OverSubscribe": one}} for i, one in enumerate(sharing)
    ]
    cores = {"nodes": nodes, "shared": True, "cores_per_node": 4} | module
    return System.from_dict({"modules": [{"name": "CM", **cores}], "partitions": partitions})


def jobs(count: int, **columns: Any) -> Workload:
    each = {"submit_time": [0] * count, "nodes": [1] * count, "run_time": [100] * count, "cores": [4] * count}
    return Workload.from_columns(**(each | columns))


def starts(result: Result) -> list[int]:
    result.check()
    first = result.components["start_time"].min()
    return (result.components["start_time"] - first).tolist()


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("sharing", "asking", "at_once"),
    [
        ("NO", 3, 1),
        ("NO", 0, 1),
        ("YES:2", 0, 1),
        ("YES:2", 3, 2),
        ("FORCE:1", 3, 1),
        ("FORCE:2", 0, 2),
        ("FORCE:3", 0, 3),
    ],
)
def test_so_many_jobs_have_the_same_cores_at_once(sharing: str, asking: int, at_once: int) -> None:
    result = simulate(system(sharing), jobs(3, oversubscribe=[int(asking > 0)] * 3), "slurm")
    assert sum(start == 0 for start in starts(result)) == at_once


@pytest.mark.interpreted
def test_cores_count_for_each_job_that_has_them() -> None:
    """Two jobs of four cores on a node of four: eight are busy, and the reader is told so."""
    result = simulate(system("FORCE:2"), jobs(2), "slurm")
    assert starts(result) == [0, 0]
    assert result.timeline["cores_busy"].max() == 8
    assert result.timeline["nodes_busy"].max() == 1
    assert result.metrics["sharing"]["core_utilization"]["CM"] > 1
    assert [text.startswith(ROWS) for text in result.metrics["warnings"]] == [True]
    alone = simulate(system("NO"), jobs(2), "slurm")
    assert alone.metrics["warnings"] == []


@pytest.mark.interpreted
def test_in_the_picture_of_a_node_they_stand_above_each_other() -> None:
    result = simulate(system("FORCE:2"), jobs(3, cores=[4, 2, 2]), "slurm")
    assert starts(result) == [0, 0, 0]
    rows = node_rows(result, {"CM": 1})
    places = sorted(zip(rows.low / rows.grains, rows.high / rows.grains, strict=True))
    assert places == [(0, 0.5), (0.5, 0.75), (0.75, 1)]


@pytest.mark.interpreted
def test_partitions_have_rows_of_their_own() -> None:
    """Two jobs of the first partition and one of the second have the same cores; the third of each waits."""
    result = simulate(
        system("FORCE:2", "FORCE:1"), jobs(5, partition=["p0", "p0", "p1", "p0", "p1"]), "slurm"
    )
    assert [start == 0 for start in starts(result)] == [True, True, True, False, False]
    assert result.timeline["cores_busy"].max() == 12


@pytest.mark.interpreted
def test_rows_stay_as_they_are_where_a_job_finds_none_anew() -> None:
    """Nodes of one core, chosen by features. 1 meets 2 on node 4, 2 meets 3 on 5, 3 meets 4 on 6.

    In rows they are 1 and 3, 2 and 4. As 5 ends, all are put in anew by their first nodes: 1 and 4 go into
    one row, 2 into the other, and 3 meets both. So all stay. 6 wants nodes 0 and 1, each of which has one
    job, but one in each row: it waits for 4. 7, on node 1 alone, is in the row of 1 and 3.
    """
    of_nodes = ["a,h", "d,h,k", "b", "c", "a,b", "b,c", "c,d", "e"]
    sets = [{"name": f"n{i}", "nodes": 1, "features": each.split(",")} for i, each in enumerate(of_nodes)]
    site = system("FORCE:2", nodes=8, cores_per_node=1, node_sets=sets)
    each = {
        "constraint": ["a", "b", "c", "d", "e", "h", "k"],
        "nodes": [2, 3, 3, 2, 1, 2, 1],
        "run_time": [500, 500, 500, 200, 20, 50, 50],
        "submit_time": [1, 2, 3, 4, 5, 50, 60],
        "cores": [1] * 7,
    }
    result = simulate(site, Workload.from_columns(**each), "slurm")
    result.check()
    start, end = (result.components[name].tolist() for name in ("start_time", "end_time"))
    assert max(start[:5]) < end[4] < start[6] < end[3] <= start[5]
    assert result.components["node_list"].tolist() == ["0,4", "2,4-5", "3,5-6", "1,6", "7", "0-1", "1"]


@pytest.mark.interpreted
@pytest.mark.parametrize(("sharing", "together"), [("FORCE:2", True), ("FORCE:1", False), ("YES:2", False)])
def test_exclusive_gives_all_cores_but_others_may_have_them_too(sharing: str, together: bool) -> None:
    both = jobs(2, cores=[1, 1], exclusive=[1, 0], oversubscribe=[1, 1])
    result = simulate(system(sharing), both, "slurm")
    assert (starts(result) == [0, 0]) == together
    assert result.components["cores"].tolist() == [4, 1]


@pytest.mark.interpreted
def test_memory_is_never_had_twice() -> None:
    with_memory = jobs(2, memory_kb=[3 << 20] * 2)
    assert starts(simulate(system("FORCE:2", memory_gb=4), with_memory, "slurm"))[1] >= 100


@pytest.mark.interpreted
def test_other_policies_let_no_core_be_had_twice_and_count_who_asks_for_it() -> None:
    asking = jobs(2, oversubscribe=[1, 0])
    result = simulate(system("YES:2"), asking, {"backfill": "easy"})
    assert starts(result) == [0, 100]
    assert result.metrics["counts"]["not_honoured"] == {"oversubscribe": 1}
    assert simulate(system("YES:2"), asking, "slurm").metrics["counts"]["not_honoured"] == {}


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("sharing", "count", "cores", "words"),
    [
        (("FORCE:2",), 2, 5, "jobs have 9 of the cores of node 0 of CM at 0, it has 4, 2 times"),
        (
            ("FORCE:1", "FORCE:2"),
            1,
            5,
            "jobs of partition p0 have 5 of the cores of node 0 of CM at 0, it has 4",
        ),
        (("NO",), 1, 4.5, "jobs have 4.5 of the cores of node 0 of CM at 0, it has 4"),
    ],
)
def test_no_core_is_had_more_often_than_it_may_be(
    sharing: tuple[str, ...], count: int, cores: float, words: str
) -> None:
    result = simulate(system(*sharing), jobs(count), "slurm")
    set_component(result, 0, cores=cores)
    with pytest.raises(InvariantError) as raised:
        result.check()
    assert str(raised.value) == f"parts-of-nodes: {words}"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"slurm": {"OverSubscribe": "FORCE:0"}}, "found 'FORCE:0'; allowed: NO, YES[:jobs] from 2"),
        ({"slurm": {"OverSubscribe": "EXCLUSIVE"}}, "found 'EXCLUSIVE'; allowed: NO, YES"),
        ({"slurm": {"OverSubscribe": 3}}, "found 3; allowed: NO, YES[:jobs]"),
        ({"exclusive": True, "slurm": {"OverSubscribe": "YES"}}, "found 'YES' beside exclusive: true"),
    ],
)
def test_what_cannot_be_said_of_a_partition_is_an_error(keys: dict[str, Any], words: str) -> None:
    partition = {"name": "p", "module": "CM"} | keys
    module = {"name": "CM", "nodes": 1, "shared": True, "cores_per_node": 4}
    with pytest.raises(ConfigError) as raised:
        System.from_dict({"modules": [module], "partitions": [partition]})
    assert words in str(raised.value)


@pytest.mark.parametrize(("written", "read"), [(True, "YES:4"), (False, "NO"), ("force", "FORCE:4")])
def test_words_that_yaml_reads_as_truths(written: Any, read: str) -> None:
    assert str(system(written).partitions[0].over_subscribe) == read


# ---------------------------------------------------------------------- many jobs

MANY = 250


def crowd(count: int = MANY, nodes: int = 5) -> Workload:
    draw = np.random.default_rng(5)
    partition, run = draw.choice(["p0", "p0", "p1"], count), draw.integers(1, 900, count)
    return Workload.from_columns(
        submit_time=np.sort(draw.integers(0, 9 * count, count)),
        run_time=run,
        time_limit=run + 60,
        nodes=draw.choice([1, 1, 2, nodes], count),
        tasks_per_node=draw.choice([1, 4, 9, 16], count),
        memory_kb=draw.choice([1 << 20, 4 << 20], count),
        partition=partition,
        oversubscribe=draw.choice([0, 1], count),
        exclusive=draw.choice([0] * 12 + [1], count),
    )


@pytest.mark.interpreted
@pytest.mark.parametrize("sharing", ["FORCE:3", "YES:2"])
def test_rows_outlive_what_operators_do(sharing: str) -> None:
    """Jobs are cancelled, sent back, have other limits, come later, and lose their nodes."""
    site = system(sharing, "FORCE:1", nodes=6, cores_per_node=16, sockets=2, memory_gb=64)
    sim = Simulation(site, crowd(60, nodes=2), "slurm")
    sim.process(operated(sim))
    result = sim.run()
    result.check()
    assert result.timeline["cores_busy"].max() > 6 * 16
    assert result.metrics["counts"]["requeued"] > 0


def operated(sim: Simulation) -> Iterator[Any]:
    steps = (
        lambda job: sim.cancel(job),
        lambda job: sim.requeue(job),
        lambda job: sim.update(job, time_limit=2000),
        lambda job: sim.fail("CM", requeue=True, until=int(sim.env.now) + 50),
        lambda job: sim.drain("CM", 2),
        lambda job: sim.resume("CM", 2),
        lambda job: sim.submit(nodes=2, run_time=90, tasks_per_node=9, partition="p0", oversubscribe=1),
    )
    job = 1
    for step in steps * 6:
        yield sim.env.timeout(17)
        job = next((one for one in range(job + 1, 61) if sim.state(one) == "RUNNING"), 0)
        if job == 0:
            job = 1
        else:
            step(job)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_and_interpreted_agree() -> None:
    """Nodes of 80 cores, so that their bits take two words."""
    site = system("FORCE:3", "FORCE:1", nodes=12, cores_per_node=80, sockets=2, memory_gb=64)
    compiled = simulate(site, crowd(), "slurm")
    compiled.check()
    assert compiled.timeline["cores_busy"].max() > 12 * 80
    with interpreted():
        plain = simulate(site, crowd(), "slurm")
    for one, other in ((compiled.components, plain.components), (compiled.timeline, plain.timeline)):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
