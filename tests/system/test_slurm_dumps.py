"""Topology, node events and reservations of a site."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.ignored import ACCOUNTING, NO_SUCH_NODE
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.topology_conf import LINK_SPEED, read_topology
from scheduler_sim.system.slurm_dumps.events import NO_OUTAGE, read_events
from scheduler_sim.system.slurm_dumps.qos import read_qos
from scheduler_sim.system.slurm_dumps.reservations import BY_NUMBER, OF_CORES, USERS_NAMED, read_reservations
from tests.conftest import SHARED, needs_shared

NOON, ONE = "2026-03-01T12:00:00", "2026-03-01T13:00:00"
EVENTS = """\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
brook||2026-03-01T00:00:00|Unknown|||
brook|n1|2026-03-01T12:00:00|2026-03-01T13:00:00|DOWN*|Not responding|slurm(64030)
brook|n2|2026-03-01T12:00:00|Unknown|DRNG|disk|root(0)
brook|n3|1772366400|1772366401|FAIL|power|root(0)
brook|n4|2026-03-01T12:00:00|2026-03-01T13:00:00|MAINT|planned|root(0)
"""
RESERVATION = (
    "ReservationName=lab StartTime=2026-03-01T12:00:00 EndTime=2026-03-01T13:00:00 Duration=01:00:00 "
    "Nodes=n[1-2] NodeCnt=2 CoreCnt=2 Features=(null) PartitionName=main "
    "Flags=MAINT,SPEC_NODES,PURGE_COMP=00:05:00 TRES=cpu=2 Users=ann,bob Groups=(null) Accounts=(null) "
    "Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
)


@pytest.fixture
def dump(tmp_path):
    def write(text, name="dump.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def topology(path, nodes="n[1-4]"):
    notes = Notes()
    return read_topology(path, expand(nodes), notes), notes


def test_switches(dump):
    text = """\
SwitchName=leaf[1-2] LinkSpeed=100 Nodes=n1
SwitchName=leaf3 Nodes=n[2-3],x[1-2]
SwitchName=spine Switches=leaf[1-3] # all
"""
    form, notes = topology(dump(text))
    assert form == {
        "switches": {
            "leaf1": {"nodes": "n1"},
            "leaf2": {"nodes": "n1"},
            "leaf3": {"nodes": "n[2-3],x[1-2]"},
            "spine": {"switches": ["leaf1", "leaf2", "leaf3"]},
        }
    }
    assert notes.problems == []
    assert [(one.value, one.why) for one in notes.ignored] == [
        ("100", LINK_SPEED),
        ("x1 and 1 more", NO_SUCH_NODE),
    ]


def test_blocks(dump):
    form, notes = topology(dump("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n"))
    assert form == {"block_sizes": [2, 4], "blocks": {"b1": {"nodes": "n[1-2]"}, "b2": {"nodes": "n[3-4]"}}}
    assert (notes.problems, notes.ignored) == ([], [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Nodes=n1\n",
            "dump.txt:1: Nodes: found at the beginning; allowed: SwitchName, BlockName, BlockSizes",
        ),
        ("SwitchName=a\n", "dump.txt:1: SwitchName: found neither Nodes nor Switches"),
        ("SwitchName=a Nodes=n1 Switches=b\n", "found both Nodes and Switches; allowed: one of them"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "dump.txt:2: SwitchName: found 'a' again"),
        ("SwitchName=a Switches=b\n", "dump.txt:1: Switches: found 'b'; allowed: names of SwitchName lines"),
        (
            "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "dump.txt:1: Switches: found 'a' below itself",
        ),
        ("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", "which is below 'b'"),
        ("SwitchName=a Nodes=n[1\n", "dump.txt:1: Nodes: found 'n[1'"),
        ("SwitchName=a Nodes=n1 Speed=3\n", "dump.txt:1: Speed: no key of a topology.conf"),
        ("BlockName=a\n", "dump.txt:1: BlockName: found no Nodes"),
        ("BlockName=a Nodes=n1\nSwitchName=s Nodes=n1\n", "BlockName: found beside SwitchName"),
        ("BlockSizes=2,x\n", "dump.txt:1: BlockSizes: found 'x'; allowed: an integer >= 1"),
    ],
)
def test_mistakes_in_a_topology(dump, text, told):
    assert told in "\n".join(topology(dump(text))[1].problems)


def test_node_events(dump):
    notes = Notes()
    found = read_events(dump(EVENTS), "brook", notes)
    assert found == [
        {"start": NOON, "end": ONE, "nodes": ["n1"], "state": "DOWN", "reason": "Not responding"},
        {"start": NOON, "end": None, "nodes": ["n2"], "state": "DRAIN", "reason": "disk"},
        {"start": NOON, "end": "2026-03-01T12:00:01", "nodes": ["n3"], "state": "FAIL", "reason": "power"},
    ]
    assert notes.problems == []
    assert [one.why for one in notes.ignored] == [ACCOUNTING, NO_OUTAGE]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("n1|yesterday||DOWN", "dump.txt:2: TimeStart: found 'yesterday'; allowed: 2026-02-28T13:00:00"),
        ("n1|Unknown||DOWN", "dump.txt:2: TimeStart: found no date"),
        ("n1|100|50|DOWN", "dump.txt:2: TimeEnd: found '50' before the start"),
        ("n[1|100|150|DOWN", "dump.txt:2: NodeName: found 'n[1'"),
    ],
)
def test_mistakes_in_events(dump, row, told):
    notes = Notes()
    read_events(dump(f"NodeName|TimeStart|TimeEnd|State\n{row}\n"), "", notes)
    assert told in "\n".join(notes.problems)


def test_reservations_as_scontrol_prints_them(dump):
    notes = Notes()
    cores = RESERVATION.replace("lab", "half").replace("TRES=", "NodeName=n1 CoreIDs=0-3 TRES=")
    later = RESERVATION.replace("(null)\n", "00:02:00\n").replace("Users=ann,bob", "Users=-root")
    assert read_reservations(dump(RESERVATION + cores + later), "", notes) == [
        {
            "name": "lab",
            "start": NOON,
            "end": ONE,
            "nodes": ["n1", "n2"],
            "partition": "main",
            "users": ["ann", "bob"],
            "flags": ["MAINT", "PURGE_COMP"],
            "purge_comp_s": 300,
        },
        {
            "name": "lab",
            "start": NOON,
            "end": ONE,
            "nodes": ["n1", "n2"],
            "partition": "main",
            "users": ["-root"],
            "flags": ["MAINT", "PURGE_COMP"],
            "purge_comp_s": 300,
            "max_start_delay": 120,
        },
    ]
    assert notes.problems == []
    assert [(one.value, one.why) for one in notes.ignored] == [("half", OF_CORES)]
    assert read_reservations(dump("No reservations in the system\n"), "", notes) == []


def test_groups_of_a_reservation_stand_in_the_place_of_users(dump):
    notes = Notes()
    group = RESERVATION.replace("Users=ann,bob Groups=(null)", "Users=(null) Groups=optics")
    both = RESERVATION.replace("Groups=(null)", "Groups=optics")
    first, second = read_reservations(dump(group + both), "", notes)
    assert (first["groups"], first.get("users")) == (["optics"], None)
    assert (second["users"], second.get("groups")) == (["ann", "bob"], None)
    assert [(one.value, one.why) for one in notes.ignored] == [("optics", USERS_NAMED)]


def test_reservations_as_sacctmgr_prints_them(dump):
    notes = Notes()
    text = "Cluster|Name|TimeStart|TimeEnd|NodeName|Flags|Assocs\nbrook|lab|10|20|n[1-2]|MAINT|3,4\n"
    assert read_reservations(dump(text), "brook", notes) == [
        {
            "name": "lab",
            "start": "1970-01-01T00:00:10",
            "end": "1970-01-01T00:00:20",
            "nodes": ["n1", "n2"],
            "flags": ["MAINT"],
        }
    ]
    assert [(one.value, one.why) for one in notes.ignored] == [("lab", BY_NUMBER)]
    with pytest.raises(ConfigError, match="found brook with ClusterName=other"):
        read_reservations(dump(text), "other", notes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello\n", "dump.txt:1: ReservationName: found 'hello'; allowed: what scontrol show res -o prints"),
        (RESERVATION.replace("T12:", "T14:"), "dump.txt:1: EndTime: found '2026-03-01T13:00:00' before"),
        (RESERVATION.replace("2026-03-01T12", "soon"), "StartTime: found 'soon:00:00'; allowed: 2026"),
        (RESERVATION.replace("n[1-2]", "n[1-"), "dump.txt:1: Nodes: found 'n[1-'"),
    ],
)
def test_mistakes_in_reservations(dump, text, told):
    notes = Notes()
    read_reservations(dump(text), "", notes)
    assert told in "\n".join(notes.problems)


@needs_shared
def test_reservations_as_a_running_slurm_printed_them(dump):
    seen = set()
    for name in ("HR1a_reservation", "R1a_reservations", "R2a_resv_changes"):
        path = SHARED / "data" / "slurm_oracle_2" / "out" / f"{name}.out.json.gz"
        events = json.loads(gzip.decompress(path.read_bytes()))["events"]
        lines = [one[2].replace("=@", "=") for one in events if one[1] == "reservation"]
        notes = Notes()
        found = read_reservations(dump("\n".join(lines)), "", notes)
        assert (len(found), notes.problems) == (len(lines), [])
        seen |= {(one["name"], one["start"][-5:], one["end"][-5:], len(one["nodes"])) for one in found}
    assert {("lab", "00:40", "01:40", 3), ("maint", "02:30", "03:00", 6)} <= seen


@needs_shared
def test_topologies_of_sites():
    for site, switches in (("university", 4), ("ub_medium", 4)):
        path = SHARED / "data" / "sites" / site / "topology.conf"
        form, notes = topology(
            path, "n[001-100],m[001-100],gn[001-002],g[001-008],b[001-024],g[01-08],fat[01-04]"
        )
        assert (len(form["switches"]), notes.problems) == (switches, [])


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2 Mar 07:00", "3 Mar 08:00"),
        ("08:30:00", "18:30:00"),
        ("Tomorr 08:00", "Mon 09:00"),
        ("2026-03-02T07:00:00", "tomorrow"),
        ("2026-03-02T07:00:00", "Unknown"),
        ("2026-03-02T07:00:00", "999999999999"),
    ],
)
def test_times_of_reservations_that_are_no_dates_are_refused(tmp_path, start, end):
    path = tmp_path / "reservations.txt"
    path.write_text(f"ReservationName=r StartTime={start} EndTime={end} Nodes=n1 Flags=MAINT Users=root\n")
    notes = Notes()
    read_reservations(path, "", notes)
    assert notes.problems
    assert all(f"{path}:1: " in one and "allowed: " in one for one in notes.problems)


@pytest.mark.parametrize(
    ("written", "mode"),
    [("requeue,within", "requeue"), ("within", ""), ("priority,cancel", "cancel"), ("gang,suspend", "")],
)
def test_words_of_preempt_mode_in_qos_are_read(tmp_path: Path, written: str, mode: str) -> None:
    path = tmp_path / "qos.txt"
    path.write_text(f"Name|Priority|PreemptMode\nhigh|10|{written}\n")
    notes = Notes()
    assert read_qos(path, notes)["high"] == ({"priority": 10, "PreemptMode": mode} if mode else 10)
    assert not notes.problems
    assert [one.key for one in notes.ignored] == ["PreemptMode"]
