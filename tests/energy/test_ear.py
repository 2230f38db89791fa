"""EAR's coefficient files and signatures: both formats by hand, and what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.ear import ear_model, ear_signatures, ratio_model
from scheduler_sim.energy.points import Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError, TraceError
from tests.conftest import SHARED, needs_shared

TWO = PStates.of([2_000_000, 2_400_000])
MATRIX = """\
1 0 0 1 0 0
0 0 0 0 0 0
1.460243 0.179429 -215.988654 0.9 0.001 0.02
1 0 0 1 0 0
"""
TEXT = """\
ref 2400000 pstate 2400000 avail 1 A 1 B 0 C 0 D 1 E 0 F 0
ref 2400000 pstate 2000000 avail 1 A 1.460243 B 0.179429 C -215.988654 D 0.9 E 0.001 F 0.02
0 0 0 0 0 0
ref 2000000 pstate 2400000 avail 0 A 0 B 0 C 0 D 0 E 0 F 0
"""
APPS = "2\n1 0 4 60,81 319,86 0,5533 15,44\n2 0 4 86.9 273.74 0.6 0.013\n"


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "file"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(("text", "states"), [(MATRIX, TWO), (TEXT, None)])
def test_both_formats_by_hand(file, text, states):
    model = ear_model(file(text), states)
    assert model.pstates.khz.tolist() == [2_000_000, 2_400_000]
    signatures = ear_signatures(file(APPS), [2_400_000])
    made = model.project(signatures)
    assert made.power_w[0].tolist() == pytest.approx([253.855, 319.86], abs=0.001)
    cpi = 0.9 * 0.5533 + 0.001 * 15.44 + 0.02
    assert made.time_factor[0].tolist() == pytest.approx([cpi / 0.5533 * 1.2, 1])
    back = Points(signatures.table.assign(frequency_khz=2_000_000))
    with pytest.raises(InputError, match="no coefficients from 2000000 to 2400000 kHz"):
        model.project(back, 2_400_000)


def test_signatures(file):
    table = ear_signatures(file(APPS), [2_400_000]).table
    assert table["workload"].tolist() == ["1", "2"]
    assert table["module"].tolist() == ["0", "0"]
    assert table["time_s"].tolist() == [60.81, 86.9]


def test_the_ratio_matrix_by_hand(file):
    """Eq. 5.1 with one counter, measured at 2.4 GHz."""
    model = ratio_model(file("-0.02 0.9\n0 1\n"), TWO, 2_400_000, ["tpi"])
    signatures = ear_signatures(file(APPS), [2_400_000])
    made = model.project(signatures)
    assert made.power_w[0].tolist() == pytest.approx([319.86 * (0.9 - 0.02 * 15.44), 319.86])
    assert made.time_factor[0].tolist() == pytest.approx([1.2, 1])
    with pytest.raises(TraceError, match="1 rows; allowed: one for each of 2 P-states"):
        ratio_model(file("0 1\n"), TWO, 2_400_000, ["tpi"])


@pytest.mark.parametrize(
    ("text", "states", "message"),
    [
        (MATRIX, None, "a matrix does not name its frequencies"),
        (MATRIX, PStates.of([1000, 2000, 3000]), r"4 rows; allowed: 3² rows for 3 P-states"),
        (MATRIX.replace("0.9 0.001", "0.9"), TWO, r"file:3: not a row of numbers; .*allowed: 6 numbers"),
        (MATRIX.replace("0.9", "many"), TWO, "file:3: not a row of numbers"),
        (TEXT.replace("F 0.02", ""), None, "file:2: no coefficients; .*allowed: ref KHZ pstate KHZ"),
        (TEXT.replace("-215.988654", "inf"), None, "file:2: not a row of numbers"),
    ],
)
def test_coefficients_that_cannot_be_read(file, text, states, message):
    with pytest.raises(TraceError, match=message):
        ear_model(file(text), states)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file:1: no number of applications"),
        (APPS.replace("2\n", "3\n", 1), "not what the first line says; found '2 applications'; allowed: 3"),
        (APPS.replace("2 0 4", "2 1 4"), "file:3: not a signature; .*allowed: 4 fields of a module 0 to 0"),
        (APPS.replace("86.9", "-86.9"), "not above 0; field time_s"),
    ],
)
def test_signatures_that_cannot_be_read(file, text, message):
    with pytest.raises(TraceError, match=message):
        ear_signatures(file(text), [2_400_000])


def test_no_such_file(tmp_path):
    with pytest.raises(TraceError, match="cannot be read"):
        ear_model(tmp_path / "none")


@needs_shared
@pytest.mark.parametrize(("name", "states"), [("cmp2541", 15), ("cmp2771", 15)])
def test_published_text_files(name, states):
    model = ear_model(SHARED / "data" / "energy" / "deepest_ear" / "4hw" / f"coeffs.{name}")
    assert len(model.pstates) == states
    own = ear_signatures(
        SHARED / "data" / "energy" / "deepest_ear" / "4hw" / "apps",
        [2_700_000, 3_100_000, 3_000_000, 2_400_000],
    )
    made = model.project(own.of_module("2" if name == "cmp2541" else "3"))
    ratio = np.median(made.power_w / made.power_w[:, -1:], axis=0)
    slow = np.median(made.time_factor, axis=0)
    lowest = {"cmp2541": (0.49, 2.22), "cmp2771": (0.55, 2.15)}[name]  # the fact sheet's proxy curves
    assert (ratio[0], slow[0]) == pytest.approx(lowest, abs=0.006)
