"""Patterns against closed forms in LogGP's terms: o (latency, overhead), L (flight), G (a byte), over
parameters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.messages.patterns import all_to_all, broadcast_tree, ring, wavefront
from scheduler_sim.messages.replay import replay
from tests.conftest import examples
from tests.messages.network import US, network

micros = st.integers(0, 50)
sizes = st.integers(1, 500)
FEW = st.integers(2, 12)


def took(trace, on) -> int:
    ran = replay(trace, on)
    assert not (ran.finish % US).any()
    return ran.run_time // US


@examples(100)
@given(p=FEW, o=micros, wire=micros, o_r=micros, s=sizes, w=micros, rounds=st.integers(1, 3))
def test_a_ring_adds_up(p, o, wire, o_r, s, w, rounds):
    on = network(latency_us=o, flight_us=wire, overhead_us=o_r, bandwidth_mb_s=1)
    assert took(ring(p, s, w * 1e-6, rounds), on) == rounds * p * (w + o + s + wire + o_r)


@examples(100)
@given(k=st.integers(1, 5), o=micros, wire=micros, o_r=micros, s=sizes, w=micros)
def test_a_binomial_tree_takes_a_message_a_level(k, o, wire, o_r, s, w):
    on = network(latency_us=o, flight_us=wire, overhead_us=o_r, bandwidth_mb_s=1)
    assert took(broadcast_tree(2**k, s, w * 1e-6), on) == k * (o + s + wire + o_r) + w


@examples(100)
@given(p=FEW, o=micros, wire=micros, o_r=micros, s=sizes, w=micros)
def test_all_to_all_is_bound_by_processors_or_by_a_message(p, o, wire, o_r, s, w):
    on = network(latency_us=o, flight_us=wire, overhead_us=o_r, bandwidth_mb_s=1)
    n, x = p - 1, s + wire
    expected = max(n * (o + o_r), o + x + n * o_r, n * o + x + o_r)
    assert took(all_to_all(p, s, w * 1e-6), on) == w + expected


@examples(100)
@given(p=FEW, o=micros, wire=micros, s=sizes)
def test_all_to_all_through_one_link_is_bound_by_the_link(p, o, wire, s):
    on = network(latency_us=o, flight_us=wire, bandwidth_mb_s=1, links_out=1)
    n = p - 1
    assert took(all_to_all(p, s), on) == max(o + n * s, n * o + s) + wire


@examples(100)
@given(across=st.integers(2, 6), down=st.integers(1, 6), o=micros, wire=micros, s=sizes, w=micros)
def test_a_wavefront_pays_a_message_a_step_and_two_sends_a_step_down(across, down, o, wire, s, w):
    on = network(latency_us=o, flight_us=wire, bandwidth_mb_s=1)
    x = s + wire
    expected = (across - 1) * (w + o + x) + (down - 1) * (w + 2 * o + x) + w
    assert took(wavefront(across, down, s, w * 1e-6), on) == expected


@examples(100)
@given(across=st.integers(2, 5), down=st.integers(2, 5), w=st.integers(1, 50), sweeps=st.integers(1, 4))
def test_on_the_ideal_network_sweeps_follow_each_other_in_a_pipeline(across, down, w, sweeps):
    """Sweep3D without messages' time: the corner is reached after a step a diagonal, then a sweep a step."""
    assert took(wavefront(across, down, 100, w * 1e-6, sweeps), network()) == w * (across + down - 2 + sweeps)
