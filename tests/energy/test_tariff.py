"""Prices and carbon: read from CSV, integrated exactly, refused where they end too early."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.accounting import account
from scheduler_sim.energy.bill import bill
from scheduler_sim.energy.facility import Facility
from scheduler_sim.energy.tariff import Series, component_cost
from scheduler_sim.errors import InputError, TraceError
from tests.energy.test_accounting import COMPONENTS, TIMELINE, WATTS

NODES = {"CM": 4, "ESB": 3}


@pytest.fixture
def csv(tmp_path):
    def write(text):
        path = tmp_path / "prices.csv"
        path.write_text(text)
        return path

    return write


def test_seconds(csv):
    series = Series.from_csv(csv("time,value\n0,0.10\n3600,0.30\n"))
    assert series.time.tolist() == [0, 3600, 7200], "the last value holds as long as the one before"
    assert series.integral(1800, 5400) == pytest.approx(1800 * 0.1 + 1800 * 0.3)
    assert series.integral(np.array([0, 3600]), np.array([7200, 3600])).tolist() == pytest.approx([1440, 0])
    assert series.at(np.array([0, 3599, 3600, 7200])).tolist() == [0.1, 0.1, 0.3, 0.3]


def test_dates_and_other_columns(csv):
    path = csv("time,price,carbon\n2024-03-31T01:00+01:00,80,300\n2024-03-31T01:00Z,-5,200\n")
    series = Series.from_csv(path, "carbon", unix_start=1_711_843_200)  # 2024-03-31T00:00Z
    assert series.time.tolist() == [0, 3600, 7200]
    assert series.value.tolist() == [300, 200]
    assert Series.from_csv(path, "price", unix_start=0).value.tolist() == [80, -5], "prices may be negative"
    with pytest.raises(TraceError, match=r"prices.csv:2: a date, .*UnixStartTime in the trace"):
        Series.from_csv(path, "price")


def test_a_series_that_ends_too_early_or_begins_too_late(csv):
    series = Series.from_csv(csv("time,value\n10,1\n20,2\n"))
    with pytest.raises(InputError, match=r"prices.csv: ends too early, at 30 s; allowed: 31 s or later"):
        series.integral(10, 31)
    with pytest.raises(InputError, match=r"prices.csv: begins too late, at 10 s; allowed: by 9 s"):
        series.integral(9, 20)
    with pytest.raises(InputError, match="ends too early"):
        bill(
            account(COMPONENTS, TIMELINE, WATTS, end=31),
            NODES,
            price=Series("p", np.array([0, 30]), np.ones(1)),
        )


def test_a_single_value_holds_for_ever(csv):
    series = Series.from_csv(csv("time,value\n50,0.2\n"))
    assert series.integral(0, 10**9) == pytest.approx(2e8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,value\n0,1\n0,2\n", r":3: not later than the row before; field time"),
        ("time,value\n0,1\n5,2\n4,3\n", r":4: not later"),
        ("time,value\n0,much\n", r":2: not a number; field value; found 'much'"),
        ("time,value\n0,nan\n", r":2: not a number"),
        ("time,value\nsoon,1\n", r":2: not a time; field time; found 'soon'; allowed: whole seconds"),
        ("when,value\n0,1\n", r":1: a column is missing; field time; allowed: columns time, value"),
        ("time,value\n", "no rows"),
        ("", "not readable as CSV"),
    ],
)
def test_files_that_cannot_be(csv, text, message):
    with pytest.raises(TraceError, match=message):
        Series.from_csv(csv(text))


def test_no_such_file(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        Series.from_csv(tmp_path / "none.csv")


def test_a_bill_by_hand():
    made = account(COMPONENTS, TIMELINE, WATTS, end=30)
    total = made.energy["system_j"].iloc[-1]
    price = Series("p", np.array([0, 10, 30]), np.array([0.1, 0.4]))
    first = 2 * 1050 + 3 * 1810 + 4 * 2010 + 1250
    due = bill(made, NODES, facility=Facility.of_pue(1.2), price=price, carbon=Series.constant(300))
    assert due.it_j == total
    assert due.facility_j == pytest.approx(1.2 * total)
    assert due.cost == pytest.approx(1.2 * (first * 0.1 + (total - first) * 0.4) / 3.6e6)
    assert due.carbon_g == pytest.approx(1.2 * total * 300 / 3.6e6)
    assert bill(made, NODES)[5:] == (None, None)
    for pue in (0.9, float("nan"), float("inf")):
        with pytest.raises(InputError, match="pue"):
            Facility.of_pue(pue)


def test_the_cost_of_each_component():
    price = Series("p", np.array([0, 10, 30]), np.array([0.1, 0.4]))
    start, end, power = (COMPONENTS[name].to_numpy() for name in ("start", "end", "power_w"))
    cost = component_cost(start, end, power, price)
    assert cost.tolist() == pytest.approx([700 * 1.0 / 3.6e6, 300 * (0.5 + 4.0) / 3.6e6, 910 * 0.7 / 3.6e6])
