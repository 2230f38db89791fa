"""The recordings with preemption, against the plain model and the engine."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.slurm_oracle.cases import load_case
from tests.slurm_oracle.preempting import engine_outcomes, equals, is_as_near, outcomes, recorded_outcome

pytestmark = pytest.mark.interpreted

BY_HAND = ("HP1a_requeue", "HP2a_cancel", "HP3a_suspend", "HP4a_qos")
RANDOM = ("P1a_requeue", "P2a_cancel", "P3a_suspend", "P4a_qos", "P5a_grace")


@needs_shared
@pytest.mark.parametrize("name", BY_HAND)
def test_made_by_hand(name: str) -> None:
    case = load_case(name)
    met = {run.name for run, ours in outcomes(case) if equals(ours, recorded_outcome(run))}
    assert met == {run.name for run in case.runs}


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", RANDOM)
def test_random(name: str) -> None:
    case = load_case(name)
    assert any(is_as_near(case, ours, recorded_outcome(run)) for run, ours in outcomes(case))


@needs_shared
@pytest.mark.parametrize("name", BY_HAND)
def test_the_engine_on_those_made_by_hand(name: str) -> None:
    case = load_case(name)
    met = {run.name for run, ours in engine_outcomes(case) if equals(ours, recorded_outcome(run))}
    assert met == {run.name for run in case.runs}


@needs_shared
@pytest.mark.long
@pytest.mark.interpreted
@pytest.mark.parametrize("name", RANDOM)
def test_the_engine_on_random_ones(name: str) -> None:
    """It comes near each of the recordings, with one of the phases."""
    case = load_case(name)
    met = {run.name for run, ours in engine_outcomes(case) if is_as_near(case, ours, recorded_outcome(run))}
    assert met == {run.name for run in case.runs}
