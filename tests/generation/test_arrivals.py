"""Arrivals: the accumulator by hand and step by step, weeks, Poisson, loads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.generation.arrivals import Arrivals, Crossings, Cycle
from scheduler_sim.generation.cirne import Cirne, cycle_of_site
from scheduler_sim.streams import stream
from scheduler_sim.units import DAY

FLAT = Cycle(reference_nodes=10, hourly=(36.0,) * 24)  # one job in 100 s on 10 nodes


def streams(seed):
    return lambda purpose: stream(seed, purpose)


def test_a_flat_rate_gives_a_job_in_every_hundred_seconds():
    submit = Arrivals(FLAT).draw(50, 10, 1.0, 0, streams(1))
    assert set(np.diff(submit).tolist()) <= {99, 100, 101}
    assert submit[-1] - submit[0] == pytest.approx(4900, abs=1)


def test_rate_grows_with_nodes_and_factor():
    submit = Arrivals(FLAT).draw(50, 20, 2.0, 0, streams(1))
    assert submit[-1] - submit[0] == pytest.approx(4900 / 4, abs=2)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=12).filter(lambda rates: sum(rates) > 0.1),
    st.lists(st.floats(0.01, 3), min_size=1, max_size=30),
)
def test_crossings_are_those_of_stepping_through_the_seconds(rates, gaps):
    due = np.cumsum(rates)
    amounts = np.cumsum(gaps)
    found = Crossings(due).seconds(amounts)
    total, second, highest = float(due[-1]), 0, -np.inf
    for amount, got in zip(amounts, found, strict=True):
        while highest < amount - 1e-9:  # rounding may put a crossing on either side
            second += 1
            periods, place = divmod(second - 1, len(due))
            highest = max(highest, periods * total + float(due[place]))
        at = highest - amount
        assert got == second or at < 1e-9


@pytest.mark.parametrize("site", ["anl", "ctc", "kth", "sdsc"])
def test_jobs_per_day_and_hours_of_the_sites(site):
    jobs = {"anl": 97.480, "ctc": 227.386, "kth": 37.790, "sdsc": 104.970}[site]
    cycle = cycle_of_site(site)
    assert cycle.jobs_per_day(cycle.reference_nodes) == pytest.approx(jobs, abs=2e-3)
    busiest = {"anl": 16, "ctc": 12, "kth": 14, "sdsc": 13}[site]
    assert int(cycle.hour_shares().argmax()) == busiest


def test_the_rate_of_kth_falls_below_zero_unless_clamped():
    polynomial = cycle_of_site("kth")
    clamped = Cycle(100, polynomial=polynomial.polynomial, clamp=True)
    lost = clamped.jobs_per_day(100) - polynomial.jobs_per_day(100)
    assert lost == pytest.approx(0.0516, abs=5e-4)  # jobs a day that the dip takes back


def test_weeks_have_the_stated_days_and_the_same_mean():
    weekly = (5.0, 5.0, 5.0, 5.0, 5.0, 1.0, 1.0)
    cycle = Cycle(10, hourly=(36.0,) * 24, weekly=weekly)
    assert cycle.jobs_per_day(10) == pytest.approx(864)
    submit = Arrivals(cycle).draw(60_000, 10, 1.0, 0, streams(2))
    week = submit // (7 * DAY)
    whole = submit[(week > 0) & (week < week[-1])]
    share = np.bincount(whole // DAY % 7, minlength=7) / len(whole)
    assert share == pytest.approx(np.array(weekly) / sum(weekly), abs=0.002)


def test_poisson_has_the_same_rate_and_other_gaps():
    model = Cirne(Arrivals(cycle_of_site("anl"), "poisson"))
    submit = model.draw(20_000, 1000, streams(3)).submit_time
    days = (submit[-1] - submit[0]) / DAY
    assert len(submit) / days == pytest.approx(97.48 * 1000 / 120, rel=0.04)
    assert (np.diff(submit) == 0).any()  # the reference never has two jobs in one second
    steady = Arrivals(FLAT, "poisson").draw(50_000, 10, 1.0, 0, streams(4))
    gaps = np.diff(steady)
    assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("process", ["accumulator", "poisson"])
@pytest.mark.parametrize("load", [0.3, 0.85, 2.0])
def test_offered_load_is_what_was_asked_for(process, load):
    trace = Cirne(Arrivals(cycle_of_site("ctc"), process, load)).draw(2000, 50, streams(5))
    span = trace.submit_time[-1] - trace.submit_time[0]
    assert trace.node_seconds.sum() / (50 * span) == pytest.approx(load, rel=2e-4)


def test_a_rate_that_never_adds_up_is_an_error():
    with pytest.raises(InputError, match="more than 0"):
        Crossings(np.array([0.5, -0.5]))
