"""Packings by a score, worked out by hand: which of two nodes a job takes, and which GPU."""

from __future__ import annotations

import math

import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.simulation.rules.devices import thresholds

pytestmark = pytest.mark.interpreted

PAIR = {"cores_per_node": 8, "gpus_per_node": 2}


def site(*nodes: dict[str, float]) -> System:
    """Nodes in that order, one a set."""
    sets = [{"name": f"n{i}", "nodes": 1, **one} for i, one in enumerate(nodes)]
    return System.from_dict(
        {"modules": [{"name": "m", "nodes": len(sets), "shared": True, "node_sets": sets}]}
    )


def where(system: System, packing: str, *jobs: tuple[float, float], **more) -> list[tuple[str, str]]:
    """The node and the GPUs of each job of so many cores and GPUs, that come one after the other and stay."""
    count = len(jobs)
    workload = Workload.from_columns(
        submit_time=range(count),
        nodes=[1] * count,
        run_time=[1000] * count,
        cores=[cores for cores, _ in jobs],
        gpus=[gpus for _, gpus in jobs],
        **more,
    )
    result = simulate(system, workload, {"backfill": "first_fit", "packing": packing})
    result.check()
    return list(result.components[["node_list", "gpu_list"]].itertuples(index=False, name=None))


def last(system: System, packing: str, *jobs: tuple[float, float], **more) -> tuple[str, str]:
    return where(system, packing, *jobs, **more)[-1]


def test_dot_product_takes_the_node_with_least_free_of_what_is_asked_for():
    # 6 of 8 cores and 1.6 of 2 GPUs, against all: 100 - 50 (0.375 + 0.2) = 71, 100 - 50 (0.5 + 0.25) = 62
    assert last(site(PAIR, PAIR), "dot_product", (2, 0.4), (4, 0.5)) == ("0", "0")
    # in shares of the largest node: for 8 cores and a GPU 32 of 32 cores and 1 of 4 GPUs,
    # 100 - 50 (0.25 + 0.0625) = 84; 16 and 4, 100 - 50 (0.125 + 0.25) = 81
    big, rich = {"cores_per_node": 32, "gpus_per_node": 1}, {"cores_per_node": 16, "gpus_per_node": 4}
    assert last(site(rich, big), "dot_product", (8, 1)) == ("1", "0")
    # for 24 cores the first has too few; for 1 core and 1 GPU: 92 (of 92.19) and 95 (of 95.31)
    assert last(site(big, rich), "dot_product", (1, 1)) == ("0", "0")


def test_dot_product_rounds_down_and_then_takes_the_first():
    # 1 of 64 cores is asked for: 100 - 50 / 64 = 99.2, and 100 - 50 * 63 / 64 ** 2 = 99.2: both 99
    cores = {"cores_per_node": 64}
    assert where(site(cores, cores), "dot_product", (1, 0), (1, 0)) == [("0", ""), ("0", "")]
    # after 32 on the first, 2 cores: 100 - 50 * 32 * 2 / 64 ** 2 = 99.2, and 98.4
    assert where(site(cores, cores), "dot_product", (32, 0), (2, 0)) == [("0", ""), ("0", "")]


def test_least_left_takes_the_node_on_which_least_is_left():
    small, large = {"cores_per_node": 4, "gpus_per_node": 4}, {"cores_per_node": 8, "gpus_per_node": 2}
    # left of 4 cores and 1 GPU: 0 and 3 of 4: 100 (1 - 0.375) = 62; 4 of 8 and 1 of 4: 100 (1 - 0.375) = 62
    assert last(site(small, large), "least_left", (4, 1)) == ("0", "0")
    assert last(site(large, small), "least_left", (4, 1)) == ("0", "0")
    # of a core and half a GPU: 3 of 8 and 3.5 of 4: 37; 7 of 8 and 0.5 of 4: 50, and the next 62
    poor = {"cores_per_node": 8, "gpus_per_node": 1}
    assert where(site(small, poor), "least_left", (1, 0.5), (1, 0.5)) == [("1", "0"), ("1", "0")]


def test_gpu_clustering_takes_nodes_where_jobs_ask_as_this_one():
    three = site(PAIR, PAIR, PAIR)
    # a part on 0; one GPU goes to an empty node rather than to that; then each goes to its like
    assert where(three, "gpu_clustering", (1, 0.5), (1, 1), (1, 0.3), (1, 1)) == [
        ("0", "0"),
        ("1", "0"),
        ("0", "0"),
        ("1", "1"),
    ]
    # a node with its kind among others (2) before an empty one (1); alone (3) before that
    mixed = site(PAIR, PAIR)
    jobs = [(5, 0.5), (5, 0.9), (1, 1), (1, 0.1)]
    # 0.5 on 0, 0.9 on 1 (0 lacks cores); a whole one on 1, the fuller: 1.1 free, 25 * 0.45 = 11, before 6
    assert where(mixed, "gpu_clustering", *jobs)[2:] == [("1", "1"), ("0", "0")]


def test_gpu_clustering_does_not_count_jobs_without_gpus():
    assert where(site(PAIR, PAIR), "gpu_clustering", (1, 0), (1, 1), (1, 0)) == [
        ("0", ""),
        ("0", "0"),
        ("0", ""),
    ]


def test_gpu_packing_takes_a_gpu_in_use_then_a_node_in_use_then_an_idle_one():
    four = {"cores_per_node": 8, "gpus_per_node": 4}
    # idle nodes: those with the fewest GPUs, 33 - 2 = 31 before 33 - 4 = 29
    assert last(site(four, PAIR), "gpu_packing", (1, 0.6)) == ("1", "0")
    # then the part of a GPU in use holds 0.3, in steps of a tenth: 100 - 4; a whole one goes to a node in use
    assert where(site(four, PAIR), "gpu_packing", (1, 0.6), (1, 0.3), (1, 1), (1, 2), (1, 0.2)) == [
        ("1", "0"),
        ("1", "0"),
        ("1", "1"),
        ("0", "0-1"),
        ("0", "2"),
    ]


def test_gpu_packing_looks_at_the_tightest_in_tenths():
    # 0.45 and 0.41 free: both 100 - 4, the first node; 0.39 free: 100 - 3
    for second, node in ((0.59, "0"), (0.61, "1")):
        assert last(site(PAIR, PAIR), "gpu_packing", (5, 0.55), (5, second), (1, 0.1))[0] == node


def test_fragmentation_gradient_spares_what_typical_jobs_can_use():
    two = site({"cores_per_node": 8, "gpus_per_node": 1}, {"cores_per_node": 8, "gpus_per_node": 1})
    # typical: 0.6 and 0.4, as often. On idle GPUs either way 0.4 and 0.6 are left.
    # 0.4 beside 0.6: x = 0 + 0.4 / 2 for what was of no use to 0.6, so above 50
    assert where(two, "fragmentation_gradient", (1, 0.6), (1, 0.4)) == [("0", "0"), ("0", "0")]
    # 0.6 first, then 0.3: 0.1 would be left of no use to any; on the other GPU 0.7, of use to all
    jobs = [(1, 0.6), (1, 0.3), (1, 0.6), (1, 0.6)]
    found = where(two, "fragmentation_gradient", *jobs)
    assert found[0] == ("0", "0")
    fall = {"0": gradient([1000, 1000], 0, 300, 600), "1": gradient([1000, 1000], 1, 300, 600)}
    assert found[1][0] == max(fall, key=fall.__getitem__)


def gradient(free: list[int], at: int, part: int, first: int) -> float:
    """By how much 0.3 at a GPU lets fall what 0.6 (three of four jobs) and 0.3 cannot use, 0.6 being on 0."""
    free[0] -= first

    def unusable() -> float:
        return sum(0.75 * own * (own < 600) + 0.25 * own * (own < 300) for own in free)

    before = unusable()
    free[at] -= part
    return before - unusable()


def test_fragmentation_gradient_takes_the_first_gpu_with_the_best_score():
    one = site({"cores_per_node": 8, "gpus_per_node": 3})
    # all ask for 0.5: of idle ones the first; a GPU that is half full leaves nothing: the best
    assert [gpu for _, gpu in where(one, "fragmentation_gradient", *[(1, 0.5)] * 4)] == ["0", "0", "1", "1"]


def test_scores_of_the_gradient_are_whole_percents_of_a_logistic():
    begin = thresholds(7)
    for fall in (-20_000, -3_001, -1, 0, 1, 123, 6_999, 30_000):
        score = math.floor(100 / (1 + math.exp(-fall / 7000)))
        assert begin[max(score, 1)] <= fall or score == 0
        assert score == 99 or fall < begin[score + 1]
    assert begin[50] == 0


def test_random_depends_on_the_seed_the_job_and_the_node_alone():
    ten = site(*[PAIR] * 10)
    each = {"submit_time": 0, "nodes": 1, "run_time": 9, "cores": 1, "gpus": 0.1}
    jobs = {name: [value] * 20 for name, value in each.items()}

    def nodes(seed: int, **more) -> list[str]:
        simulation = Simulation(ten, Workload.from_columns(**jobs | more), {"packing": "random"}, seed=seed)
        return simulation.run().components["node_list"].tolist()

    assert nodes(1) == nodes(1)
    assert nodes(1) != nodes(2)
    assert len(set(nodes(1))) > 5
    assert nodes(1, component_id=range(101, 121)) != nodes(1)
    # whoever is not there: the others go where they went
    assert nodes(1, cores=[1] * 10 + [9] * 10)[:10] == nodes(1)[:10]


def test_parts_share_a_gpu_and_whole_ones_do_not():
    one = site(PAIR)
    jobs = Workload.from_columns(
        submit_time=[0, 0, 0, 1],
        nodes=[1] * 4,
        run_time=[10, 30, 30, 5],
        cores=[1] * 4,
        gpus=[0.5, 0.6, 0.4, 1],
    )
    result = simulate(one, jobs, "easy")
    result.check()
    assert result.components["gpu_list"].tolist() == ["0", "1", "1", "0"]
    assert result.components["start_time"].tolist() == [0, 0, 0, 10]


@pytest.mark.parametrize("asked", ["gres", "constraint"])
def test_a_type_of_gpu_is_asked_for_by_gres_or_features(asked):
    sets = [
        {"name": "a", "nodes": 1, "features": ["v100"], "gres": {"gpu:v100": 2}},
        {"name": "b", "nodes": 1, "features": ["a100"], "gres": {"gpu:a100": 2}},
    ]
    module = {"name": "m", "nodes": 2, "shared": True, "cores_per_node": 8, "node_sets": sets}
    wanted = (
        {"gres": ["gpu:a100:0.5", "gpu:a100:2"]} if asked == "gres" else {"constraint": ["a100", "h100|a100"]}
    )
    jobs = Workload.from_columns(
        submit_time=[0, 1], nodes=[1, 1], run_time=[10, 10], cores=[1, 1], gpus=[0.5, 2], **wanted
    )
    result = simulate(System.from_dict({"modules": [module]}), jobs, "conservative")
    result.check()
    assert result.components["node_list"].tolist() == ["1", "1"]
    assert result.components["start_time"].tolist() == [0, 10]
