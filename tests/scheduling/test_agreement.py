"""Schedules of other simulators, repeated in their own dialects."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.scheduling.peers import PEERS, PYSS, Peer, agreement, by_rules_of_pyss, spelt, table

SLOW = ("batsim.kth5k.easyfull", "batsim.kth5k.cons", "pyss.kth28k.conservative", "pyss.kth28k.easy_sjbf")
"""Seconds each: among the long tests."""

DECODED = [
    pytest.param(peer, id=peer.name, marks=pytest.mark.long if peer.name in SLOW else ())
    for peer in PEERS
    if peer.at_least is not None
]


@needs_shared
@pytest.mark.parametrize("peer", DECODED)
def test_a_peer_in_its_own_dialect(peer: Peer) -> None:
    found = agreement(peer)
    assert found.percent >= peer.at_least, f"{spelt(peer.dialect)}: {found}"


@needs_shared
def test_the_table_has_every_schedule_there_is() -> None:
    files = {file.name for file in PEERS[0].file.parent.glob("*.csv.gz")}
    assert files == {peer.file.name for peer in PEERS}


@needs_shared
@pytest.mark.long
def test_the_table_is_markdown() -> None:
    head, rule, *rows = table()
    assert len(rows) == len(PEERS)
    assert {line.count("|") for line in (head, rule, *rows)} == {9}


@needs_shared
@pytest.mark.parametrize("name", PYSS)
def test_pyss_by_its_own_rules_about_one_instant(name: str) -> None:
    same, jobs = by_rules_of_pyss(name)
    assert same == jobs == 28481
