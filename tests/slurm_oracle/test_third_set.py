"""Recordings of a running Slurm 26.05.3: every start, plan and node of every pass, and our own clock."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT, needs_shared
from tests.slurm_oracle.agreement_26 import MISSED, NOT_EQUAL, clock_row, logged, passes_row
from tests.slurm_oracle.player import play
from tests.slurm_oracle.third_set import DATA_3, names_3

pytestmark = pytest.mark.interpreted

PAGE = (ROOT / "docs" / "slurm-26.05.md").read_text(encoding="utf-8")
LOGGED = logged() if DATA_3.is_dir() else []
QUICK = ("D3c_dependencies", "HP1c_requeue", "HQ1c_qos_limits", "S6c_which_node", "P1c_requeue")
RENEW = "run: python -m tests.slurm_oracle.agreement_26 docs/slurm-26.05.md"


@needs_shared
@pytest.mark.parametrize("run", [run for run in LOGGED if run not in NOT_EQUAL])
def test_every_start_and_plan_is_that_of_the_recording(run: str) -> None:
    found = play(run, version="26.05")
    assert found.starts > 0
    assert not found.other_starts
    assert not found.other_plans


@needs_shared
@pytest.mark.parametrize("run", [run for run in LOGGED if run in NOT_EQUAL])
def test_what_is_not_equal_is_what_the_page_says(run: str) -> None:
    row = passes_row(run)
    assert row in PAGE, RENEW


@needs_shared
def test_by_the_rules_of_22_05_they_are_not_equal() -> None:
    assert play("S6c_which_node", version="22.05").other_starts
    assert play("B4c_long_queue", version="22.05").other_plans


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_cases_are_met_on_our_own_clock_as_the_page_says(name: str) -> None:
    row = clock_row(name)
    assert row.endswith("| yes |"), row
    assert row in PAGE, RENEW


@needs_shared
def test_the_page_has_a_row_for_every_recording_and_case() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    passes, clock = rows[: len(LOGGED)], rows[len(LOGGED) :]
    assert [row.split("`")[1] for row in passes] == LOGGED
    assert [row.split("`")[1].split("@")[0] for row in clock] == names_3()
    assert {row.split("`")[1].split("@")[0] for row in clock if "**no**" in row} == {*MISSED}
