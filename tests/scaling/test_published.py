"""Published tables: predictions of Rosas et al.; product rules, identities and extrapolations of D2.3."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.scaling.curves import Amdahl, Pipeline
from scheduler_sim.scaling.fitting import fit_factor, validated
from scheduler_sim.scaling.fitting.validation import ErrorTable, error_rows
from scheduler_sim.scaling.least_squares import efficiency_line
from scheduler_sim.scaling.names import leaves
from scheduler_sim.scaling.rules import check_rules, suspects
from tests.scaling import golden

HALF_A_DIGIT = 0.0005
ROSAS = {  # parameters that Tables 2 to 5 lie on; of two points each for Nekbone and AMG2013
    ("HACC", "load_balance"): Amdahl.of(reading="cbrt", a0=0.965459, f=0.99797036),
    ("HACC", "serialization"): Pipeline.of(reading="cbrt", c=0.9700, f=0.5731),
    ("HACC", "transfer"): Amdahl.of(reading="cbrt", a0=1, f=0.86666),
    ("AVBP", "load_balance"): Amdahl.of(a0=0.951667, f=0.99990409),
    ("AVBP", "serialization"): Amdahl.of(a0=1, f=0.999844),
    ("AVBP", "transfer"): Amdahl.of(a0=1, f=0.99994686),
    ("Nekbone", "load_balance"): Amdahl.of(a0=0.994951, f=0.9999074),
    ("Nekbone", "serialization"): Amdahl.of(a0=0.9931, f=0.99996775),
    ("Nekbone", "transfer"): Amdahl.of(a0=0.995006, f=0.99998811),
    ("AMG2013", "load_balance"): Amdahl.of(a0=0.94804, f=0.99988486),
    ("AMG2013", "serialization"): Amdahl.of(a0=1, f=0.999736),
    ("AMG2013", "transfer"): Amdahl.of(a0=1, f=0.99975478),
}
FACTORS = ("load_balance", "serialization", "transfer")


def published(app, factor):
    rows = golden.rosas().query("app == @app and factor == @factor")
    return tuple(rows[name].to_numpy(dtype=float) for name in ("ranks", "predicted", "error_pct"))


@pytest.mark.parametrize(("app", "factor"), ROSAS)
def test_rosas_factors(app, factor):
    ranks, predicted, _ = published(app, factor)
    assert ROSAS[app, factor].values(ranks) == pytest.approx(predicted, abs=HALF_A_DIGIT)


@pytest.mark.parametrize("app", ["HACC", "AVBP", "Nekbone", "AMG2013"])
def test_rosas_parallel_efficiency_is_the_product(app):
    ranks, predicted, _ = published(app, "parallel_efficiency")
    product = np.prod([ROSAS[app, factor].values(ranks) for factor in FACTORS], axis=0)
    rounding = HALF_A_DIGIT * (1 + sum(product / ROSAS[app, factor].values(ranks) for factor in FACTORS))
    assert (np.abs(product - predicted) <= rounding).all()


def test_rosas_error_columns():
    """The measured values recovered from the factors' errors multiply to those of the whole within 0.4 %."""
    for app in ("HACC", "AVBP", "AMG2013"):
        actual = {}
        for factor in (*FACTORS, "parallel_efficiency"):
            ranks, predicted, error = published(app, factor)
            actual[factor] = predicted / (1 + error / 100)
            rows = error_rows(ranks, {factor: predicted}, {factor: actual[factor]})
            assert 100 * rows["error"].to_numpy() == pytest.approx(error, abs=1e-9)
        product = np.prod([actual[factor] for factor in FACTORS], axis=0)
        assert product == pytest.approx(actual["parallel_efficiency"], rel=0.0045)


def test_a_cell_of_rosas_is_written_as_in_the_tables():
    rows = error_rows(np.array([2048.0]), {"transfer": np.array([0.391])}, {"transfer": np.array([0.43152])})
    assert "0.391(-9.39%)" in ErrorTable(np.array([256.0]), rows).text()


@pytest.mark.parametrize(
    ("app", "factor", "right", "wrong"),
    [
        ("HACC", "load_balance", "cbrt", ("linear", "log2")),
        ("HACC", "transfer", "cbrt", ("linear", "log2")),
        ("AVBP", "load_balance", "linear", ("cbrt", "log2")),
        ("AVBP", "serialization", "linear", ("cbrt", "log2")),
        ("AVBP", "transfer", "linear", ("cbrt", "log2")),
    ],
)
def test_cubic_is_the_cube_root_and_avbp_is_linear(app, factor, right, wrong):
    """Only one reading of P goes through the printed predictions."""
    ranks, predicted, _ = published(app, factor)
    residual = {
        reading: np.abs(Amdahl.fitted(ranks, predicted, reading=reading).values(ranks) - predicted).max()
        for reading in (right, *wrong)
    }
    assert residual[right] < 1.3 * HALF_A_DIGIT
    assert all(residual[reading] > HALF_A_DIGIT and residual[reading] > residual[right] for reading in wrong)


def test_avbp_of_all_factors_peaks():
    """Speedup of the product is largest, 1429, at P = 5225; efficiency is 0.8 at 590 and 0.5 at 2395."""
    p = np.arange(1, 10_000.0)
    eta = np.prod([ROSAS["AVBP", factor].values(p) for factor in FACTORS], axis=0)
    assert p[np.argmax(p * eta)] == pytest.approx(5225, abs=60)
    assert (p * eta).max() == pytest.approx(1429, abs=2)
    assert p[eta >= 0.8][-1] == pytest.approx(590, abs=3)
    assert p[eta >= 0.5][-1] == pytest.approx(2395, abs=5)


def test_nekbone_far_out():
    eta = np.prod([ROSAS["Nekbone", factor].values([2048.0, 8192]) for factor in FACTORS], axis=0)
    assert eta == pytest.approx([0.757, 0.403], abs=0.001)


@pytest.mark.parametrize("name", ["XPIC", "NEST_ARBOR", "NEXTDBSCAN", "NEXTDBSCAN_HYBRID", "ECEARTH_1TO1"])
def test_product_rules_of_d23(name):
    checks = check_rules(golden.table(getattr(golden, name)), decimals=4)
    assert len(checks) >= 10
    assert all(check.kept for check in checks)


def test_the_one_bad_cell_of_table_19():
    checks = check_rules(golden.table(golden.ECEARTH_2TO3), decimals=4)
    broken = [(check.processes, check.whole) for check in checks if not check.kept]
    assert broken == [(201, "parallel"), (201, "communication")]
    assert suspects(checks) == [(201, "communication")]
    mended = golden.table(golden.ECEARTH_2TO3)
    mended.loc[mended["processes"] == 201, "communication"] = 0.6987
    assert all(check.kept for check in check_rules(mended, decimals=4))


def test_hybrid_factors_multiply_to_those_of_the_whole():
    """D2.3, Tables 16 and 17 of the same runs: LB = LB_mpi LB_omp, and communication likewise."""
    whole, hybrid = golden.table(golden.NEXTDBSCAN), golden.table(golden.NEXTDBSCAN_HYBRID)
    both = whole.merge(hybrid, on="processes")
    checks = [
        c for c in check_rules(both, decimals=4) if c.parts[0].startswith("mpi_") and c.whole[:3] != "mpi"
    ]
    assert {check.whole for check in checks} >= {"load_balance", "communication", "hybrid_parallel"}
    assert all(check.kept for check in checks)


def test_a_wrong_cell_is_found_wherever_it_stands():
    table = golden.table(golden.XPIC)
    for name in ("parallel", "communication", "computation"):
        wrong = table.copy()
        wrong.loc[2, name] += 0.001
        assert (96.0, name) in suspects(check_rules(wrong, decimals=4))


def test_nextdbscan_at_a_hundred_thousand():
    """D2.3: over 0.90 and 0.65 at 100 and 500 thousand, load balance constant; over 0.70 if it degrades."""
    table = golden.table(golden.NEXTDBSCAN_HYBRID).query("processes >= 192")
    p = np.array([1e5, 5e5])

    def at(name):
        return fit_factor(
            table["processes"], table[name], name, kind="amdahl", reading="linear"
        ).curve.values(p)

    rest = at("mpi_serialization") * at("mpi_transfer") * at("omp_communication")
    balance = table["mpi_load_balance"].mean() * table["omp_load_balance"].mean()
    assert rest * balance == pytest.approx([0.906, 0.649], abs=0.002)
    assert (rest * at("mpi_load_balance") * at("omp_load_balance"))[0] == pytest.approx(0.709, abs=0.002)


@pytest.mark.parametrize(("weights", "expected"), [("first", 0.593), ("equal", 0.660)])
def test_xpic_at_6144(weights, expected):
    """D2.3 measured about 0.594; three points, load balance constant, linear P."""
    table = golden.table(golden.XPIC).head(3)
    eta = table["load_balance"].mean()
    for name in ("serialization", "transfer"):
        fit = fit_factor(
            table["processes"], table[name], name, kind="amdahl", reading="linear", weights=weights
        )
        eta *= fit.curve.values(6144)
    assert eta == pytest.approx(expected, abs=0.002)


def test_xpic_held_out():
    """Fitted to 24, 48 and 96 processes: a regression value of the fit."""
    settings = {name: {"kind": "amdahl", "reading": "linear"} for name in FACTORS}
    table = golden.table(golden.XPIC)[["processes", *FACTORS]]
    lines = validated(table, list(FACTORS), 2, settings).text().splitlines()
    assert lines[1].split() == ["192", "0.990(+0.04%)", "0.989(-1.06%)", "0.992(-0.03%)", "0.971(-1.05%)"]
    assert lines[2].split()[0] == "384"
    assert lines[2].split()[-1] == "0.951(-1.86%)"


def test_nest_arbors_run_time_grows_as_the_prose_says():
    """D2.3: relative speedup under 0.4 at 64 and under 0.2 at 90 nodes."""
    eta = golden.table(golden.NEST_ARBOR).set_index("processes")["global"]
    assert eta[64] / eta[2] == pytest.approx(0.340, abs=5e-4)
    assert eta[90] / eta[2] == pytest.approx(0.173, abs=5e-4)


def test_leaves_of_the_tables():
    tables = {
        name: set(golden.table(getattr(golden, name)).columns)
        for name in ("XPIC", "NEXTDBSCAN", "NEST_ARBOR")
    }
    computation = ["ipc", "instructions", "frequency"]
    assert leaves(tables["XPIC"]) == ([*FACTORS, *computation], [])
    assert leaves(tables["NEXTDBSCAN"]) == (["load_balance", "communication", *computation], [])
    mpi_and_cuda = [f"{m}_{part}" for m in ("mpi", "cuda") for part in ("load_balance", "communication")]
    assert leaves(tables["NEST_ARBOR"]) == (["computation", *mpi_and_cuda], [])
    assert leaves({"global", "parallel"}) == (["parallel"], ["global"])


def test_the_closed_form_is_the_least_of_all_allowed_lines():
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    edges = set()
    for _ in range(200):
        p = np.array([2, 4, 8, 16, 64.0])
        h, eta = p - 1, np.clip(rng.uniform(0.2, 1) / (1 + rng.choice([0, 0.01, 1]) * (p - 1)), 1e-3, 1)
        eta = np.minimum(eta * rng.uniform(0.8, 1.25, 5), 1)

        def cost(x, h=h, eta=eta):
            return np.sum((1 - eta * (x[0] + x[1] * h)) ** 2)

        k, m = efficiency_line(h, eta, np.ones(5))
        assert k >= 1
        assert 0 <= m <= k
        edges.add((k == 1, m == 0, m == k))
        inside = {"type": "ineq", "fun": lambda x: x[0] - x[1]}
        best = min(
            minimize(cost, start, bounds=[(1, None), (0, None)], constraints=inside, method="SLSQP").fun
            for start in ((1, 0), (2, 1), (1, 1), (k, m))
        )
        assert cost((k, m)) <= best * (1 + 1e-6) + 1e-12
    assert len(edges) >= 4
