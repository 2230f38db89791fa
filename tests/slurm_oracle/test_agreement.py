"""docs/slurm-agreement.md says how near the engine comes to what was recorded, case by case.

Most of that is long: in short the engine is the plain model (test_engine and others), which meets what was
recorded.
"""

from __future__ import annotations

import pytest

from tests.conftest import ROOT, needs_shared
from tests.slurm_oracle.agreement import (
    SIMULATED,
    case_named,
    recorded_names,
    recorded_row,
    second_names,
    simulated_row,
)
from tests.slurm_oracle.agreement_preemption import preempted_row
from tests.slurm_oracle.cases import DATA
from tests.slurm_oracle.own_recordings import TURNS
from tests.slurm_oracle.own_rules import NAMES as OF_RULES
from tests.slurm_oracle.own_topologies import NAMES as ON_SWITCHES
from tests.slurm_oracle.second_set import CLAIMED, MISSED, PREEMPTING, RESERVING, names_2

pytestmark = pytest.mark.interpreted

PAGE = (ROOT / "docs" / "slurm-agreement.md").read_text(encoding="utf-8")
RECORDED = [*recorded_names(), *second_names()] if DATA.is_dir() else []
RENEW = "run: python -m tests.slurm_oracle.agreement docs/slurm-agreement.md"


@needs_shared
@pytest.mark.long
@pytest.mark.interpreted
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_cases_are_met_as_the_page_says(name: str) -> None:
    row = recorded_row(case_named(name))
    assert row.endswith("| **no** |" if name in MISSED else "| yes |"), row
    assert row in PAGE, RENEW


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", PREEMPTING)
def test_cases_with_preemption_are_met_as_the_page_says(name: str) -> None:
    row = preempted_row(name)
    assert row.endswith("| yes |"), row
    assert row in PAGE, RENEW


@needs_shared
def test_every_case_of_the_second_set_is_claimed() -> None:
    assert set(names_2()) == {*CLAIMED, *PREEMPTING, *RESERVING}


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_schedules_are_met_as_the_page_says(name: str) -> None:
    row = simulated_row(name)
    same, near = (float(cell) for cell in row.split(" | ")[2:4])
    assert same >= 95
    assert near >= same
    assert row in PAGE, RENEW


def test_the_page_has_a_row_for_every_case_and_none_besides() -> None:
    rows = [line.split("`")[1].split("@")[0] for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(rows) == len(set(rows))
    assert {*SIMULATED, *TURNS, *ON_SWITCHES, *OF_RULES} <= set(rows)
    if RECORDED:
        assert set(rows) == {*RECORDED, *PREEMPTING, *SIMULATED, *TURNS, *ON_SWITCHES, *OF_RULES}
