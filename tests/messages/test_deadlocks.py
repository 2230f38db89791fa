"""What never ends is named: process and record."""

from __future__ import annotations

import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.messages.outcome import outcome
from scheduler_sim.messages.replay import replay
from tests.messages.network import network

CASES = {
    "a receive without its send": (
        ["0 send 1 5", "1 recv 0 5", "1 recv 0 5"],
        "process 1, recv from 0, tag 0 (line 4)",
    ),
    "another tag": (["0 send 1 5 t1", "1 recv 0 5 t2"], "process 1, recv from 0, tag 2"),
    "both receive first": (
        ["0 recv 1 5", "0 send 1 5", "1 recv 0 5", "1 send 0 5"],
        "process 0, recv from 1, tag 0 (line 2), waits for process 1",
    ),
    "both send first, in rendezvous": (
        ["0 ssend 1 5", "0 recv 1 5", "1 ssend 0 5", "1 recv 0 5"],
        "2 wait in a circle",
    ),
    "a circle of three, and one who waits for it": (
        [
            *(f"{p} recv {(p + 1) % 3} 5" for p in range(3)),
            *(f"{(p + 1) % 3} send {p} 5" for p in range(3)),
            "3 recv 0 1",
            "0 send 3 1",
        ],
        "of 4 processes 3 wait in a circle",
    ),
    "one does not come to a barrier": (["0 barrier", "1 compute 1"], "process 1 of its group never reach"),
    "one comes to a barrier too late": (
        ["0 recv 1 5", "0 barrier", "1 barrier", "1 send 0 5"],
        "process 1, barrier (line 4), waits for process 0",
    ),
    "different operations": (["0 barrier", "1 bcast 8"], "different collective operations"),
    "a wait for nothing": (["0 wait #4", "1 compute 1"], "process 0, wait of request 4 (line 2)"),
    "a wait for what is over": (
        ["0 isend 1 5 #1", "0 waitall", "0 wait #1", "1 recv 0 5"],
        "no operation to wait for",
    ),
    "an operation that nobody began": (["0 wait_bcast", "1 compute 1"], "no bcast is under way"),
    "a group of which one is not": (["0 barrier 1", "1 barrier 1"], "not a member of its group"),
    "a request in rendezvous that is never received": (
        ["0 issend 1 5 #1", "0 wait #1", "1 compute 1"],
        "waits for process 1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_deadlocks_are_named(table, case):
    lines, told = CASES[case]
    if lines[1] == "1 bcast 8":
        lines = ["0 barrier", "1 bcast"]
    with pytest.raises(InputError) as error:
        replay(table(*lines), network())
    assert told in str(error.value)
    assert "allowed" in str(error.value)


def test_many_are_cut(table):
    lines = [f"0 recv 1 5 t{tag}" for tag in range(20)]
    with pytest.raises(InputError, match="and 12 more"):
        replay(table(*lines, "1 compute 1"), network())


def test_a_message_that_nobody_receives_is_counted_and_takes_its_link(table):
    trace = table("0 send 1 10 t1", "0 send 1 10 t2", "1 recv 0 10 t2")
    one = outcome(trace, network(bandwidth_mb_s=1, links_out=1))
    assert one.not_received == 1
    assert one.real.run_time == 20 * 10**6


def test_a_run_that_is_too_long(table):
    trace = table("0 compute 4000000000000", "0 compute 4000000000000")
    with pytest.raises(InputError, match="longer than"):
        replay(trace, network())
    with pytest.raises(InputError, match="a message takes"):
        replay(table("0 send 0 1000000", "0 recv 0 1"), network(within={"bandwidth_mb_s": 1e-9}))
