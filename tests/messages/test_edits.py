"""What-ifs: other bursts, other networks, and how they are said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.messages.edits import accelerated, balanced, by_cycles, without_noise
from scheduler_sim.messages.outcome import outcome
from scheduler_sim.messages.patterns import stencil
from scheduler_sim.messages.reading import read_messages, write_messages
from scheduler_sim.messages.replay import efficiency, replay
from scheduler_sim.messages.trace import COMPUTE, PS
from scheduler_sim.messages.what_if import Edit, read_what_if
from tests.conftest import examples
from tests.messages.network import US, network


def bursts(trace) -> list[int]:
    """Bursts in µs, process by process."""
    return (trace.duration[trace.kind == COMPUTE] // US).tolist()


def test_bursts_between_operations_of_all_get_the_mean_of_those_who_compute(table):
    trace = table(
        *("0 compute 10", "0 compute 30", "0 barrier", "0 compute 7", "0 barrier 0|1", "0 compute 1"),
        *("1 compute 20", "1 barrier", "1 compute 3", "1 barrier 0|1", "1 compute 3"),
        *("2 compute 60", "2 barrier"),
    )
    # first 40, 20 and 60: mean 40. The barrier of two cuts nothing: 8 and 6, mean 7; process 2 has nothing
    found = balanced(trace)
    assert bursts(found)[:2] == [10, 30]
    assert bursts(found)[4] == 40
    assert bursts(found)[-1] == 40
    assert found.duration[trace.kind == COMPUTE][2:4].sum() == pytest.approx(7 * US, abs=2)
    assert found.duration[trace.kind == COMPUTE][5:7].sum() == pytest.approx(7 * US, abs=2)


def test_a_balanced_trace_has_all_efficiency_where_operations_alone_couple_processes(table):
    trace = table("0 compute 10", "0 barrier", "0 compute 3", "1 compute 4", "1 barrier", "1 compute 9")
    one = outcome(trace, network(), ["balanced"]).what_ifs["balanced"]
    assert (one.load_balance, one.serialization, one.parallel) == (1, 1, 1)


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6)), min_size=1, max_size=30), st.data())
def test_balancing_keeps_all_work(pairs, data):
    from scheduler_sim.messages.trace import Columns

    columns = Columns.blank(len(pairs))
    columns.process[:] = [p for p, _ in pairs]
    columns.duration[:] = [d for _, d in pairs]
    trace = columns.trace("t", 3)
    assert balanced(trace).duration.sum() == pytest.approx(trace.duration.sum(), abs=len(pairs))


def test_a_kernel_by_label_is_faster(tmp_path):
    trace = stencil(4, 2)
    found = accelerated(trace, "inner", 4)
    inner = trace.label == 0
    assert (found.duration[inner] == np.rint(trace.duration[inner] / 4)).all()
    assert (found.duration[~inner] == trace.duration[~inner]).all()
    # the same by events, of a trace of Dimemas
    again = read_messages(write_messages(trace, tmp_path / "t.dim"))
    phased = accelerated(again, "60000019:1", 4)
    assert sorted(bursts(phased)) == sorted(bursts(found))


def test_a_kernel_that_is_not_there(tmp_path, table):
    trace = stencil(2, 1)
    with pytest.raises(InputError, match="did you mean 'inner'"):
        accelerated(trace, "iner", 2)
    with pytest.raises(InputError, match="no burst has a label"):
        accelerated(table("0 compute 1"), "x", 2)
    events = read_messages(write_messages(trace, tmp_path / "t.dim"))
    with pytest.raises(InputError, match="TYPE:VALUE of the events 60000019"):
        accelerated(events, "60000019:9", 2)


def test_noise_goes_burst_by_burst_of_a_kind(table):
    trace = table(
        *("0 compute 5", "0 barrier", "0 compute 7", "0 barrier", "0 compute 6", "0 barrier", "0 compute 50"),
        *("1 compute 90", "1 barrier", "1 compute 80", "1 barrier", "1 compute 85", "1 barrier"),
    )
    # of process 0 the first has nothing before it, the last nothing behind; of 1 the same
    assert bursts(without_noise(trace)) == [5, 6, 6, 50, 90, 80, 80]
    assert bursts(without_noise(trace, "minimum")) == [5, 6, 6, 50, 90, 80, 80]
    many = table(
        *(line for d in (9, 1, 5, 7, 3) for line in ("0 barrier 0", f"0 compute {d}")), "0 barrier 0"
    )
    assert bursts(without_noise(many)) == [5] * 5
    assert bursts(without_noise(many, "minimum")) == [1] * 5


def test_cycles_leave_out_the_time_of_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("process,kind,seconds,cycles\n0,compute,2,1000000000\n0,compute,3,\n")
    trace = read_messages(path)
    assert by_cycles(trace, 2.0).duration.tolist() == [PS // 2, 3 * PS]
    path.write_text("process,kind,seconds\n0,compute,2\n")
    with pytest.raises(InputError, match="no burst with a count"):
        by_cycles(read_messages(path), 2.0)


def test_noise_added_is_noise_removed():
    clean = stencil(8, 6, noise=0.0)
    noisy = stencil(8, 6, noise=0.3)
    assert (clean.kind == noisy.kind).all()
    left = without_noise(noisy, "minimum").duration - clean.duration
    assert (left >= 0).all()
    assert left.sum() < 0.35 * (noisy.duration - clean.duration).sum()


def test_networks_are_scaled_one_after_the_other(table):
    trace = table("0 send 1 100", "1 recv 0 100")
    on = network(latency_us=4, bandwidth_mb_s=10)
    found = outcome(
        trace, on, ["bandwidth:2", "latency:0.5", "ideal", "bandwidth:0.5+latency:2+bandwidth:2", "latency:3"]
    ).what_ifs
    assert [one.run_time // US for one in found.values()] == [9, 12, 0, 18, 22]


def test_efficiencies_of_what_ifs_are_those_of_the_edited_trace():
    trace, on = stencil(6, 3), network(latency_us=20, bandwidth_mb_s=100)
    one = outcome(trace, on, ["faster:inner:3+bandwidth:2"])
    other, better = accelerated(trace, "inner", 3), on.scaled(bandwidth=2)
    assert one.what_ifs["faster:inner:3+bandwidth:2"] == efficiency(other, better, replay(other, better))


def test_what_is_said():
    assert read_what_if("balanced+no-noise") == (Edit("balanced"), Edit("no-noise", "median"))
    assert read_what_if("faster:a+b:c:2.5+ideal") == (Edit("faster", "a+b:c", 2.5), Edit("ideal"))
    assert read_what_if("cycles:2.3") == (Edit("cycles", "", 2.3),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("balance", "did you mean 'balanced'"),
        ("bandwidth", "bandwidth:TIMES"),
        ("bandwidth:0", "1e-9 to 1e9"),
        ("bandwidth:nan", "a number"),
        ("faster:2", "faster:KERNEL:TIMES"),
        ("faster:inner:x", "faster:KERNEL:TIMES"),
        ("ideal:2", "allowed: ideal"),
        ("no-noise:mean", "no-noise:minimum"),
        ("balanced+", "found 'balanced+'"),
        ("", "allowed"),
    ],
)
def test_what_is_said_wrongly(text, told):
    with pytest.raises(InputError) as error:
        read_what_if(text)
    assert told in str(error.value)
