"""Comparisons: numbers by hand, pairs and cells, verdicts, and everything that can be missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.comparison import COLUMNS, compare
from scheduler_sim.metrics.intervals import ratio_interval
from scheduler_sim.metrics.names import better
from scheduler_sim.metrics.verdicts import verdict


def runs_of(metric="wait_time_mean", **levels):
    """One run a value, replicates from 0."""
    return pd.concat(
        [
            pd.DataFrame(
                {"policy": level, "replicate": range(len(values)), metric: np.array(values, dtype=float)}
            )
            for level, values in levels.items()
        ],
        ignore_index=True,
    )


def row_of(metric="wait_time_mean", **levels):
    return compare(runs_of(metric, **levels), metric, "policy", "easy").iloc[0]


def test_by_hand():
    row = row_of(easy=[100, 200, 300, 400, 500, 600], sjf=[90, 180, 250, 390, 400, 610])
    differences = np.array([-10, -20, -50, -10, -100, 10])
    assert row["pairs"] == 6
    assert row["dropped"] == 0
    assert (row["mean"], row["mean_baseline"]) == (320.0, 350.0)
    assert row["difference"] == -30.0
    assert row[["difference_low", "difference_high"]].isna().all()  # the change has the interval
    assert row["ratio"] == pytest.approx(320 / 350)
    assert row["change"] == pytest.approx(100 * (320 / 350 - 1))
    assert row["change_low"] == pytest.approx(100 * (row["ratio_low"] - 1))
    assert row["d_z"] == pytest.approx(-30 / differences.std(ddof=1))
    assert row["probability_better"] == 5 / 6
    half = (row["ratio_high"] - row["ratio_low"]) / 2
    t = stats.t.ppf(0.975, 5) * (1 - row["ratio"]) / half
    assert row["p"] == row["p_holm"] == pytest.approx(2 * stats.t.sf(t, 5))
    assert row["p_wilcoxon"] == 2 * 4 / 64  # ranks 2, 4, 5, 2, 6 against 2: sums 0 and 2 (thrice) of 64


def test_the_columns():
    table = compare(runs_of(easy=[1, 2], sjf=[2, 1]), "wait_time_mean", "policy", "easy")
    assert list(table.columns) == ["policy", *COLUMNS]


@pytest.mark.parametrize("values", [[3, 1, 4, 1, 5, 9, 2], [0] * 7, [7] * 7, [1e-9, 1e9, 0, 5, 6, 7, 8]])
def test_a_policy_compared_with_itself_is_no_difference(values):
    row = row_of(easy=values, again=values)
    assert row["verdict"] == "no difference: all 7 pairs are equal"
    assert (row["difference"], row["difference_low"], row["difference_high"]) == (0, 0, 0)
    assert (row["ratio"], row["ratio_low"], row["ratio_high"]) == (1, 1, 1)
    assert (row["change"], row["d_z"], row["probability_better"]) == (0, 0, 0.5)
    assert row["p"] == row["p_holm"] == row["p_wilcoxon"] == 1.0
    assert row["note"] == ""


def test_pairs_are_made_by_replicate_not_by_row():
    runs = runs_of(easy=[100, 200, 300, 400, 500], sjf=[50, 150, 260, 340, 451])
    shuffled = runs.sample(frac=1.0, random_state=3)
    ours = compare(runs, "wait_time_mean", "policy", "easy")
    pd.testing.assert_frame_equal(ours, compare(shuffled, "wait_time_mean", "policy", "easy"))
    random = np.random.default_rng(0).normal(1000, 300, 20)
    row = row_of(easy=random, sjf=random - 30 + np.random.default_rng(1).normal(0, 5, 20))
    assert row["verdict"] == "shorter by 3.2 % (95 %: 2.7 to 3.6 %)"  # which no unpaired test would see


def test_cells_levels_and_metrics():
    random = np.random.default_rng(5)
    rows = [
        {
            "system": system,
            "policy": policy,
            "seed": seed,
            "wait_time_mean": wait + random.normal(0, 10),
            "utilization_total": 0.5 + random.normal(0, 0.01),
        }
        for system in ("small", "large")
        for policy, wait in (("sjf", 500), ("easy", 1000), ("f1", 800))
        for seed in range(8)
    ]
    runs = pd.DataFrame(rows)
    table = compare(
        runs, ["wait_time_mean", "utilization_total"], "policy", "easy", ["system"], replicate="seed"
    )
    assert list(zip(table["system"], table["policy"], table["metric"], strict=True)) == [
        (system, policy, metric)
        for system in ("small", "large")
        for policy in ("sjf", "f1")
        for metric in ("wait_time_mean", "utilization_total")
    ]
    one = runs[(runs["system"] == "large") & (runs["policy"] != "sjf")]
    alone = compare(one, "wait_time_mean", "policy", "easy", replicate="seed").iloc[0]
    row = table[(table["system"] == "large") & (table["policy"] == "f1")].iloc[0]
    same = ["change", "change_low", "change_high", "p", "d_z"]
    assert row[same].tolist() == alone[same].tolist()
    assert row["p_holm"] > alone["p_holm"]
    waits = table[table["metric"] == "wait_time_mean"]
    assert waits["verdict"].str.match("shorter by (50|49|51|19|20|21) %").all()
    assert (waits["probability_better"] == 1.0).all()


def test_levels_need_not_be_text():
    runs = runs_of(a=[5, 6, 7, 8, 9], b=[4, 5, 5, 7, 8])
    runs["policy"] = runs["policy"].map({"a": 1, "b": 8})
    table = compare(runs, "wait_time_mean", "policy", 1)
    assert table["policy"].tolist() == [8]
    runs["policy"] = runs["policy"].astype("category")
    assert compare(runs, "wait_time_mean", "policy", 1)["verdict"].tolist() == table["verdict"].tolist()


def test_the_correction_can_take_a_finding_back():
    random = np.random.default_rng(21)
    base = random.normal(1000, 200, 10)
    levels = {f"p{i}": base + random.normal(0, 40, 10) for i in range(30)}
    levels["p0"] = base - 32 + random.normal(0, 40, 10)
    table = compare(runs_of(easy=base, **levels), "wait_time_mean", "policy", "easy")
    taken = table[(table["p"] <= 0.05) & (table["p_holm"] > 0.05)]
    assert len(taken) > 0
    assert taken["verdict"].str.startswith("not certain among 30 comparisons: ").all()


def test_few_replicates_say_so():
    one = row_of(easy=[100], sjf=[50])
    assert one["verdict"] == "too few replicates: 1, 5 are needed"
    assert one["note"] == "one pair has no spread, so there is no interval"
    assert (one["difference"], one["change"]) == (-50.0, -50.0)
    assert (
        one[["difference_low", "ratio_high", "change_low", "p", "p_holm", "p_wilcoxon", "d_z"]].isna().all()
    )
    four = row_of(easy=[100, 110, 120, 130], sjf=[50, 61, 62, 70])
    assert four["verdict"] == "too few replicates: 4, 5 are needed"
    assert four["change_low"] < four["change"] < four["change_high"]


def test_other_jobs_under_the_level_are_told():
    runs = runs_of(easy=[100, 110, 120, 130, 140], sjf=[50, 61, 62, 70, 75])
    same = compare(runs.assign(ran=200), "wait_time_mean", "policy", "easy").iloc[0]
    assert same["note"] == ""
    other = runs.assign(ran=[200] * 5 + [195, 187, 200, 190, 191])
    row = compare(other, "wait_time_mean", "policy", "easy").iloc[0]
    assert row["note"] == "not the same jobs ran: 187 to 200 of them here, 200 with the baseline"
    assert list(compare(other, "ran", "policy", "easy")["metric"]) == ["ran"]


def test_what_has_no_value_is_dropped_and_counted():
    row = row_of(easy=[100, 200, np.nan, 400, 500, 600, 700], sjf=[90, np.nan, 250, 390, 400, 610])
    assert (row["pairs"], row["dropped"]) == (4, 3)  # the last has no run under sjf
    assert row["mean_baseline"] == 400.0
    assert row["note"] == "3 pairs without a value on both sides dropped"
    nothing = row_of(easy=[np.nan, 1], sjf=[1, np.nan])
    assert nothing["pairs"] == 0
    assert nothing["verdict"] == "nothing to compare: no pair has a value"
    runs = runs_of(easy=[1], sjf=[1]).astype({"wait_time_mean": object})
    runs.loc[0, "wait_time_mean"] = None
    assert compare(runs, "wait_time_mean", "policy", "easy")["dropped"].tolist() == [1]


def test_a_cell_without_the_baseline_has_nothing_to_compare():
    runs = runs_of(easy=[1, 2], sjf=[3, 4]).assign(system="a")
    other = runs_of(sjf=[3, 4]).assign(system="b")
    table = compare(pd.concat([runs, other]), "wait_time_mean", "policy", "easy", ["system"])
    assert table["dropped"].tolist() == [0, 2]
    assert table["verdict"].iloc[1] == "nothing to compare: no pair has a value"


def test_a_baseline_of_zero_has_no_ratio():
    row = row_of(easy=[0] * 6, sjf=[10, 12, 11, 9, 10, 8])
    assert row[["ratio", "change", "change_low"]].isna().all()
    assert row["note"] == "the baseline is 0 on average, so there is no ratio"
    assert row["verdict"] == "longer by 10 s (95 %: 9 to 11 s)"
    row = row_of(easy=[0] * 6, sjf=[1, 0, 0, 0, 0, 0])
    assert row["verdict"] == "no difference found: within 0.60 s"


def test_equal_differences():
    row = row_of(easy=[100, 200, 300, 400, 500, 600], sjf=[90, 190, 290, 390, 490, 590])
    assert np.isnan(row["d_z"])
    assert row["verdict"].startswith("shorter by 2.9 % (95 %: ")
    row = row_of(easy=[100, 200, 300, 400, 500], sjf=[50, 100, 150, 200, 250])
    assert (row["change_low"], row["change_high"], row["p"]) == (-50, -50, 0)
    assert row["verdict"] == "shorter by 50 % (95 %: 50 to 50 %)"


@pytest.mark.parametrize("baseline", [1000.0, 0.0])
def test_interval_p_and_verdict_never_disagree(baseline):
    """A verdict is open, or taken back by the correction, just when interval and p say so."""
    random = np.random.default_rng(17)
    levels = {"easy": baseline * np.exp(0.7 * random.standard_normal(9))}
    for i in range(300):
        spread = 10 ** random.uniform(-2, 1)
        levels[f"p{i}"] = levels["easy"] * 1.05 + 50 * (1 + spread * random.standard_normal(9))
    table = compare(runs_of(**levels), "wait_time_mean", "policy", "easy")
    low = table["change_low"].fillna(table["difference_low"])
    high = table["change_high"].fillna(table["difference_high"])
    leaves_out = (low > 0) | (high < 0)
    assert (leaves_out == (table["p"] <= 0.05)).all()
    still = table["verdict"].str.startswith(("undecided", "no difference"))
    taken = table["verdict"].str.startswith("not certain among 300 comparisons")
    assert (still == ~leaves_out).all()
    assert (taken == (leaves_out & (table["p_holm"] > 0.05))).all()
    assert min(still.sum(), taken.sum(), (~still & ~taken).sum()) > 20


def test_a_level_that_is_worse_in_every_pair_by_very_different_amounts_is_worse():
    """Student's test of the raw differences has p = 0.06 here, beside a ratio of 4 to 7."""
    easy = np.array([60, 75, 90, 110, 130, 160, 200, 260, 420, 1300])
    fcfs = easy * np.array([4.1, 5.0, 4.6, 6.2, 5.5, 4.9, 6.6, 5.8, 6.1, 6.4])
    row = row_of(easy=easy, fcfs=fcfs)
    assert stats.ttest_rel(fcfs, easy).pvalue > 0.05
    assert row["verdict"].startswith("longer by 5")
    assert row["p_holm"] < 0.001


def row_with(metric="wait_time_mean", **values):
    row = {"pairs": 9, "metric": metric, "confidence": 0.95, "difference_low": -1.0, "difference_high": -0.5}
    return row | {"difference": -0.7} | values


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((-23.2, -27.1, -19.4), "shorter by 23 % (95 %: 19 to 27 %)"),
        ((2.31, 0.07, 4.6), "longer by 2.3 % (95 %: 0.1 to 4.6 %)"),
        ((1.0, -2.4, 2.9), "no difference found: within 2.9 %"),
        ((-0.02, -0.04, 0.01), "no difference found: within 0.040 %"),
        ((5.0, -12.0, 30.0), "undecided: between 12 % shorter and 30 % longer (95 %)"),
        ((340.0, 200.0, 480.0), "longer by 340 % (95 %: 200 to 480 %)"),
        ((10.0, 0.34, 19.7), "longer by 10 % (95 %: 0.3 to 19.7 %)"),
        ((-10.0, -19.7, -0.02), "shorter by 10 % (95 %: 0.02 to 19.70 %)"),
    ],
)
def test_verdicts(change, words):
    row = row_with(**dict(zip(("change", "change_low", "change_high"), change, strict=True)))
    assert verdict(row, significant=True) == words


def test_words_follow_the_metric():
    change = {"change": 5.0, "change_low": 4.0, "change_high": 6.0}
    assert verdict(row_with("makespan", **change), True).startswith("longer by 5.0 %")
    assert verdict(row_with("wait_time_p90", **change), True).startswith("longer by")
    assert verdict(row_with("bounded_slowdown_mean", **change), True).startswith("higher by")
    assert (
        verdict(row_with(**change, confidence=0.9), False, family=8)
        == "not certain among 8 comparisons: longer by 5.0 % (90 % for this one: 4.0 to 6.0 %)"
    )


def test_more_is_better_of_some():
    assert better("utilization_total") == better("user_slowdown_jain") == "more"
    assert better("wait_time_mean") == "less"
    row = row_of("utilization_total", easy=[0.5] * 6, sjf=[0.6, 0.6, 0.7, 0.5, 0.4, 0.6])
    assert row["probability_better"] == 4.5 / 6
    assert row_of(easy=[0.5] * 6, sjf=[0.6, 0.6, 0.7, 0.5, 0.4, 0.6])["probability_better"] == 1.5 / 6


def test_neither_is_better_of_some():
    row = row_of("offered_load_total", easy=[0.5] * 6, sjf=[0.6] * 6)
    assert np.isnan(row["probability_better"])
    assert row["verdict"].startswith("higher by 20 %")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("workflow_runtime_mean", "longer by 3.0 s (95 %: 2.0 to 4.0 s)"),
        ("workflow_start_time_mean", "higher by 3.0 s (95 %: 2.0 to 4.0 s)"),
        ("counts_timed_out", "higher by 3.0 components (95 %: 2.0 to 4.0 components)"),
        ("energy_modules_CM_off_j", "higher by 3.0 J (95 %: 2.0 to 4.0 J)"),
        ("overtaken_share", "higher by 3.0 (95 %: 2.0 to 4.0)"),
    ],
)
def test_differences_have_the_unit_of_the_metric(metric, words):
    nothing = dict.fromkeys(("change", "change_low", "change_high"), np.nan)
    row = row_with(metric, **nothing, difference=3.0, difference_low=2.0, difference_high=4.0)
    assert verdict(row, significant=True) == words


def test_the_check_by_ranks_is_no_part_of_the_verdict():
    row = row_of(easy=[100] * 8, sjf=[99, 98, 97, 96, 95, 94, 93, 20])
    assert row["p"] > 0.05 > row["p_wilcoxon"]
    assert row["note"] == ""
    assert row["verdict"].startswith("undecided")


def test_seed_and_confidence_reach_the_interval():
    runs = runs_of(easy=[100, 200, 300, 400, 500, 620], sjf=[90, 180, 250, 390, 400, 610])
    row = compare(runs, "wait_time_mean", "policy", "easy", confidence=0.8, seed=3).iloc[0]
    values = [runs["wait_time_mean"].to_numpy()[part] for part in (slice(6, 12), slice(6))]
    assert (row["ratio"], row["ratio_low"], row["ratio_high"]) == ratio_interval(*values, 0.8, seed=3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "wait_time_meen"}, "no column wait_time_meen.*did you mean 'wait_time_mean'"),
        ({"treatment": "polcy"}, "no column polcy"),
        ({"pairing": ["system"]}, "no column system"),
        ({"replicate": "seed"}, "no column seed"),
        ({"baseline": "fcfs"}, "baseline fcfs is no policy; allowed: easy, sjf"),
    ],
)
def test_mistakes(change, words):
    given = {"metric": "wait_time_mean", "treatment": "policy", "baseline": "easy", **change}
    with pytest.raises(InputError, match=words):
        compare(runs_of(easy=[1, 2], sjf=[2, 3]), **given)


def test_a_replicate_that_stands_twice_is_refused():
    runs = runs_of(easy=[1, 2], sjf=[2, 3])
    with pytest.raises(InputError, match="two runs with policy easy, replicate 0"):
        compare(pd.concat([runs, runs.iloc[:1]]), "wait_time_mean", "policy", "easy")


def test_only_the_baseline_gives_an_empty_table():
    table = compare(runs_of(easy=[1, 2]), "wait_time_mean", "policy", "easy")
    assert len(table) == 0
    assert list(table.columns) == ["policy", *COLUMNS]
