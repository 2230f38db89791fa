"""What jobs draw, learnt by user, application and size: by hand, by known truths, and what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.energy.fitting.jobs import LEARNT, OF_ALL, OF_USER, Drew, judged, learn
from scheduler_sim.energy.learnt import LEVELS, Learnt, application_of, size_class
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.streams import stream
from tests.conftest import examples

pytestmark = pytest.mark.interpreted

TABLE = {
    "user": ["", "ada", "ada", "ada", "", "eve"],
    "application": ["", "", "cfd", "cfd", "cfd", "x,\n\"y'"],
    "nodes": [0, 0, 0, 4, 0, 0],
    "power_w": [300.0, 310.0, 350.0, 360.0, 333.0, 210.25],
    "jobs": [10, 6, 4, 2, 1, 1],
}


def drew(power, user, application=None, nodes=None, work=None):
    n = len(power)
    texts = (np.array(one, dtype=object) for one in (user, application or [""] * n))
    nodes = np.array([1] * n if nodes is None else nodes)
    return Drew(np.array(power, float), *texts, nodes, np.array([1.0] * n if work is None else work))


def groups(learnt):
    keys = zip(*(learnt.table[name] for name in ("user", "application", "nodes")), strict=True)
    return dict(zip(keys, learnt.table["power_w"], strict=True))


def test_two_users_by_hand():
    """Within: 10 squares of 10 W, 8 degrees: σ² = 125. Between: 6 · 40² + 4 · 60² = 24000, one degree; groups
    of 10 − (36 + 16) / 10 = 4.8 jobs: τ² = (24000 − 125) / 4.8. One application each, one size: no level."""
    learnt = learn(drew([90, 110] * 3 + [190, 210] * 2, ["a"] * 6 + ["b"] * 4, ["x"] * 10))
    kappa = 125 / (23875 / 4.8)
    assert groups(learnt) == pytest.approx(
        {
            ("", "", 0): 140,
            ("a", "", 0): (600 + kappa * 140) / (6 + kappa),
            ("b", "", 0): (800 + kappa * 140) / (4 + kappa),
        }
    )
    assert learnt.table["jobs"].tolist() == [10, 6, 4]


def test_sizes_within_an_application_within_a_user_by_hand():
    """All jobs of a size alike: σ² = 0, so that sizes have their own means. One user: no level of users."""
    nodes = [1, 1, 3, 4, 1, 1, 3, 4, 16, 16]
    watts = [100, 100, 140, 140, 200, 200, 240, 240, 300, 300]
    found = groups(learn(drew(watts, ["a"] * 10, ["x"] * 4 + ["y"] * 6, nodes)))
    assert {key: value for key, value in found.items() if key[2]} == {
        ("a", "x", 1): 100,
        ("a", "x", 4): 140,
        ("a", "y", 1): 200,
        ("a", "y", 4): 240,
        ("a", "y", 16): 300,
    }
    assert ("a", "", 0) not in found


def test_what_differs_by_chance_teaches_nothing():
    learnt = learn(drew([90, 110] * 5, ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]))
    assert groups(learnt) == {("", "", 0): 100}
    alone = learn(drew(range(100, 110), [f"u{i}" for i in range(10)]))
    assert len(alone.table) == 1, "no user has two jobs: what differs may be users or chance"


def test_the_nearest_group_that_is_known_tells():
    power, level = Learnt.of(TABLE).predict(
        np.array(["ada", "ada", "ada", "eve", "eve", "", "bob"], dtype=object),
        np.array(["cfd", "cfd", "x", "", "x,\n\"y'", "cfd", "cfd"], dtype=object),
        np.array([3, 9, 3, 3, 3, 3, 3]),
    )
    assert power.tolist() == [360, 350, 310, 300, 210.25, 333, 300]
    levels = [LEVELS[one] for one in level]
    assert levels == ["size", "application", "user", "all", "application", "application", "all"]


def test_of_no_job_nothing_is_told():
    nothing = np.array([], dtype=object)
    power, level = Learnt.of(TABLE).predict(nothing, nothing, np.array([], dtype=np.int64))
    assert len(power) == len(level) == 0


def test_the_name_of_a_job_stands_for_its_application_where_it_has_none():
    assert application_of(np.array(["cfd", ""], object), np.array(["j1", "j2"], object)).tolist() == [
        "cfd",
        "j2",
    ]


@given(st.lists(st.integers(1, 2**31), min_size=1, max_size=20))
@examples(20)
def test_size_classes(nodes):
    for n, most in zip(nodes, size_class(np.array(nodes)).tolist(), strict=True):
        assert most // 2 < n <= most
        assert most & (most - 1) == 0


def test_it_comes_back_from_its_file(tmp_path):
    path = tmp_path / "learnt.csv"
    path.write_bytes(Learnt.of(TABLE).text().encode())
    assert Learnt.from_csv(path).table.equals(Learnt.of(TABLE).table)


NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4, unique=True)


@given(names=NAMES)
@examples(60)
def test_any_name_comes_back(names, tmp_path_factory):
    path = tmp_path_factory.mktemp("learnt") / "learnt.csv"
    users = ["", *(name for name in names if name)]
    n = len(users)
    columns = (users, [""] * n, [0] * n, list(range(1, n + 1)), [1] * n)
    whole = Learnt.of(dict(zip(TABLE, columns, strict=True)))
    path.write_bytes(whole.text().encode())
    assert Learnt.from_csv(path).table.equals(whole.table)
    power, _ = Learnt.from_csv(path).predict(users, [""] * n, np.ones(n, dtype=np.int64))
    assert power.tolist() == list(range(1, n + 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"jobs": None}, "line 1|:1: other columns"),
        ({"power_w": [300, 310, 350, 0, 1, 1]}, "row 4|:4: not above 0; field power_w; found 0"),
        (
            {"power_w": [300, "x", 350, 1, 1, 1]},
            "not a number in the allowed range; field power_w; found 'x'",
        ),
        ({"power_w": [300, float("inf"), 350, 1, 1, 1]}, "not a number in the allowed range"),
        ({"nodes": [0, 0, 0, 3, 0, 0]}, "not the most nodes of a size class; field nodes; found 3"),
        ({"nodes": [0, 0, 0, 4.5, 0, 0]}, "not a whole number; field nodes"),
        ({"nodes": [0, 0, 0, 0, 0, 0]}, "a group that occurs twice"),
        ({"user": ["x", "ada", "ada", "ada", "", "eve"]}, "no row of all jobs"),
        ({"jobs": [1]}, "not columns of one length"),
    ],
)
def test_what_is_no_learnt_power(change, message):
    columns = {name: values for name, values in (TABLE | change).items() if values is not None}
    with pytest.raises(TraceError, match=message):
        Learnt.of(columns)


@pytest.mark.parametrize("text", ["", "user\n", "user,application,nodes,power_w,jobs\n", "a,b\n1,2,3\n"])
def test_files_that_are_none(tmp_path, text):
    (tmp_path / "learnt.csv").write_text(text)
    with pytest.raises(TraceError, match=r"learnt\.csv"):
        Learnt.from_csv(tmp_path / "learnt.csv")
    with pytest.raises(TraceError, match="no such file"):
        Learnt.from_csv(tmp_path / "none.csv")


def test_few_jobs_are_too_few():
    few = drew([100] * 9, ["a"] * 9)
    for act in (learn, judged):
        with pytest.raises(InputError, match="found 9; allowed: 10 or more"):
            act(few)


def truth(jobs=2000, seed=1):
    """Users, applications and sizes that differ by known amounts, and 5 % of noise."""
    draws = stream(seed, "what jobs draw")
    user, kind, size = (draws.integers(0, most, jobs) for most in (20, 4, 6))
    of_user, of_kind = 50 * draws.standard_normal(20), 30 * draws.standard_normal((20, 4))
    power = (400 + of_user[user] + of_kind[user, kind] + 8 * size) * draws.normal(1, 0.05, jobs)
    names = ([f"{letter}{i}" for i in column] for letter, column in (("u", user), ("a", kind)))
    return drew(power, *names, 2**size, draws.uniform(1, 9, jobs))


def test_it_is_as_near_as_the_noise_lets_it_be():
    """5 % of normal noise is 4 % off on average."""
    found = judged(truth())
    mape = found.errors.set_index("way")["mape"]
    assert list(mape.index) == [LEARNT, OF_USER, OF_ALL]
    assert mape[LEARNT] < 5.5 < mape[OF_USER] < mape[OF_ALL]
    assert abs(found.errors["energy"][0]) < 2
    assert (found.learnt_from, found.held_out) == (1600, 400)
    assert sum(found.levels.values()) == 400
    assert next(iter(found.levels)) == "size"


def test_what_is_held_out_is_not_learnt_from():
    """The last fifth draws ten times as much: it is judged by what was known before."""
    jobs = truth()
    late = jobs._replace(power_w=np.append(jobs.power_w[:1600], 10 * jobs.power_w[1600:]))
    assert judged(late).errors["mape"][0] == pytest.approx(90, abs=1)


def test_a_group_lies_between_its_own_mean_and_that_around_it():
    jobs = truth(400)
    table = learn(jobs).table
    around = table[table["user"] == ""]["power_w"].item()
    for user in set(jobs.user):
        own = jobs.power_w[jobs.user == user].mean()
        found = table[(table["user"] == user) & (table["application"] == "") & (table["nodes"] == 0)]
        assert min(own, around) - 1e-9 <= found["power_w"].item() <= max(own, around) + 1e-9
