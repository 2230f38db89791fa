"""Files of simulations made by hand: what would take for ever, or all memory, is refused at once."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import numpy as np
import pytest

from scheduler_sim import Simulation, System, Workload
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.saving import TEXT

pytestmark = pytest.mark.interpreted
HUGE = 10**12


@pytest.fixture
def saved(tmp_path):
    """A simulation that was saved in its midst."""
    jobs = Workload.from_columns(nodes=[2, 2, 1], submit_time=[0, 1, 5], run_time=[10, 10, 10])
    sim = Simulation(System.homogeneous(4), jobs)
    sim.env.run(until=4)
    sim.save(tmp_path / "s.sim")
    return tmp_path / "s.sim"


def _changed(path, change):
    """Write the text of a file anew, changed by a function."""
    with zipfile.ZipFile(path) as file:
        members = {info.filename: file.read(info) for info in file.infolist()}
    text = json.loads(members[TEXT])
    change(text)
    members[TEXT] = json.dumps(text).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)


def _refused(path, words):
    with pytest.raises(InputError, match=words) as raised:
        Simulation.load(path)
    assert str(path) in str(raised.value)


def _longer(text, name):
    text["core"][name]["shape"][-1] = HUGE


@pytest.mark.parametrize("name", ["heap", "profile", "timeline", "jobs", "placements"])
def test_tables_with_room_for_more_than_memory_has(saved, name):
    _changed(saved, lambda text: _longer(text, name))
    _refused(saved, f"{name} has room for {HUGE}, the file for less")


def test_tables_of_more_dimensions(saved):
    def change(text):
        text["core"]["profile"]["shape"][0] = HUGE

    _changed(saved, change)
    _refused(saved, "profile has another shape")


def test_one_number_for_more_rows_than_there_are(saved):
    def change(text):
        table = text["origin"]["workload"]["table"]["table"]
        table[0] = HUGE
        for column in table[1].values():
            for kind, what in column.items():
                (what[0]["numbers"] if kind == "words" else what)[1] = HUGE

    _changed(saved, change)
    _refused(saved, f"found a table of {HUGE} rows")


def test_keys_of_parts_of_parts(saved):
    def change(text):
        """A pair of a pair of the same, again and again."""
        deep = [{"tuple": [1, 2]}]
        for number in range(60):
            deep.append({"tuple": [{"same": number + 1}, {"same": number + 1}]})
        text["state"] = {"_first": [*deep, {"set": [{"same": 61}]}]} | text["state"]

    _changed(saved, change)
    _refused(saved, "found a key of more than 1000 parts")


def test_what_unpacks_to_more_than_memory_has(saved, monkeypatch):
    monkeypatch.setattr("scheduler_sim.simulation.saving.SMALL_BYTES", 1 << 20)
    monkeypatch.setattr("scheduler_sim.simulation.saving.MOST_UNPACKED", 100)
    saved.write_bytes(gzip.compress(saved.read_bytes() + bytes(1 << 24)))
    _refused(saved, "it unpacks to more than")


def test_members_in_the_place_of_each_other(saved):
    """The directory of the zip names one large member many times."""
    out = io.BytesIO()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo(TEXT), old.read(TEXT))
        file.writestr(zipfile.ZipInfo("0.npy"), _array(np.zeros(100_000)))
        for number in range(1, 50):
            info = zipfile.ZipInfo(f"{number}.npy")
            known = file.getinfo("0.npy")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "flag_bits"):
                setattr(info, name, getattr(known, name))
            file.filelist.append(info)
    saved.write_bytes(out.getvalue())
    _refused(saved, "its members have")


@pytest.mark.parametrize("kind", ["|V0", "<i8"])
def test_values_without_bytes(saved, kind):
    with zipfile.ZipFile(saved) as file:
        members = {info.filename: file.read(info) for info in file.infolist()}
    out = io.BytesIO()
    described = {"descr": kind, "fortran_order": False, "shape": (HUGE,)}
    np.lib.format.write_array_header_1_0(out, described)
    members["3.npy"] = out.getvalue()
    with zipfile.ZipFile(saved, "w") as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)
    _refused(saved, "3.npy has 0 bytes for")


def _array(array):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, allow_pickle=False)
    return content.getvalue()
