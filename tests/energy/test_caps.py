"""Power caps: by hand, and held to GPUs under power limits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.energy.caps import capped, highest_under
from scheduler_sim.energy.model import Projection
from scheduler_sim.errors import InputError
from tests.conftest import SHARED, needs_shared

MADE = Projection(
    np.array([1_000_000, 2_000_000, 3_000_000]),
    np.array([[100.0, 200.0, 300.0], [100.0, 200.0, 200.0], [150.0, 180.0, np.nan]]),
    np.array([[3.0, 1.5, 1.0], [1.0, 1.0, 1.0], [1.2, 1.0, np.nan]]),
)


def test_the_fastest_state_under_a_cap():
    assert highest_under(MADE, 250.0).tolist() == [1, 0, 1], "of equally fast ones, the one that draws less"
    assert highest_under(MADE, 200.0)[0] == 1, "the cap itself is allowed"
    assert highest_under(MADE, np.array([99.0, 100.0, 160.0])).tolist() == [-1, 0, 0]


def test_capped_by_hand():
    """From 250 W to 110 W with 50 W idle: 60 of 200 W; x = √0.3."""
    made = capped(np.array([250.0, 100.0]), 110.0, idle_w=50.0, sensitivity=0.5)
    assert made.power_w.tolist() == [110.0, 100.0]
    assert made.time_factor.tolist() == pytest.approx([1 + 0.5 * (0.3**-0.5 - 1), 1.0])


@pytest.mark.parametrize(("cap", "lowest"), [(50.0, 0.0), (40.0, 0.0), (69.0, 0.31)])
def test_caps_have_a_floor(cap, lowest):
    with pytest.raises(InputError, match=r"cap: found .* W; allowed: above"):
        capped(np.array([250.0]), cap, idle_w=50.0, lowest_share=lowest)


@needs_shared
def test_training_on_a_v100_under_power_limits():
    """Nothing fitted: 35 W idle, exponent 2, 0.85 of the time follows the clock."""
    table = pd.read_csv(SHARED / "data" / "energy" / "zeus_v100" / "summary_power_v100.csv")
    keys = ["dataset", "network", "batch_size", "optimizer"]
    free = table[table["power_limit"] == table["power_limit"].max()]
    both = table[table["power_limit"] < table["power_limit"].max()].merge(
        free, on=keys, suffixes=("", "_free")
    )
    made = capped(
        both["average_power_free"].to_numpy(),
        both["power_limit"].to_numpy(float),
        idle_w=35.0,
        sensitivity=0.85,
    )
    slower = (both["time_per_epoch"] / both["time_per_epoch_free"]).to_numpy()
    assert len(both) == 408
    assert 100 * np.mean(np.abs(made.time_factor / slower - 1)) < 4.5
    assert 100 * np.mean(np.abs(1 / slower - 1)) > 10, "what ignoring the limit would give"
    assert 100 * np.mean(np.abs(made.power_w / both["average_power"].to_numpy() - 1)) < 7.5
