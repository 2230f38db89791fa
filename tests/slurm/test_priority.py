"""Every factor of the multifactor priority in closed form, and the priorities a real Slurm gave."""

from __future__ import annotations

import gzip
import json
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.engine.core.jit import entry
from scheduler_sim.engine.core.words import Words
from scheduler_sim.engine.rules.slurm.priority import priority as compiled
from tests.conftest import SHARED, needs_shared
from tests.engine.plain_engine import plain

pytestmark = pytest.mark.interpreted

P = plain("rules.slurm.priority.priority").priority
NOTHING = {
    "association": 0.0,
    "size": 0.0,
    "partition": 0.0,
    "qos": 0.0,
    "nice": 0,
    "listed": False,
}
ALL_ONE = P.Weights(association=1, job_size=1, partition=1, qos=1, tres=[1.0])


def static(weights=ALL_ONE, *, tres=(0.0,), **factors):
    """Static factors of one component in one partition."""
    columns = {name: np.array([value]) for name, value in {**NOTHING, **factors}.items()}
    return P.static_factors(weights, **columns, tres=np.array([tres]))[0]


def size(nodes, cpus, minutes=1, favor_small=False, relative=False) -> float:
    """Size factor on a cluster of 10 nodes with 40 processors."""
    ask = [np.array([value]) for value in (nodes, cpus, minutes)]
    return P.size_factor(*ask, 10, 40, favor_small, relative)[0]


class TestAge:
    WEEK = 604_800

    @pytest.mark.parametrize(
        ("now", "accrual", "factor"),
        [
            (1000, 1000, 0.0),
            (1000 + WEEK // 4, 1000, 0.25),
            (1000 + WEEK - 1, 1000, (WEEK - 1) / WEEK),
            (1000 + WEEK, 1000, 1.0),
            (1000 + 3 * WEEK, 1000, 1.0),
            (999, 1000, 0.0),  # eligible later
            (5 * WEEK, -1, 0.0),  # held by a dependency
        ],
    )
    def test_grows_from_eligibility_to_max_age(self, now, accrual, factor):
        assert P.age_factor(now, accrual, self.WEEK) == factor

    def test_without_a_largest_age_everything_is_old(self):
        assert P.age_factor(11, 10, 0) == 1.0


class TestSize:
    @pytest.mark.parametrize(
        ("nodes", "cpus", "large", "small"),
        [
            (1, 4, 0.1, 0.9),
            (5, 10, (0.5 + 0.25) / 2, (0.5 + 0.75) / 2),
            (10, 40, 1.0, 0.0),
            (3, 0, 0.3, 0.7),  # processors unknown: nodes alone
            (20, 40, 1.0, 0.0),  # more nodes than there are
            (20, 20, 1.0, 0.25),
        ],
    )
    def test_is_the_mean_of_nodes_and_processors(self, nodes, cpus, large, small):
        assert size(nodes, cpus) == pytest.approx(large, abs=1e-15)
        assert size(nodes, cpus, favor_small=True) == pytest.approx(small, abs=1e-15)

    @pytest.mark.parametrize(
        ("nodes", "cpus", "minutes", "factor"),
        [
            (10, 40, 1, 1.0),
            (10, 40, 10, 0.1),
            (5, 2, 4, 20 / 4 / 40),  # 5 nodes have 20 processors on average
            (1, 8, 60, 8 / 60 / 40),
        ],
    )
    def test_relative_to_time_counts_processors_per_minute_of_limit(self, nodes, cpus, minutes, factor):
        assert size(nodes, cpus, minutes, relative=True) == pytest.approx(factor, rel=1e-15)
        small = size(nodes, cpus, minutes, favor_small=True, relative=True)
        assert small == pytest.approx(1 - factor, rel=1e-15)

    @given(st.integers(1, 30), st.integers(0, 100), st.integers(1, 10**6), st.booleans(), st.booleans())
    def test_stays_between_0_and_1(self, nodes, cpus, minutes, favor_small, relative):
        assert 0.0 <= size(nodes, cpus, minutes, favor_small, relative) <= 1.0


class TestNormalised:
    def test_is_a_part_of_the_highest(self):
        assert P.normalised(np.array([10, 100, 50, 0]), 100).tolist() == [0.1, 1.0, 0.5, 0.0]

    def test_is_nothing_where_all_are_0(self):
        assert P.normalised(np.array([0, 0]), 0).tolist() == [0.0, 0.0]


class TestTres:
    def test_is_a_part_of_what_the_partition_has(self):
        asked = np.array([[8.0, 64_000.0], [8.0, 64_000.0]])
        there = np.array([[32.0, 128_000.0], [16.0, 0.0]])
        assert P.tres_factors(asked, there).tolist() == [[0.25, 0.5], [0.5, 0.0]]

    def test_each_resource_has_its_weight(self):
        weights = ALL_ONE._replace(tres=[1000.0, 2.5])
        assert static(weights, tres=(0.25, 0.5)).tres == 251.25


class TestSum:
    WEIGHTS = P.Weights(association=10, job_size=200, partition=3000, qos=40_000, tres=[500_000.0])

    def test_every_factor_has_its_weight_and_place(self):
        made = static(self.WEIGHTS, association=0.5, size=0.5, partition=0.5, qos=0.5, tres=(0.5,), nice=100)
        assert P.priority(made, 2_000_000.0, 30_000_000.0) == 32_271_505
        only = {"association": 5, "size": 100, "partition": 1500, "qos": 20_000}
        for name, worth in only.items():
            assert P.priority(static(self.WEIGHTS, **{name: 0.5}), 0.0, 0.0) == worth

    def test_not_normalised_priorities_count_as_they_are(self):
        assert P.priority(static(self.WEIGHTS, qos=7.0), 0.0, 0.0) == 280_000

    def test_the_rest_is_cut_off(self):
        assert P.priority(static(), 47.0, 0.99) == 47

    def test_nothing_falls_below_1(self):
        assert P.priority(static(nice=5000), 100.0, 0.0) == 1
        assert P.priority(static(), 0.0, 0.0) == 1

    def test_nice_below_0_raises(self):
        assert P.priority(static(nice=-300), 100.0, 0.0) == 400

    def test_32_bits_are_the_most(self):
        assert P.priority(static(), 4294967295.9, 0.0) == 2**32 - 1
        assert P.priority(static(nice=-(2**31 - 3)), 3e9, 4e9) == 2**32 - 1

    def test_of_several_partitions_the_partition_is_added_last(self):
        # 2.8 + 2.9 + 0.3 is a little less than 6 in doubles, 2.9 + (2.8 + 0.3) is 6.
        factors = {"partition": 2.9, "qos": 0.3}
        assert P.priority(static(**factors), 2.8, 0.0) == 5
        assert P.priority(static(**factors, listed=True), 2.8, 0.0) == 6


class Tables(namedtuple("Tables", "factors accrual fair priorities")):
    shape = "priorities"

    @property
    def words(self):
        return Words(self)


@entry
def compiled_priorities(tables: Tables) -> None:
    for row in range(len(tables.factors)):
        age = 1000.0 * compiled.age_factor(50_000, tables.accrual[row], 86_400)
        tables.priorities[row] = compiled.priority(tables.factors[row], age, 333.0 * tables.fair[row])


@pytest.mark.compiled
def test_compiled_and_plain_agree():
    rng, count = np.random.default_rng(5), 3000
    names = ("association", "size", "partition", "qos")
    table = P.static_factors(
        P.Weights(association=100, job_size=1000, partition=77, qos=7, tres=[11.0, 13.0]),
        **{name: rng.random(count) for name in names},
        tres=rng.random((count, 2)),
        nice=rng.integers(-500, 1500, count),
        listed=rng.random(count) < 0.5,
    )
    accrual, fair = rng.integers(-20_000, 60_000, count), rng.random(count)
    fast = np.zeros(count, dtype=np.int64)
    compiled_priorities(Tables(table, accrual, fair, fast))
    slow = [
        P.priority(table[row], 1000.0 * P.age_factor(50_000, accrual[row], 86_400), 333.0 * fair[row])
        for row in range(count)
    ]
    assert fast.tolist() == slow
    assert fast.min() == 1
    assert len(set(slow)) > 500


@needs_shared
@pytest.mark.parametrize(
    "case", ["F51_mf_age_size", "F51_mf_age_size@r2", "F53_mf_part_nice", "F53_mf_part_nice@r2"]
)
def test_recorded_priorities_are_met_exactly(case):
    """Slurm 22.05.8, 21 nodes of one processor; without accounting its age factor does not count."""
    oracle = SHARED / "data" / "slurm_oracle"
    recorded = json.loads(gzip.decompress((oracle / "out" / f"{case}.out.json.gz").read_bytes()))
    asked = json.loads(gzip.decompress((oracle / "in" / f"{case.split('@')[0]}.json.gz").read_bytes()))
    conf = asked["slurm_conf"]
    factor = {name: int(text.split("=")[1]) for name, text in asked["part_opts"].items()}
    highest = max(1, *factor.values()) if factor else 1
    weights = P.Weights(
        association=0,
        job_size=int(conf["PriorityWeightJobSize"]),
        partition=int(conf.get("PriorityWeightPartition", 0)),
        qos=0,
        tres=[0.0],
    )
    jobs = {job["id"]: job for job in asked["jobs"]}
    one, seen = np.ones(1, dtype=np.int64), 0
    by_slurm_id = {record["slurm_id"]: jobs[record["id"]] for record in recorded["jobs"]}
    for _, slurm_id, state, _, _, priority, _ in recorded["events"]:
        if state != "PENDING":
            continue
        job = by_slurm_id[slurm_id]
        nodes = one * job["nodes"]
        made = P.static_factors(
            weights,
            association=np.zeros(1),
            size=P.size_factor(nodes, nodes, one, 21, 21, False, False),
            partition=P.normalised(one * factor.get(job["partition"], 1), highest),
            qos=np.zeros(1),
            tres=np.zeros((1, 1)),
            nice=one * (job.get("nice") or 0),
            listed=one < 0,
        )
        assert P.priority(made[0], 0.0, 0.0) == priority
        seen += 1
    assert seen > 100
