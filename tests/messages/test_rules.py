"""Every rule on traces of two to four processes, worked out by hand. Times in µs, 1 byte a µs unless said."""

from __future__ import annotations

import pytest

from scheduler_sim.messages.network_keys import OperationKeys
from scheduler_sim.messages.replay import replay
from tests.messages.network import US, checked, ends, network

SLOW = {"bandwidth_mb_s": 1}  # 1 byte a µs


def test_a_message_takes_latency_and_size_over_bandwidth(table):
    trace = table("0 compute 10", "0 send 1 5", "0 compute 1", "1 recv 0 5")
    assert ends(trace, network(latency_us=3, **SLOW)) == [14, 18]  # 10 + 3 + 1; 10 + 3 + 5


def test_flight_and_overhead_come_on_top_and_overhead_also_for_a_late_receiver(table):
    trace = table("0 send 1 5", "1 recv 0 5", "1 compute 2")
    assert ends(trace, network(latency_us=3, flight_us=4, overhead_us=6, **SLOW)) == [3, 20]
    late = table("0 send 1 5", "1 compute 50", "1 recv 0 5")
    assert ends(late, network(latency_us=3, flight_us=4, overhead_us=6, **SLOW)) == [3, 56]


def test_a_receiver_may_pay_before_it_looks_and_posts(table):
    trace = table("0 send 1 5", "1 recv 0 5", "1 compute 2")
    on = network(latency_us=3, receive_latency_us=4, **SLOW)
    assert ends(trace, on) == [3, 10]  # hidden, as the message comes at 8
    assert ends(table("0 ssend 1 5", "1 recv 0 5"), on) == [4, 9]  # posted at 4
    late = table("0 send 1 5", "1 irecv 0 5 #1", "1 compute 50", "1 wait #1")
    assert ends(late, on) == [3, 54]  # the wait pays, what does not block does not
    ran = replay(trace, on)
    assert (ran.transfer // US).tolist() == [3, 8]


def test_a_sender_waits_for_its_receive_above_the_eager_size_alone(table):
    trace = table("0 send 1 5", "0 compute 1", "1 compute 20", "1 recv 0 5")
    assert ends(trace, network(latency_us=3, eager=5, **SLOW)) == [4, 20]  # there since 8
    # the transfer begins once the receive is posted; then the sender goes on, too
    assert ends(trace, network(latency_us=3, eager=4, **SLOW)) == [21, 25]


def test_a_synchronous_send_waits_whatever_its_size(table):
    trace = table("0 ssend 1 5", "1 compute 20", "1 recv 0 5")
    assert ends(trace, network(**SLOW)) == [20, 25]


def test_who_waits_and_who_transfers(table):
    trace = table("0 compute 10", "0 send 1 5", "1 compute 2", "1 recv 0 5")
    ran = replay(trace, network(latency_us=3, **SLOW))
    checked(ran)
    assert (ran.waiting // US).tolist() == [0, 11]  # until the message asks for links, at 13
    assert (ran.transfer // US).tolist() == [3, 5]
    assert (ran.useful // US).tolist() == [10, 2]


def test_receives_that_do_not_block_overlap(table):
    trace = table(
        *("0 irecv 1 8 #1", "0 compute 5", "0 wait #1", "0 compute 1"),
        *("1 isend 0 8 #1", "1 compute 2", "1 wait #1"),
    )
    assert ends(trace, network(latency_us=1, **SLOW)) == [10, 3]  # there at 9


def test_a_wait_for_a_send_in_rendezvous_lasts_until_the_receive(table):
    trace = table("0 isend 1 8 #7", "0 compute 2", "0 wait #7", "1 compute 30", "1 recv 0 8")
    assert ends(trace, network(latency_us=1, eager=0, **SLOW)) == [30, 38]
    assert ends(trace, network(latency_us=1, **SLOW)) == [3, 30]


def test_waitall_is_for_all_that_is_under_way_and_requests_come_again(table):
    trace = table(
        *("0 irecv 1 4 #1", "0 irecv 2 9 #2", "0 waitall", "0 irecv 1 3 #1", "0 wait #1"),
        *("1 send 0 4", "1 compute 20", "1 send 0 3", "2 send 0 9"),
    )
    assert ends(trace, network(**SLOW)) == [23, 20, 0]


def test_a_message_to_itself(table):
    trace = table("0 irecv 0 4 #1", "0 isend 0 4 #2", "0 wait #2", "0 wait #1", "0 compute 1")
    assert ends(trace, network(within=SLOW, eager=0)) == [5]


def test_messages_of_a_channel_go_to_receives_in_order_others_by_tag(table):
    trace = table(
        "0 send 1 1 t5", "0 compute 4", "0 send 1 2 t6", "1 recv 0 2 t6", "1 compute 1", "1 recv 0 1 t5"
    )
    assert ends(trace, network(**SLOW)) == [4, 7]


@pytest.mark.parametrize(
    ("limits", "there"),
    [
        ({}, [0, 10, 10]),
        ({"links_out": 1}, [0, 10, 20]),
        ({"links_out": 2}, [0, 10, 10]),
        ({"buses": 1}, [0, 10, 20]),
        ({"links_in": 1}, [0, 10, 10]),
    ],
)
def test_links_out_and_buses_hold_messages_back(table, limits, there):
    trace = table("0 send 1 10", "0 send 2 10", "1 recv 0 10", "2 recv 0 10")
    assert ends(trace, network(**SLOW, **limits)) == there


def test_a_link_in_takes_one_message_after_the_other_in_the_order_in_which_they_ask(table):
    trace = table(
        *("0 compute 3", "0 send 2 10", "1 compute 1", "1 send 2 10"),
        *("2 recv 0 10", "2 compute 1", "2 recv 1 10"),
    )
    assert ends(trace, network(**SLOW, links_in=1)) == [3, 1, 22]  # 1 to 11, 11 to 21
    assert ends(trace, network(**SLOW)) == [3, 1, 14]


def test_a_link_out_is_held_while_a_message_waits_for_its_link_in(table):
    # 0 to 2 has the link into 2 until 10; 1 to 2 waits for it with its own link out, for which 1 to 3 waits
    trace = table(
        "0 send 2 10", "1 compute 1", "1 send 2 4", "1 send 3 5", "2 recv 0 10", "2 recv 1 4", "3 recv 1 5"
    )
    limits = {"links_out": 1, "links_in": 1}
    assert ends(trace, network(**SLOW, **limits)) == [0, 1, 14, 19]


def test_the_bus_of_a_memory_is_a_nodes_own(table):
    trace = table("0 send 1 10", "2 send 3 10", "1 recv 0 10", "3 recv 2 10")
    assert ends(trace, network(2, 2, within={**SLOW, "buses": 1})) == [0, 10, 0, 10]
    assert ends(trace, network(1, 4, within={**SLOW, "buses": 1})) == [0, 10, 0, 20]


def test_processes_of_a_node_share_its_links(table):
    trace = table("0 send 2 10", "1 send 3 10", "2 recv 0 10", "3 recv 1 10")
    assert ends(trace, network(2, 2, **SLOW, links_out=1)) == [0, 0, 10, 20]


def test_bursts_are_divided_by_the_cpu_ratio(table):
    trace = table("0 compute 10", "0 send 1 5", "1 recv 0 5")
    assert ends(trace, network(cpu_ratio=2, latency_us=1, **SLOW)) == [6, 11]


LOG = OperationKeys.model_validate(
    {"fan_in": {"model": "logarithmic", "size": "max"}, "fan_out": {"model": "none"}}
)


def test_a_collective_operation_begins_when_the_last_is_there(table):
    trace = table(
        *(f"{p} compute {p}" for p in range(4)), *(f"{p} allreduce" for p in range(4)), "0 compute 5"
    )
    ran = replay(trace, network(latency_us=2, collectives={"allreduce": LOG}))
    assert (ran.finish // US).tolist() == [12, 7, 7, 7]  # 3 + two stages of 2
    assert (ran.waiting // US).tolist() == [3, 2, 1, 0]
    assert (ran.transfer // US).tolist() == [4] * 4


def test_groups_meet_by_themselves(table):
    trace = table(
        "0 barrier 0|2", "1 compute 9", "1 barrier 1|3", "2 compute 1", "2 barrier 2|0", "3 barrier 3|1"
    )
    assert ends(trace, network()) == [1, 9, 1, 9]


def test_an_operation_that_is_begun_and_waited_for(table):
    trace = table(
        *("0 iallreduce", "0 compute 6", "0 wait_allreduce"),
        *("1 compute 3", "1 iallreduce", "1 compute 1", "1 wait_allreduce"),
    )
    assert ends(trace, network(latency_us=2, collectives={"allreduce": LOG})) == [6, 5]


def test_modules_have_a_network_between_them(table):
    from dataclasses import replace

    from scheduler_sim.messages.network_keys import LinkKeys

    one = network(1, 1, latency_us=1, **SLOW)
    both = replace(
        one,
        modules={"A": one.modules["M"], "B": one.modules["M"].model_copy(update={"cpu_ratio": 0.5})},
        pairs={(0, 1): LinkKeys(latency_us=7, bandwidth_mb_s=2)},
    )
    trace = table("0 compute 2", "0 send 1 10", "1 compute 2", "1 recv 0 10", "1 compute 1")
    assert ends(trace, both) == [9, 16]  # B takes twice as long for its bursts
