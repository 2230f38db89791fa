"""The engine on the recorded cases: start by start as the plain model, accelerated and plain."""

from __future__ import annotations

from bisect import bisect_right
from statistics import mean, median

import pytest

from scheduler_sim.policy.slurm_keys import LATENCIES
from tests.conftest import needs_shared
from tests.slurm_oracle.agreement import CYCLE_S, SIMULATED, play_simulated
from tests.slurm_oracle.cases import DATA, case_names, load_case, load_simulated, read_json
from tests.slurm_oracle.engine import DAEMON_START, play_engine
from tests.slurm_oracle.figures import mean_waits, start_gaps
from tests.slurm_oracle.plain import play_plain

pytestmark = pytest.mark.interpreted

RECORDED = case_names() if DATA.is_dir() else []
PLAIN = [
    name for name in RECORDED if name != "E43_het_same_part"
]  # there limits are overrun beside one another
LATER = pytest.param("backfill", marks=[pytest.mark.long, pytest.mark.interpreted])


@needs_shared
@pytest.mark.parametrize("first", ["main", LATER])
@pytest.mark.parametrize("name", RECORDED)
def test_idle_passes_change_nothing(name: str, first: str) -> None:
    case = load_case(name)
    for run in case.runs:
        ours = play_engine(case, run, looks_first=first)
        assert ours == play_engine(case, run, looks_first=first, accelerate=False)


@needs_shared
@pytest.mark.parametrize("first", ["main", "backfill"])
@pytest.mark.parametrize("name", PLAIN)
def test_the_engine_is_the_plain_model(name: str, first: str) -> None:
    case = load_case(name)
    for run in case.runs:
        ours = play_engine(case, run, looks_first=first)
        plain = play_plain(case, run, backfill_first=first == "backfill", daemon_start=DAEMON_START)
        theirs = {fate[0]: fate[1:3] for fate in plain}
        assert {fate[0]: fate[1:3] for fate in ours} == theirs


@needs_shared
def test_the_wait_of_the_main_scheduler_is_that_of_the_first_recordings() -> None:
    """Median time from the last end to a start by the main scheduler; the second set is for tests alone."""
    waits = []
    for path in sorted((DATA / "out").glob("*.json.gz")):
        jobs = read_json(path)["jobs"]
        ends = sorted(end for job in jobs for end in job["log_done"] or [])
        for start in (start for job in jobs for start, by in job["log_starts"] or [] if by == "main"):
            before = bisect_right(ends, start) - 1
            waits += [start - ends[before]] if before >= 0 else []
    ours = LATENCIES["measured"]["main_wait_ms"]
    assert median(wait for wait in waits if wait < 5) * 1000 == pytest.approx(ours, abs=20)


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", SIMULATED)
def test_the_simulators_schedules(name: str) -> None:
    """All starts within a backfill interval, 96 % in the same second, mean waits within 0.1 %."""
    given = load_simulated(name)
    ours = {fate[0]: fate for fate in play_simulated(given)}
    gaps = start_gaps(ours, given.run.fates)
    assert len(gaps) == len(given.jobs)
    assert max(gaps) <= CYCLE_S
    assert mean(gap == 0 for gap in gaps) >= 0.96
    for mine, theirs in mean_waits(ours, given.run).values():
        assert mine == pytest.approx(theirs, rel=0.001)
