"""Which nodes Slurm's schedulers may take: partitions over part of a module, constraints, weights.

All numbers worked out by hand. Backfill passes are made at every instant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.errors import ConfigError
from tests.conftest import examples

pytestmark = pytest.mark.interpreted

RACKS = {
    "modules": [
        {
            "name": "CM",
            "nodes": 6,
            "node_sets": [
                {"name": "a", "nodes": 2, "features": ["fast", "r1"]},
                {"name": "b", "nodes": 2, "features": ["slow", "r1"]},
                {"name": "c", "nodes": 2, "features": ["slow", "r2"]},
            ],
        }
    ],
    "partitions": [
        {"name": "all", "module": "CM"},
        {"name": "left", "module": "CM", "node_sets": ["a", "b"]},
        {"name": "right", "module": "CM", "node_sets": ["b", "c"]},
    ],
}
"""Nodes 0 and 1 are fast in r1, 2 and 3 slow in r1, 4 and 5 slow in r2."""


def at_once(**keys: Any) -> Policy:
    """Policy slurm whose schedulers look at every instant."""
    slurm = {"bf_interval": 0, "batch_sched_delay": 0, "bf_resolution": 1, "latency": "none", **keys}
    return Policy(backfill="slurm", slurm=slurm)


def jobs(*rows: tuple[int, int, int, str, str]) -> Workload:
    """Jobs by submit time, nodes, minutes, partition and constraint."""
    submit, nodes, minutes, partition, constraint = (list(column) for column in zip(*rows, strict=True))
    run = [60 * m for m in minutes]
    return Workload.from_columns(
        submit_time=submit,
        nodes=nodes,
        run_time=run,
        time_limit=run,
        partition=partition,
        constraint=constraint,
    )


def starts(system: dict[str, Any], *rows: tuple[int, int, int, str, str], **keys: Any) -> list[int]:
    """Start times in minutes, -1 = never."""
    result = simulate(System.from_dict(system), jobs(*rows), at_once(**keys))
    result.check()
    begun = result.components["start_time"].to_numpy()
    return np.where(begun < 0, -1, begun // 60).tolist()


EITHER_SCHEDULER = pytest.mark.parametrize("scheduler", ["sched/builtin", "sched/backfill"])


class TestPartOfAModule:
    @EITHER_SCHEDULER
    def test_a_constraint_waits_for_its_nodes(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 2, 10, "all", "fast"),
            (1, 1, 5, "all", "fast"),  # four nodes are idle, none of them fast
            (2, 4, 5, "right", "slow"),  # behind it in another partition
            SchedulerType=scheduler,
        )
        assert begun == [0, 10, 0 if scheduler == "sched/backfill" else 10]

    @EITHER_SCHEDULER
    def test_partitions_share_nodes_where_they_overlap(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 4, 10, "left", ""),
            (1, 3, 5, "right", ""),  # nodes 4 and 5 are not enough
            (2, 2, 3, "right", ""),
            SchedulerType=scheduler,
        )
        assert begun == [0, 10, 0 if scheduler == "sched/backfill" else 15]

    def test_a_reservation_keeps_only_its_own_nodes(self) -> None:
        begun = starts(
            RACKS,
            (0, 1, 10, "left", "fast"),
            (1, 2, 5, "left", "fast"),  # reserves nodes 0 and 1 from 10 on
            (2, 1, 20, "left", "fast"),  # would be in the way
            (3, 2, 20, "left", "slow"),
            (4, 2, 20, "right", ""),
        )
        assert begun == [0, 10, 15, 0, 0]

    def test_memory_chooses_nodes_as_features_do(self) -> None:
        sets = [{"name": "big", "nodes": 1, "memory_gb": 8}, {"name": "small", "nodes": 3, "memory_gb": 1}]
        system = System.from_dict({"modules": [{"name": "CM", "nodes": 4, "node_sets": sets}]})
        two = Workload.from_columns(
            submit_time=[0, 0], nodes=[1, 1], run_time=[60, 60], time_limit=[60, 60], memory_kb=[4 << 20] * 2
        )
        result = simulate(system, two, at_once())
        result.check()
        assert result.components["start_time"].tolist() == [0, 60]

    def test_reservations_that_only_count_refuse_parts_of_modules(self) -> None:
        with pytest.raises(ConfigError, match="a partition covers part of a module"):
            simulate(System.from_dict(RACKS), jobs((0, 1, 1, "all", "")), at_once(fixed_nodes=False))


class TestCounts:
    @EITHER_SCHEDULER
    def test_so_many_nodes_have_the_feature_the_rest_need_not(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 1, 10, "all", "fast"),
            (1, 4, 5, "all", "fast*1&slow*2"),
            (2, 1, 5, "all", "fast"),  # the count has taken the other fast node
            (2, 1, 5, "all", "slow"),
            SchedulerType=scheduler,
        )
        assert begun == [0, 0, 5, 0 if scheduler == "sched/backfill" else 5]

    @EITHER_SCHEDULER
    def test_a_count_waits_though_nodes_enough_are_idle(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 1, 10, "all", "fast"),
            (1, 3, 5, "all", "fast*2"),
            SchedulerType=scheduler,
        )
        assert begun == [0, 10]

    def test_a_count_reserves_what_it_counts(self) -> None:
        begun = starts(
            RACKS,
            (0, 1, 10, "all", "fast"),
            (1, 3, 5, "all", "fast*2"),
            (2, 1, 20, "all", "fast"),
            (3, 3, 20, "all", "slow"),  # one slow node is kept
            (4, 1, 20, "all", "slow"),
        )
        assert begun == [0, 10, 15, 0, 15]

    def test_each_count_has_nodes_of_its_own(self) -> None:
        system, two = System.from_dict(RACKS), jobs((0, 2, 1, "all", "fast*2&slow*1"))
        assert simulate(system, two, at_once()).components["state"].tolist() == ["REJECTED"]


class TestAlternatives:
    @EITHER_SCHEDULER
    def test_all_nodes_are_alike(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 3, 10, "left", ""),
            (1, 3, 5, "all", "[r1|r2]"),  # 3, 4 and 5 are idle, but in two racks
            SchedulerType=scheduler,
        )
        assert begun == [0, 10]

    @EITHER_SCHEDULER
    def test_the_second_will_do_at_once(self, scheduler: str) -> None:
        begun = starts(
            RACKS,
            (0, 4, 10, "left", ""),
            (1, 2, 5, "all", "[r1|r2]"),
            (2, 1, 5, "all", "r2"),
            SchedulerType=scheduler,
        )
        assert begun == [0, 0, 5]

    def test_the_one_that_is_free_first_is_reserved_and_no_other(self) -> None:
        begun = starts(
            RACKS,
            (0, 4, 10, "left", ""),
            (1, 2, 20, "right", "r2"),
            (2, 2, 5, "all", "[r2|r1]"),  # from 10 on in r1
            (3, 2, 10, "all", "r1"),  # beside it
            (4, 1, 5, "all", "r2"),
        )
        assert begun == [0, 0, 10, 10, 20]


WEIGHED = {
    "modules": [
        {
            "name": "CM",
            "nodes": 6,
            "node_sets": [
                {"name": "dear", "nodes": 2, "features": ["big"], "weight": 100},
                {"name": "cheap", "nodes": 3, "features": ["small"], "weight": 1},
                {"name": "middle", "nodes": 1, "features": ["mid"], "weight": 10},
            ],
        }
    ]
}


class TestWeights:
    @EITHER_SCHEDULER
    def test_light_nodes_go_first(self, scheduler: str) -> None:
        begun = starts(
            WEIGHED,
            (0, 2, 10, "", ""),  # two of the cheap ones, though the dear ones would fit exactly
            (1, 2, 10, "", ""),  # the last cheap one and the middle one
            (2, 2, 10, "", "big"),
            SchedulerType=scheduler,
        )
        assert begun == [0, 0, 0]

    def test_a_constraint_goes_before_weight(self) -> None:
        begun = starts(
            WEIGHED,
            (0, 3, 10, "", "big*1"),  # one dear, two cheap
            (1, 1, 5, "", "mid"),
            (2, 1, 5, "", "small"),
            (3, 1, 5, "", "big"),
        )
        assert begun == [0, 0, 0, 0]


NODES = {
    "fast": {0, 1},
    "slow": {2, 3, 4, 5},
    "r1": {0, 1, 2, 3},
    "r2": {4, 5},
    "left": {0, 1, 2, 3},
    "right": {2, 3, 4, 5},
    "all": set(range(6)),
}
MEANS = {
    "": lambda held: True,
    "fast": lambda held: held <= NODES["fast"],
    "slow&r1": lambda held: held <= NODES["slow"] & NODES["r1"],
    "[r1|r2]": lambda held: held <= NODES["r1"] or held <= NODES["r2"],
    "fast*1&r2*1": lambda held: len(held & NODES["fast"]) >= 1 and len(held & NODES["r2"]) >= 1,
    "slow*2": lambda held: len(held & NODES["slow"]) >= 2,
}


@examples(12)
@given(
    asked=st.lists(
        st.tuples(
            st.integers(0, 200),
            st.integers(1, 4),
            st.integers(1, 5),
            st.sampled_from(["all", "left", "right", "left,right"]),
            st.sampled_from(list(MEANS)),
        ),
        min_size=8,
        max_size=20,
    ),
    scheduler=st.sampled_from(["sched/builtin", "sched/backfill"]),
)
def test_whatever_runs_holds_what_it_asked_for(asked: list[Any], scheduler: str) -> None:
    simulation = Simulation(System.from_dict(RACKS), jobs(*sorted(asked)), at_once(SchedulerType=scheduler))
    core = simulation._core
    for now in range(0, 2000, 50):
        simulation.run(until=now)
        busy: set[int] = set()
        for row in np.flatnonzero(core.jobs["state"] == RUNNING):
            way = int(core.jobs["placed"][row])
            held = nodes_of(core, int(row))
            partition = simulation.system.partitions[int(core.slurm.way["partition"][way])].name
            assert len(held) == core.placements["nodes"][way]
            assert held <= NODES[partition] - busy
            assert MEANS[sorted(asked)[row][4]](held)
            busy |= held
    result = simulation.run()
    result.check()
    assert set(result.components["state"]) <= {"COMPLETED", "REJECTED"}


def nodes_of(core: Any, row: int) -> set[int]:
    """Numbers of the nodes that a component holds."""
    piece, held = int(core.slurm.job["piece"][row]), set()
    while piece >= 0:
        word, bits, piece = core.slurm.nodes.piece[piece]
        held |= {64 * int(word) + i for i in range(64) if int(bits) >> i & 1}
    return held


@pytest.mark.parametrize("trace", [True, False])
def test_what_is_submitted_later_may_ask_for_other_nodes(trace: bool) -> None:
    early = jobs((0, 4, 10, "left", "")) if trace else None
    simulation = Simulation(System.from_dict(RACKS), early, at_once())

    def asker() -> Any:
        yield simulation.env.timeout(60)
        common = {"nodes": 2, "run_time": 300, "time_limit": 300, "partition": "all"}
        for number, constraint in enumerate(["fast", "[r1|r2]", "slow*1&r2*1", "fast", "r2"], 100):
            simulation.submit(**common, component_id=number, constraint=constraint)
        yield simulation.env.timeout(1)
        simulation.submit(**common, component_id=200, constraint="fast*1&r2*1")

    simulation.process(asker())
    result = simulation.run()
    result.check()
    begun = dict(zip(result.components["component_id"], result.components["start_time"], strict=True))
    if trace:
        assert [begun[i] for i in (100, 101, 102, 103, 104, 200)] == [600, 60, 360, 900, 660, 1200]
    else:
        assert [begun[i] for i in (100, 101, 102, 103, 104, 200)] == [60, 60, 60, 360, 360, 660]
