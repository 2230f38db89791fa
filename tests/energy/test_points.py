"""Measured points: read with every mistake named, averaged, cut."""

from __future__ import annotations

import gzip

import pytest

from scheduler_sim.energy.points import Points
from scheduler_sim.errors import InputError, TraceError

GOOD = """\
workload,frequency_khz,power_w,time_s,l2
a,1000000,100,10,0.5
a,2000000,150,6,0.5
b,1000000,90,20,0.1
"""


@pytest.fixture
def csv(tmp_path):
    def write(text):
        path = tmp_path / "points.csv"
        path.write_text(text)
        return path

    return write


def test_reading(csv, tmp_path):
    points = Points.from_csv(csv(GOOD))
    assert len(points) == 3
    assert points.counters == ["l2"]
    assert points.at(1_000_000).power.tolist() == [100, 90]
    assert points.terms(["l2", "1"]).tolist() == [[0.5, 1], [0.5, 1], [0.1, 1]]
    packed = tmp_path / "points.csv.gz"
    packed.write_bytes(gzip.compress(GOOD.encode()))
    assert Points.from_csv(packed).table.equals(points.table)


def test_repeated_runs_are_averaged(csv):
    points = Points.from_csv(csv(GOOD + "a,1000000,110,12,0.7\n"))
    assert len(points) == 3
    assert points.table.iloc[0].tolist() == ["a", 1_000_000, 105.0, 11.0, 0.6]


def test_modules_are_kept_apart(csv):
    text = "workload,module,frequency_khz,power_w\na,CM,1000,1\na,ESB,1000,2\n"
    points = Points.from_csv(csv(text))
    assert points.of_module("esb").power.tolist() == [2]
    assert Points.from_csv(csv(GOOD)).of_module("esb").power.tolist() == [100, 150, 90], "none stated: all"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("power_w", "watts", r":1: a column is missing; field power_w; allowed: columns workload"),
        (
            "a,2000000,150",
            "a,2000000,-150",
            r":3: not above 0; field power_w; found '-150'; allowed: a number > 0",
        ),
        ("a,2000000", "a,0", r":3: not above 0; field frequency_khz"),
        ("a,2000000", "a,2000000.5", r":3: not a frequency; field frequency_khz; found '2000000.5'"),
        ("b,1000000,90,20", "b,1000000,90,nan", r":4: not a number; field time_s"),
        ("b,1000000,90,20,0.1", "b,1000000,90,20,", r":4: not a number; field l2; found ''"),
        ("b,1000000", ",1000000", r":4: an empty name; field workload"),
        ("b,1000000,90,20", "b,1000000,90,1e300", r":4: not a number; field time_s; .*of size up to 1e\+15"),
        ("l2", "1", r":1: a column may not be called 1"),
        (GOOD[GOOD.index("\na") :], "\n", "no rows"),
    ],
)
def test_mistakes_are_named(csv, old, new, message):
    with pytest.raises(TraceError, match=message):
        Points.from_csv(csv(GOOD.replace(old, new, 1)))


def test_roles(csv):
    text = "workload,role,frequency_khz,power_w\na,fit,1000,1\nb,try,1000,2\n"
    with pytest.raises(
        TraceError, match=r":3: an unknown role; field role; found 'try'; allowed: fit or test"
    ):
        Points.from_csv(csv(text))


def test_files_that_cannot_be_read(csv, tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        Points.from_csv(tmp_path / "none.csv")
    with pytest.raises(TraceError, match="not readable as CSV"):
        Points.from_csv(tmp_path)
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="not readable as CSV"):
        Points.from_csv(tmp_path / "bytes.csv")


def test_a_frequency_at_which_nothing_ran(csv):
    with pytest.raises(InputError, match="found none at 1500000 kHz; allowed: 1000000, 2000000 kHz"):
        Points.from_csv(csv(GOOD)).at(1_500_000)
