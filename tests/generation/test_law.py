"""The laws as curves: by hand, and against traces drawn from them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from scheduler_sim.generation.arrivals import Arrivals, Cycle
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.law import gaps_up_to, law_curves, mixed_law, rate_scale, run_times_up_to
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.generation.times import Accuracy, LogUniform
from scheduler_sim.streams import stream
from scheduler_sim.workload.curves import curves_of
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

WORKDAY = (2, 1, 1, 1, 1, 2, 5, 10, 25, 50, 60, 60, 50, 60, 65, 60, 60, 50, 40, 30, 20, 20, 15, 10)
WEEK = (1.0, 1.2, 1.2, 1.3, 1.1, 0.5, 0.7)
FROM_A_MONDAY = TraceSource(header=("; UnixStartTime: 345600",))
CURVES = ("sizes", "time_limits", "run_times", "accuracy", "inter_arrivals")


def flat(jobs_an_hour, process):
    return Cirne(arrivals=Arrivals(Cycle(100, hourly=(jobs_an_hour,) * 24), process))


def test_sizes_by_hand():
    law = law_curves(Cirne(sizes=SizeLaw(0.25, 0.5, 0.0)), 4, "law")
    assert law.sizes.x.tolist() == [1, 2, 3, 4]
    assert law.sizes.share == pytest.approx([0.5, 0.75, 0.5 + 0.25 * np.log2(3), 1.0])


def test_time_limits_by_hand():
    law = law_curves(Cirne(requests=LogUniform(0.1, -0.6)), 4, "law")
    assert (law.time_limits.x[0], law.time_limits.x[-1]) == (1, 65536)  # 2^6 to 2^16 s
    at_64, at_end = np.searchsorted(law.time_limits.x, [64, 65536])
    assert law.time_limits.share[at_64] == pytest.approx(0.0, abs=1e-12)
    assert law.time_limits.share[at_end] == pytest.approx(1.0)


def test_run_times_of_one_limit_are_those_of_the_accuracy():
    law = Accuracy(0.6, 0.6)
    model = Cirne(requests=LogUniform(1e6, -1e6 * np.log2(999.5)), accuracy=law)  # 1000 s, all of them
    seconds = np.array([0, 1, 250, 999, 1000])
    assert run_times_up_to(model, seconds) == pytest.approx(law.cdf(seconds / 1000))


def test_gaps_of_a_steady_accumulator_are_all_alike():
    share = gaps_up_to(flat(56.25, "accumulator"), 100, np.array([0, 63, 64, 65]))  # a job in 64 s
    assert share.tolist() == [0.0, 0.0, 1.0, 1.0]


def test_gaps_of_a_steady_poisson_process_are_geometric():
    rate = 360 / 3600
    gap = np.array([0, 1, 5, 20, 100])
    expected = 1 - np.exp(-rate * gap) * (1 - np.exp(-rate)) / rate
    assert gaps_up_to(flat(360, "poisson"), 100, gap) == pytest.approx(expected, abs=1e-9)


def test_twice_the_nodes_have_half_the_gaps():
    gaps = gaps_up_to(flat(56.25, "accumulator"), 200, np.array([31, 32]))
    assert gaps.tolist() == [0.0, 1.0]


def test_with_an_offered_load_the_rate_is_the_one_that_offers_it():
    cycle = Cycle(128, hourly=WORKDAY)
    loaded = Cirne(arrivals=Arrivals(cycle, "poisson", offered_load=0.7))
    as_it_is = Cirne(arrivals=Arrivals(cycle, "poisson"))
    assert rate_scale(loaded, 128) == pytest.approx(0.7 / as_it_is.offered_load(128))


@pytest.mark.parametrize("process", ["accumulator", "poisson"])
@pytest.mark.parametrize("weekly", [(), WEEK])
def test_law_is_what_a_drawn_trace_shows(process, weekly):
    arrivals = Arrivals(Cycle(128, hourly=WORKDAY, weekly=weekly), process)
    model = Cirne(arrivals=arrivals, sizes=SizeLaw(0.12, 0.20, 0.75), size_time_correlation=0.4)
    drawn = model.draw(40_000, 128, partial(stream, 11))
    trace = Workload(
        {
            "nodes": drawn.nodes,
            "submit_time": drawn.submit_time,
            "run_time": drawn.run_time,
            "time_limit": drawn.time_limit,
        },
        FROM_A_MONDAY,
    )
    found, law = curves_of(trace, 128), law_curves(model, 128, "law")
    for name in CURVES:
        curve, expected = getattr(found, name), getattr(law, name)
        at = np.searchsorted(curve.x, expected.x + 1e-9, side="right") - 1
        share = np.where(at < 0, 0.0, curve.share[np.maximum(at, 0)])
        assert np.abs(share - expected.share).max() < 0.01, name
        assert (np.diff(expected.share) >= 0).all()
    assert found.hour_shares == pytest.approx(law.hour_shares, abs=0.006)
    assert found.weekday_shares == pytest.approx(law.weekday_shares, abs=0.02)


def test_curves_reach_as_far_as_the_laws():
    law = law_curves(Cirne(), 128, "law")
    for name in ("sizes", "time_limits", "run_times", "accuracy"):
        assert getattr(law, name).share[-1] == pytest.approx(1.0)
    assert law.inter_arrivals.share[-1] > 1 - 1e-5
    assert law.jobs is law.components is law.load is law.unix_start is None
    assert law.calendar


def test_a_merged_law_is_weighted_by_jobs():
    one, other = Cirne(sizes=SizeLaw(0.25, 0.5, 0.0)), Cirne(sizes=SizeLaw(0.5, 0.0, 0.0))
    law = mixed_law([(one, 4, 300), (other, 8, 100)], "both")
    assert law.nodes == 12
    assert law.sizes.share[0] == pytest.approx(0.75 * 0.5 + 0.25 * 0.0)
    assert law.sizes.share[1] == pytest.approx(0.75 * 0.75 + 0.25 * 0.5)
    assert law.inter_arrivals is None
    same = law_curves(one, 4, "one")
    twice = mixed_law([(one, 4, 1), (one, 4, 1)], "twice")
    assert twice.run_times.share == pytest.approx(same.run_times.share)
    assert twice.hour_shares == pytest.approx(same.hour_shares)


def test_sizes_of_a_vast_machine_are_thinned_but_exact():
    law = law_curves(Cirne(sizes=SizeLaw(0.05, 0.1, 0.5)), 1 << 17, "vast")
    assert len(law.sizes.x) < 2000
    full = np.cumsum(SizeLaw(0.05, 0.1, 0.5).pmf(1 << 17))
    assert law.sizes.share == pytest.approx(full[law.sizes.x])
