"""Targets of a profile: what they may state, what is predicted there, and what the time is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.parts import COMPUTING, ranked
from scheduler_sim.scaling.profile import Profile, Reference
from scheduler_sim.scaling.profile_file import profile_of
from scheduler_sim.scaling.targets import Target, predicted, read_known, read_targets


def profile(**keys) -> Profile:
    data = {"version": 1, "app": "a", "scaling": "strong", "modules": {"CM": 1, "ESB": 2}, **keys}
    made, problems = profile_of(data)
    assert not problems
    return made


def phases() -> Profile:
    """Work of 100 core seconds, a constant of 2 s, and a root of the processes."""
    curves = {
        "work": {"curve": "pmnf", "constant": 100.0, "gives": "work"},
        "serial": {"curve": "pmnf", "constant": 2.0},
        "exchange": {"curve": "pmnf", "terms": [{"c": 0.5, "i": 0.5}]},
    }
    return profile(time={"curve": "phases", "phases": curves}, provenance={"fitted": [1, 16]})


def sized() -> Profile:
    term = {"c": 1e-3, "of": {"size": [1, 0]}}
    return profile(time={"curve": "pmnf", "constant": 5.0, "terms": [term], "gives": "work"}, size=1000)


def test_targets_are_every_combination_on_all_modules():
    found = read_targets(sized(), "nodes=4, 8,size=1e4,2e4")
    assert found == [Target(n, m, s) for m in ("CM", "ESB") for s in (1e4, 2e4) for n in (4, 8)]
    assert read_targets(sized(), "nodes=4,module=ESB,n=7") == [Target(4, "ESB", 7.0)]
    assert read_targets(phases(), "nodes=1e3,module=CM") == [Target(1000, "CM")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes=4,size=1e9", "--at: found 'size', on which a does not depend; allowed: nodes, module"),
        ("nodes=4,clock_khz=2e6", "--at: found 'clock_khz', on which a does not depend"),
        ("processes=4", "it counts nodes, with processes of each: 1 on CM, 1 on ESB"),
        ("module=CM", "--at: found no nodes in 'module=CM'"),
        ("nodes=4,nodes=5", "found nodes twice; allowed: once, with several values separated by commas"),
        ("nodes=0", "nodes: found '0'; allowed: an integer from 1"),
        ("nodes=2.5", "nodes: found '2.5'"),
        ("nodes=nan", "nodes: found 'nan'"),
        ("nodes=4,module=DAM", "found the module 'DAM', on which a cannot run; allowed: CM, ESB"),
        ("4", "--at: found '4'; allowed: NAME=VALUE"),
        ("nodes=", "--at: found 'nodes='"),
        ("nodes=4,,8", "--at: found ''"),
        ("", "--at: found ''"),
    ],
)
def test_targets_that_cannot_be(text, said):
    with pytest.raises(InputError) as told:
        read_targets(phases(), text)
    assert said in str(told.value)


def test_a_known_run():
    assert read_known(sized(), "time=60,nodes=4,module=CM,size=50") == Reference(60, 4, "CM", None, 50)
    for text, said in (
        ("nodes=4,module=CM", "found no time"),
        ("time=60,nodes=4", "found no module"),
        ("time=0,nodes=4,module=CM", "found '0' as time; allowed: a number above 0"),
        ("time=60,nodes=4,8,module=CM", "found 4, 8 as nodes; allowed: one, of one run"),
    ):
        with pytest.raises(InputError) as told:
            read_known(sized(), text)
        assert said in str(told.value)


def test_seconds_of_the_measured_runs_and_of_a_known_one():
    one = predicted(phases(), Target(16, "CM"))
    assert one.time == pytest.approx(100 / 16 + 2 + 2)
    assert (one.low, one.high, one.beyond, one.warnings) == (one.time, one.time, 1.0, ())
    assert one.node_hours == pytest.approx(16 * 10.25 / 3600)
    assert one.efficiency == pytest.approx(102.5 / 10.25 / 16)
    assert predicted(phases(), Target(16, "ESB")).time == pytest.approx(10.25 / 2)
    known = Reference(1000.0, 16, "CM")
    assert predicted(phases(), Target(16, "CM"), known).time == 1000
    far = predicted(phases(), Target(64, "CM"), known)
    assert far.time == pytest.approx(1000 * (100 / 64 + 2 + 4) / 10.25)
    assert far.beyond == 4
    assert far.warnings == ("a: nothing was measured halfway to 64 processes",)


def test_clocks_where_the_profile_reacts_to_them():
    keys = {"frequency": {"beta": 0.5, "nominal_khz": 2_000_000}, "modules": {"CM": 1}}
    clocked = profile(time={"curve": "pmnf", "constant": 6.0}, **keys)
    (target,) = read_targets(clocked, "nodes=4,khz=1e6")
    assert target == Target(4, "CM", None, 1_000_000)
    assert predicted(clocked, target).time == pytest.approx(9)
    known = read_known(clocked, "time=60,nodes=4,clock_khz=1000000")
    assert predicted(clocked, Target(4, "CM"), known).time == pytest.approx(40)
    with pytest.raises(InputError, match="clock_khz: found '0'"):
        read_targets(clocked, "nodes=4,clock_khz=0")


def test_efficiencies_have_seconds_over_a_known_run_alone():
    half = profile(speedup={"curve": "amdahl_speedup", "serial": 0.5})
    one = predicted(half, Target(2, "CM"))
    assert (one.time, one.low, one.node_hours) == (None, None, None)
    assert one.efficiency == pytest.approx(2 / 3)
    assert predicted(half, Target(2, "CM"), Reference(90.0, 1, "CM")).time == pytest.approx(67.5)


def test_the_band_is_that_of_the_forms_by_weight():
    forms = [{"weight": w, "constant": c} for w, c in ((0.5, 4.0), (0.4, 5.0), (0.07, 6.0), (0.03, 1.0))]
    mixture = {"curve": "mixture", "forms": forms}
    one = predicted(profile(time=mixture), Target(2, "CM"))
    assert (one.low, one.time, one.high) == pytest.approx((4, 4, 6))
    both = {"curve": "phases", "phases": {"x": mixture, "y": {**mixture, "gives": "work"}}}
    two = predicted(profile(time=both), Target(2, "CM"))
    assert (two.low, two.time, two.high) == pytest.approx((6, 6, 9))


def test_phases_are_ranked_at_the_last_place():
    parts = ranked(phases(), [Target(1, "CM"), Target(400, "CM")])
    assert [part.name for part in parts] == ["exchange", "serial", "work"]
    assert parts[0].share == pytest.approx([0.5 / 102.5, 10 / 12.25])
    assert parts[0].growth == pytest.approx([1, 20])
    assert [part.law for part in parts] == ["0.5 p^0.5", "2", "100 / p"]


def test_terms_of_a_formula_are_its_parts():
    parts = ranked(sized(), [Target(4, "CM", 5000.0), Target(8, "CM", 1000.0)])
    assert [(part.name, part.law) for part in parts] == [("term 1", "5 p^-1"), ("term 2", "0.001 p^-1 size")]
    assert parts[0].share == pytest.approx([0.5, 5 / 6])
    assert parts[1].growth == pytest.approx([1, 0.1])


def test_categories_of_lost_cycles():
    curve = {
        "curve": "lost_cycles",
        "computation": 60.0,
        "overheads": {"waiting": {"curve": "pmnf", "terms": [{"c": 5.0, "i": 1.0}]}},
    }
    parts = ranked(profile(time=curve), [Target(1, "CM"), Target(12, "CM")])
    shares = {part.name: part.share for part in parts}
    assert shares["computation"] == pytest.approx([60 / 65, 0.5])
    assert shares["waiting"] == pytest.approx([5 / 65, 0.5])


def test_factors_lose_what_computing_does_not_have():
    tree = {"x": {"curve": "constant", "value": 0.5}, "y": {"curve": "constant", "value": 0.25}}
    parts = {part.name: part.share[0] for part in ranked(profile(efficiency=tree), [Target(1, "CM")])}
    assert parts == pytest.approx({COMPUTING: 1 / 8, "x": 7 / 8 / 3, "y": 7 / 8 * 2 / 3})
    added = {"compose": "additive", **tree, "y": {"curve": "constant", "value": 0.75}}
    parts = {part.name: part.share[0] for part in ranked(profile(efficiency=added), [Target(1, "CM")])}
    assert parts == pytest.approx({COMPUTING: 0.25, "x": 0.5, "y": 0.25})


values = st.floats(0.05, 1)


@given(values, values, values, st.floats(0.2, 3), st.sampled_from(["product", "additive"]))
def test_shares_of_factors_add_up(one, two, three, scalability, compose):
    curves = [{"curve": "constant", "value": value} for value in (one, two, three, scalability)]
    inside = {"compose": compose, "x": curves[0], "y": curves[1]}
    if compose == "additive" and one + two <= 1.05:
        return
    tree = {"inside": inside, "transfer": curves[2], "computation": curves[3]}
    parts = ranked(profile(efficiency=tree), [Target(1, "CM")])
    assert np.sum([part.share for part in parts]) == pytest.approx(1)
