"""Shared nodes in the engine: start by start, node by node, as in the reference; and the answer keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import simulate
from tests.conftest import examples, needs_shared
from tests.oracle.plain_shared import schedule
from tests.oracle.shared_sites import KEYS, LARGE, SCHEMES, TINY, answer_key, site
from tests.oracle.shared_strategies import (
    DIALECTS,
    JOBS,
    PACKINGS,
    SITES,
    WIDE_JOBS,
    WIDE_SITES,
    components,
)
from tests.shared_nodes.as_input import (
    in_known_partitions,
    outcomes_of,
    outcomes_of_reference,
    system_of,
    workload_of,
)

POLICIES = {
    "fcfs": {"backfill": "none"},
    "first_fit": {"backfill": "first_fit"},
    "easy": {"backfill": "easy"},
    "depth 2": {"backfill": "easy", "depth": 2},
    "depth 4": {"backfill": "easy", "depth": 4},
    "conservative": {"backfill": "conservative"},
    "keep": {"backfill": "conservative", "replan": "keep"},
}
SPREADS = st.tuples(st.sampled_from(["", "leaves", "groups", "hops"]), st.sampled_from([7, 50, 100]))
EASY_ALONE = ("extra_rule", "candidate_time")


def keys_of(name, packing, dialect):
    """The policy of that name in a dialect, as far as it has it."""
    keys = POLICIES[name] | {"packing": packing, "order": dialect["order"], "overrun_s": dialect["overrun_s"]}
    if name in ("easy", "depth 2", "depth 4", "first_fit"):
        keys["backfill_order"] = dialect["backfill_order"]
    if name == "easy":
        keys |= {key: dialect[key] for key in EASY_ALONE}
    return keys


@pytest.mark.interpreted
@pytest.mark.parametrize("name", POLICIES)
@given(SITES, JOBS, PACKINGS, DIALECTS)
@examples(150)
def test_the_engine_is_the_reference(name, nodes, jobs, packing, dialect):
    keys = keys_of(name, packing, dialect)
    rows = in_known_partitions(nodes, components(jobs))
    result = simulate(system_of(nodes), workload_of(rows), keys)
    result.check()
    assert outcomes_of(result) == outcomes_of_reference(schedule(rows, nodes, **keys))


@pytest.mark.interpreted
@pytest.mark.parametrize("name", POLICIES)
@given(WIDE_SITES, WIDE_JOBS, PACKINGS, DIALECTS, st.sampled_from(["tree", "block", "dragonfly"]), SPREADS)
@examples(80)
def test_nodes_that_lie_together_are_chosen_as_in_the_reference(
    name, nodes, jobs, packing, dialect, kind, spread
):
    """And where they lie apart jobs take longer."""
    keys = keys_of(name, packing, dialect)
    rows = in_known_partitions(nodes, components(jobs))
    topology = {"levels": [2], "block_sizes": [2, 4]} if kind == "block" else {"levels": [2, 2]}
    system = system_of(nodes, topology=topology | {"type": kind})
    law = {"by": spread[0], "percent": spread[1]} if spread[0] else None
    models = {"applications": {"named": False, "types": [{"name": "a", "percent": 100, "spread": law}]}}
    result = simulate(system, workload_of(rows), keys | {"topology": "compact"}, models=models)
    result.check()
    told = {"leaves": (2, 4), "spread": (*spread, kind == "dragonfly")}
    assert outcomes_of(result) == outcomes_of_reference(schedule(rows, nodes, **keys, **told))


@needs_shared
@pytest.mark.parametrize(("scheme", "packing"), KEYS)
def test_every_start_of_the_answer_keys_is_equal(scheme, packing):
    for name in [*TINY, *LARGE]:
        nodes, jobs = site(name)
        result = simulate(system_of(nodes), workload_of(jobs), SCHEMES[scheme] | {"packing": packing})
        result.check()
        starts = result.components["start_time"].tolist()
        assert starts == answer_key(name, scheme, packing), name
