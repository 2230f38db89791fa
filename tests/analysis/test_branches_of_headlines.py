"""Headlines name the branch in which they hold: their figures by hand, and on the committed runs."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.dynamic_workflows import conduct as workflows
from analysis.dynamic_workflows.findings import findings as of_workflows
from analysis.energy.findings import ABOVE, BASE, BOTH, SAME_DAYS, SYSTEM, same_days
from analysis.modular_vs_homogeneous import conduct as modular
from analysis.modular_vs_homogeneous.findings import findings as of_modular
from analysis.prediction.cases import TRACES
from analysis.prediction.measures import nearer, started_by
from tests.conftest import ROOT

ANALYSIS = ROOT / "analysis"


def test_energy_until_the_slowest_way_has_ended_by_hand():
    """Idle nodes take 10 kW: 1 MWh in 100 h. The slower way ends 50 h later, in which they take 0.5 MWh."""
    runs = pd.DataFrame(
        {
            "saver": [BASE, BOTH],
            "seed": 1,
            ABOVE: [2.0, 1.6],
            SYSTEM: [3.0, 3.1],
            "completion_h": [100.0, 150.0],
        }
    )
    assert same_days(runs)[SAME_DAYS].tolist() == pytest.approx([3.5, 3.1])


def test_nearer_and_started_by_by_hand():
    """In two weeks the median is 1 h nearer and 3 h nearer: 2 h, and what two pieces leave open."""
    week = TRACES["kth"].block
    runs = pd.DataFrame(
        {
            "trace": "kth",
            "at": [0, week],
            "start": [7200, week],
            "start_50": [7200, week],
            "start_90": [7200, week - 1],
            "by_limits": [10800, week + 10800],
            "last_wait": [0, 0],
        }
    )
    found = nearer(runs, "by_limits")
    assert found.value == pytest.approx(2.0)
    assert found.high - found.value == pytest.approx(12.706, rel=1e-3)  # t of one degree, times s/√2
    assert started_by(runs).value == pytest.approx(50.0)


def test_workflows_name_the_scheduler_that_lets_others_pay():
    told = " ".join(of_workflows(workflows.load(ANALYSIS / "dynamic_workflows" / "results")))
    assert "Under Slurm's schedulers the others pay, too" in told
    assert "harms nobody" not in told


def test_a_modular_machine_is_told_in_both_readings():
    told = " ".join(of_modular(modular.load(ANALYSIS / "modular_vs_homogeneous" / "results"), None))
    assert "than HOM3-ESB only if they mean" in told
    assert "Read as speeds" in told
    assert "waits longer than each homogeneous one" not in told
