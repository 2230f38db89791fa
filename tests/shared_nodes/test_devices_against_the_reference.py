"""Parts of GPUs and the packings that score nodes: start by start, node by node, as in the reference."""

from __future__ import annotations

import pytest
from hypothesis import given

from scheduler_sim import simulate
from scheduler_sim.streams import stream
from tests.conftest import examples
from tests.oracle.plain_shared import schedule
from tests.oracle.shared_strategies import (
    ANY_PACKING,
    DIALECTS,
    GPU_JOBS,
    GPU_SITES,
    TYPED_JOBS,
    TYPED_SITES,
    components,
)
from tests.shared_nodes.as_input import (
    in_known_partitions,
    outcomes_of,
    outcomes_of_reference,
    system_of,
    workload_of,
)
from tests.shared_nodes.test_against_the_reference import POLICIES, keys_of

SEED = 3
BITS = 0xFFFFFFFF


def drawn(component: int, node: int, gpu: int) -> int:
    """The number of 32 bits that ``random`` draws, as docs/semantics.md has it."""
    mixed = int(stream(SEED, "packing").integers(BITS + 1))
    for number in (component, node, gpu + 1):
        mixed = (mixed * 0x2545F491 + number) & BITS
        for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39)):
            mixed = ((mixed ^ (mixed >> shift)) * factor) & BITS
        mixed ^= mixed >> 15
    return mixed


@pytest.mark.interpreted
@pytest.mark.parametrize("name", POLICIES)
@given(GPU_SITES, GPU_JOBS, ANY_PACKING, DIALECTS)
@examples(150)
def test_the_engine_is_the_reference(name, nodes, jobs, packing, dialect):
    compare(name, nodes, jobs, packing, dialect)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", POLICIES)
@given(TYPED_SITES, TYPED_JOBS, ANY_PACKING, DIALECTS)
@examples(150)
def test_gpus_of_several_types_are_those_of_the_reference(name, nodes, jobs, packing, dialect):
    compare(name, nodes, jobs, packing, dialect)


def compare(name, nodes, jobs, packing, dialect):
    """Run a site under a policy in the engine and in the reference."""
    keys = keys_of(name, packing, dialect)
    rows = in_known_partitions(nodes, components(jobs))
    result = simulate(system_of(nodes), workload_of(rows), keys, seed=SEED)
    result.check()
    assert outcomes_of(result) == outcomes_of_reference(schedule(rows, nodes, drawn, **keys))
