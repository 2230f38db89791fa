"""CEPBA's linear model holds for replays: T = α / CPU ratio + β L + γ / BW over random networks of one
trace."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.messages.patterns import stencil, wavefront
from scheduler_sim.messages.replay import replay
from scheduler_sim.scaling.curves import LinearArchitecture
from scheduler_sim.streams import stream
from tests.messages.network import network


@pytest.mark.parametrize(
    "trace", [wavefront(4, 4, 50_000, 1e-4, 3), stencil(16, 4, 0.002, 400_000)], ids=lambda t: t.name
)
def test_replays_on_random_networks_lie_on_a_plane(trace):
    """The published fits over randomised runs have r² of 0.97 and more."""
    draws = stream(1, "cepba")
    ratio, latency_us, bandwidth = (
        draws.uniform(low, high, 40) for low, high in ((0.5, 2), (1, 50), (100, 1000))
    )
    times = np.array(
        [
            replay(trace, network(cpu_ratio=r, latency_us=us, bandwidth_mb_s=b)).run_time / 1e12
            for r, us, b in zip(ratio, latency_us, bandwidth, strict=True)
        ]
    )
    cpu, latency = 1 / ratio, latency_us * 1e-6
    fitted = LinearArchitecture.fitted((cpu, latency, bandwidth), times)
    left = times - fitted.values(cpu, latency, bandwidth)
    assert 1 - left.var() / times.var() > 0.97
