"""Gang scheduling and switches as a running Slurm has them; these recordings ship, to be tested anywhere."""

from __future__ import annotations

import pytest

from tests.slurm_oracle import own_rules, own_topologies
from tests.slurm_oracle.own_recordings import CLOSE_S, TURNS, nearest, turns_row
from tests.slurm_oracle.second_set import OWN
from tests.slurm_oracle.test_agreement import PAGE, RENEW

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", TURNS)
def test_every_start_and_end_is_that_of_a_recording(name: str) -> None:
    found = nearest(name)
    assert found.worst <= CLOSE_S, found
    assert turns_row(name) in PAGE, RENEW


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * name.endswith("_cores")) for name in own_topologies.NAMES],
)
def test_jobs_have_the_nodes_that_slurm_gave_them(name: str) -> None:
    found = own_topologies.nearest(name)
    assert found.same >= own_topologies.SAME_NODES * len(found.gaps), found
    assert max(found.gaps) <= CLOSE_S
    assert found.row() in PAGE, RENEW


@pytest.mark.parametrize("name", own_rules.NAMES)
def test_a_rule_is_that_of_slurm(name: str) -> None:
    *_, found = own_rules.nearest(name)
    assert found.states_equal
    assert found.worst <= CLOSE_S
    assert own_rules.rules_row(name) in PAGE, RENEW


def test_every_recording_is_used() -> None:
    cases = {path.name.removesuffix(".json.gz") for path in (OWN / "in").glob("*.json.gz")}
    assert cases == {*TURNS, *own_topologies.NAMES, *own_rules.NAMES}
