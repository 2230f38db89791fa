"""Gang scheduling as a running Slurm does it; these recordings ship, so that this is tested anywhere."""

from __future__ import annotations

import pytest

from tests.slurm_oracle.own_recordings import CLOSE_S, load_own, nearest, own_names, turns_row
from tests.slurm_oracle.test_agreement import PAGE, RENEW

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", own_names())
def test_every_start_and_end_is_that_of_a_recording(name: str) -> None:
    found = nearest(load_own(name))
    assert found.worst <= CLOSE_S, found


@pytest.mark.parametrize("name", own_names())
def test_the_page_says_how_near(name: str) -> None:
    assert turns_row(name) in PAGE, RENEW
