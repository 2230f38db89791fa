"""Curves: the published vectors, laws, bounds, and fits that find what made the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import (
    KINDS,
    READINGS,
    Amdahl,
    AmdahlSpeedup,
    Constant,
    Downey,
    Formula,
    GatherScatter,
    Gustafson,
    LinearArchitecture,
    LostCycles,
    Phases,
    Pipeline,
    Pmnf,
    Roofline,
    Table,
    Usl,
    Wavefront,
    read_curve,
)
from tests.scaling.golden import SAGE_TCOMM

P = np.array([2, 8, 32, 128, 512.0])
SAGE_33 = [(0, 9.0, 0.0), (64, 9.7, 17.8), (513, 17.4, 12.8)]
SAGE_66 = [(0, 6.1, 0.0), (64, 6.44, 12.2), (513, 13.8, 8.3)]


def sage(pieces):
    return GatherScatter.of(
        pieces=[
            {"bytes": b, "latency": delay * 1e-6, "seconds_per_byte": gap * 1e-9} for b, delay, gap in pieces
        ]
    )


def pmnf(text):
    """Read terms such as ``"4.03 0.5 0; 2 0 1"``: c i j; i = j = 0 is the constant."""
    terms = [tuple(map(float, term.split())) for term in text.split(";")]
    return Pmnf.of(
        constant=sum(c for c, i, j in terms if i == j == 0),
        terms=[{"c": c, "i": i, "j": j} for c, i, j in terms if (i, j) != (0, 0)],
    )


def test_every_kind_says_what_it_is():
    assert [kind.NAME for kind in KINDS.values()] == list(KINDS)
    for name, kind in KINDS.items():
        assert kind.EQUATION
        assert kind.SOURCE
        assert kind.__doc__
        assert callable(kind.fitted) if name not in ("phases", "lost_cycles", "mixture", "segments") else True
        for field in kind.model_fields.values():
            assert field.description


def test_readings_are_one_at_one_process():
    for g in READINGS.values():
        assert g(np.array([1.0])) == pytest.approx([1.0])
    assert READINGS["cbrt"](np.array([8.0])) == pytest.approx([2.0])
    assert READINGS["log2"](np.array([8.0])) == pytest.approx([4.0])


def test_amdahl_with_a0_of_one_is_amdahls_law():
    assert Amdahl.of(f=0.98).values(P) == pytest.approx(AmdahlSpeedup.of(serial=0.02).efficiency(P))


@pytest.mark.parametrize(
    ("A", "sigma", "n", "speedup"),
    [(16, 1, 8, 6.5641), (16, 1, 16, 10.8936), (16, 2, 16, 9.8462), (16, 2, 46, 16)],
)
def test_downey_by_hand(A, sigma, n, speedup):
    assert Downey.of(A=A, sigma=sigma).values(n) == pytest.approx(speedup, abs=5e-5)


@given(A=st.floats(1, 200), sigma=st.floats(0, 5), n=st.floats(1, 500))
def test_downey_is_continuous_between_bounds_and_reaches_A(A, sigma, n):
    curve = Downey.of(A=A, sigma=sigma)
    assert 0 < curve.values(n) <= min(n, A) * (1 + 1e-9)
    joints = [A, 2 * A - 1] if sigma <= 1 else [A + A * sigma - sigma]
    for joint in joints:
        below, above = curve.values([max(joint * (1 - 1e-9), 1), joint * (1 + 1e-9)])
        assert below == pytest.approx(above, rel=1e-6)
    assert curve.values(1e9) == pytest.approx(A)


def test_downeys_branches_agree_at_one_and_sigma_zero_is_ideal():
    below, above = (Downey.of(A=16, sigma=1 + step).values(P) for step in (0, 1e-12))
    assert below == pytest.approx(above, rel=1e-9)
    assert Downey.of(A=16, sigma=0).values(P) == pytest.approx(np.minimum(P, 16))


def test_usl_peaks_where_its_formula_says():
    curve = Usl.of(a=0.02, b=1e-4)
    p = np.arange(1, 500.0)
    assert p[np.argmax(curve.values(p))] == round(curve.peak) == 99


def test_openmp_load_balance_of_xpic():
    """17 % serial, 24 threads: D2.3, section 4.3 says that load balance drops by 17 points."""
    assert Gustafson.of(serial=0.17).efficiency(24) == pytest.approx(0.8371, abs=5e-5)


@pytest.mark.parametrize("size", SAGE_TCOMM)
def test_sages_messages(size):
    slow, fast = SAGE_TCOMM[size]
    assert sage(SAGE_33).values(size) * 1e6 == pytest.approx(slow, abs=1e-3)
    assert sage(SAGE_66).values(size) * 1e6 == pytest.approx(fast, abs=1e-3)


def test_sages_messages_are_found_again():
    sizes = np.array([1, 8, 63, 64, 128, 512, 513, 4096, 65536.0])
    found = GatherScatter.fitted(sizes, sage(SAGE_33).values(sizes), [0, 64, 513])
    assert found.values(sizes) == pytest.approx(sage(SAGE_33).values(sizes))
    assert found.pieces[2].latency == pytest.approx(17.4e-6)


def test_lost_cycles_of_the_sample():
    """The pp sample of Crovella and LeBlanc: overheads 20.624021 s, total 49.293890 s, p = 5."""
    overheads = {
        "load_imbalance": 0.180677,
        "insufficient_parallelism": 16.813304,
        "synchronization_loss": 0.003779,
        "communication_loss": 2.274899,
        "resource_contention": 1.351362,
    }
    curve = LostCycles.of(
        computation=28.669868, overheads={name: Pmnf.of(constant=s) for name, s in overheads.items()}
    )
    assert sum(overheads.values()) == pytest.approx(20.624021)
    assert curve.values(5) == pytest.approx(9.858778, abs=1e-6)
    assert curve.efficiency(5) == pytest.approx(0.58161, abs=5e-6)


def test_cepbas_model_of_nas_bt_is_a_line_in_inverse_bandwidth():
    """Columns model 1.31 and 0.83 at 80 and 300 MB/s: 1.179 at 100, printed 1.18."""
    bandwidth, time = np.array([80, 300.0]), np.array([1.31, 0.83])
    ones = np.ones(2)
    found = LinearArchitecture.fitted((ones, ones * 1e-9, bandwidth), time)
    assert found.values(1, 1e-9, 100) == pytest.approx(1.179, abs=5e-4)


@pytest.mark.parametrize(("side", "messages"), [(8, 56), (64, 280), (512, 2072)])
def test_sweep3ds_messages(side, messages):
    assert Wavefront.of(sweeps=8, latency=1).values(side * side) == messages


def test_loggp_time_of_a_message():
    curve = Wavefront.of(sweeps=1, latency=5e-6, overhead=1e-6, bytes=1001, gap_per_byte=1e-9)
    assert curve.message_time == pytest.approx(8e-6)


@pytest.mark.parametrize(
    ("terms", "p", "seconds"),
    [
        ("4.03 0.5 0", 262144, 2063.36),
        ("582.19 0 0", 262144, 582.19),
        ("1.06 0.5 0; 0.03 0.5 1", 262144, 819.2),
        ("11.49 0 0; 0.09 0.5 1", 262144, 840.93),
        ("6.86 0 0; 9.13e-5 0 1", 262144, 6.8616434),
        ("4.03 0.5 0", 64, 32.24),
        ("0.03 0 0; 2.53e-6 1.5 0; 1.24e-12 3 0", 130000, 2842.8966),
        ("3.63e-6 1.5 0; 7.21e-13 3 0", 130000, 1754.1830),
        ("24.44 0 0; 2.26e-7 2 0", 130000, 3843.84),
        ("24.44 0 0; 2.26e-7 2 0", 183000, 7592.954),
        ("6.30e-6 0 2", 65536, 6.30e-6 * 256),
    ],
)
def test_normal_forms_of_calotoiu_evaluate(terms, p, seconds):
    assert pmnf(terms).values(p) == pytest.approx(seconds, rel=1e-6)


def test_where_calotoius_tables_do_not_hold_together():
    """Shares of the run time at 262144 processes give seconds that two of the formulas miss."""
    total = 582.19 / 0.2087
    share = {"Recv": 65.35, "Allreduce": 12.89, "Send": 0.4, "source": 0.25}
    form = {
        "Recv": "4.03 0.5 0",
        "Allreduce": "1.06 0.5 0; 0.03 0.5 1",
        "Send": "11.49 0 0; 0.09 0.5 1",
        "source": "6.86 0 0; 9.13e-5 0 1",
    }
    ratio = {name: pmnf(form[name]).values(262144) / (total * share[name] / 100) for name in share}
    assert ratio["source"] == pytest.approx(1, abs=0.02)
    assert ratio["Recv"] == pytest.approx(1.13, abs=0.01)
    assert ratio["Allreduce"] == pytest.approx(2.28, abs=0.01)
    assert ratio["Send"] > 70


def test_phases_add_up_and_work_is_shared():
    curve = Phases.of(phases={"a": Pmnf.of(constant=3), "b": Pmnf.of(constant=100, gives="work")})
    assert curve.values(P) == pytest.approx(3 + 100 / P)


def test_roofline_and_convolver():
    blocks = [{"flops": 1e12, "bytes": 1e11}, {"flops": 1e10, "bytes": 5e11}]
    assert Roofline.of(blocks=blocks).values(1e12, 1e11) == pytest.approx(1 + 5)
    assert Roofline.of(blocks=blocks, overlap=False).values(1e12, 1e11) == pytest.approx(2 + 5.01)


@pytest.mark.parametrize("overlap", [True, False])
def test_flops_and_bytes_are_found_from_times_on_machines(overlap):
    peak, bandwidth = np.array([1e12, 2e12, 4e12, 1e12]), np.array([1e11, 1e11, 1e11, 9e11])
    made = Roofline.of(blocks=[{"flops": 3e12, "bytes": 2e11}], overlap=overlap)
    found = Roofline.fitted((peak, bandwidth), made.values(peak, bandwidth), overlap=overlap)
    assert found.blocks[0].flops == pytest.approx(3e12, rel=1e-4)
    assert found.blocks[0].bytes == pytest.approx(2e11, rel=1e-4)


def test_a_table_is_met_at_its_points_and_flat_outside():
    curve = Table.of(points=[[2, 0.9], [8, 0.7]])
    assert curve.values([1, 2, 4, 8, 99]) == pytest.approx([0.9, 0.9, 0.8, 0.7, 0.7])


@pytest.mark.parametrize(
    ("made", "fit"),
    [
        (Constant.of(value=0.9), Constant.fitted),
        (AmdahlSpeedup.of(serial=0.01), AmdahlSpeedup.fitted),
        (Gustafson.of(serial=0.2), Gustafson.fitted),
        (Usl.of(a=0.01, b=1e-6), Usl.fitted),
        (Downey.of(A=60, sigma=0.5), Downey.fitted),
        (Downey.of(A=30, sigma=2.5), Downey.fitted),
    ],
)
def test_parameters_come_back(made, fit):
    found = fit(P, made.efficiency(P))
    for name in type(made).model_fields:
        assert getattr(found, name) == pytest.approx(getattr(made, name), rel=1e-4, abs=1e-9)


@given(
    kind=st.sampled_from([Amdahl, Pipeline]),
    reading=st.sampled_from(sorted(READINGS)),
    top=st.floats(0.3, 1),
    share=st.floats(0, 1),
)
def test_factors_come_back_under_every_reading(kind, reading, top, share):
    made = kind.of_line(1 / top, share / top, reading)
    found = kind.fitted(P, made.values(P), reading=reading)
    assert found.values(P) == pytest.approx(made.values(P), rel=1e-7)


def test_the_formula_is_arithmetic_and_finds_its_constants():
    curve = Formula.of(formula="a / p + b * log2(p)", constants={"a": 100, "b": 2})
    assert curve.values(P) == pytest.approx(100 / P + 2 * np.log2(P))
    found = Formula.fitted(P, curve.values(P), "a / p + b * log2(p)", {"a": 1, "b": 1})
    assert found.constants == pytest.approx({"a": 100, "b": 2})


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "p.real",
        "p[0]",
        "(lambda: 1)()",
        "q + 1",
        "min(p)",
        "sqrt(p, p)",
        "p if p else 1",
        "1 +",
        "'p'",
        "True",
        "1" + "0" * 400,
        "1e999",
        "+" * 60 + "p",
        "p" * 1001,
    ],
)
def test_what_is_no_arithmetic_is_refused(text):
    with pytest.raises(InputError, match="formula"):
        Formula.of(formula=text)


def test_a_formula_that_gives_no_time_says_where():
    curve = Formula.of(formula="8 - p")
    assert curve.values(2) == 6
    with pytest.raises(InputError, match="no number above 0 at p = 8"):
        curve.values(P)
    with pytest.raises(InputError, match="no number above 0"):
        Formula.of(formula="9**9**9**p").values(3)


@pytest.mark.parametrize("wrong", [0, 0.5, -1, np.nan, np.inf])
def test_processes_that_cannot_be(wrong):
    with pytest.raises(InputError, match="processes; allowed: finite numbers"):
        Amdahl.of(f=0.9).values([4, wrong])


@pytest.mark.parametrize(
    ("kind", "parameters", "said"),
    [
        (Amdahl, {"f": 1.1}, "f: found 1.1; allowed: a number >= 0 and at most 1"),
        (Amdahl, {"f": 0.9, "a0": 0}, "a0: found 0; allowed: a number > 0 and <= 1"),
        (Amdahl, {"f": float("nan")}, "f: found nan"),
        (Pipeline, {"f": 0.4}, "f: found 0.4; allowed: a number >= 0.5"),
        (Pmnf, {"constant": -1}, "constant: found -1"),
        (Pmnf, {"terms": [{"c": -1}]}, "terms.0.c: found -1"),
        (Table, {"points": [[8, 0.9], [2, 0.8]]}, "with processes rising"),
        (Table, {"points": []}, "a list of"),
        (Usl, {"a": 0.1}, "b"),
        (Downey, {"A": 0.5, "sigma": 1}, "A: found 0.5"),
    ],
)
def test_parameters_out_of_bounds_are_told(kind, parameters, said):
    with pytest.raises(InputError, match=r"allowed|Field required") as told:
        kind.of(**parameters)
    assert said in str(told.value)


def test_an_unknown_curve_gets_a_hint():
    _, problems = read_curve({"curve": "amdal", "f": 0.9}, ("efficiency",))
    assert "(did you mean 'amdahl'?)" in str(problems[0])
    assert problems[0].where == ("efficiency", "curve")


def test_every_curve_is_read_from_what_it_writes():
    curves = [
        Amdahl.of(f=0.9, reading="cbrt"),
        Pmnf.of(constant=1, terms=[{"c": 2, "i": 0.5}]),
        Phases.of(phases={"a": Pmnf.of(constant=1), "b": Table.of(points=[[1, 3]], gives="time")}),
        Formula.of(formula="a*p", constants={"a": 2}),
        Roofline.of(blocks=[{"flops": 1, "bytes": 2}], overlap=False),
        sage(SAGE_33),
    ]
    for curve in curves:
        again, problems = read_curve(curve.to_dict())
        assert not problems
        assert again == curve
