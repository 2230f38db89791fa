"""Fair share against the worked examples of Slurm's documentation, and usage against closed forms."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest

from tests.engine.plain_engine import plain

F = plain("rules.slurm.priority.fair_share").fair_share
DAY = 86_400


class Tree:
    """A table of associations with names for its rows; usage is given to users."""

    def __init__(self, *lines: str) -> None:
        """Each line is ``account[/user] shares [above]``, shares ``parent`` included."""
        self.row = {"root": 0}
        parent, user, shares = [-1], [False], [1]
        for line in lines:
            name, share, *above = line.split()
            account, _, person = name.partition("/")
            parent.append(self.row[account if person else above[0] if above else "root"])
            user.append(bool(person))
            shares.append(F.PARENT if share == "parent" else int(share))
            self.row[name] = len(parent) - 1
        columns = (np.array(column) for column in (parent, user, shares))
        self.assoc, self.order = F.association_table(*columns)

    def use(self, **usage: float) -> Tree:
        """Charge users by their names."""
        for person, amount in usage.items():
            F.charge(self.assoc, self[person], amount)
        return self

    def __getitem__(self, person: str) -> int:
        return next(row for name, row in self.row.items() if name.split("/")[-1] == person)

    def factor(self, person: str, algorithm: int = 0, damping: float = 1.0) -> float:
        return F.fair_share(self.assoc, self[person], algorithm, damping)

    def level(self, person: str) -> float:
        """Under Fair Tree, as last ranked."""
        return float(self.order["level"][self.order["row"] == self[person]][0])

    def ranked(self, *people: str) -> list[int]:
        """Ranks of users under Fair Tree."""
        F.rank_fair_tree(self.assoc, self.order)
        users = int(self.assoc["user"].sum())
        return [round(self.factor(person) * users) for person in people]


class TestClassic:
    """The example of classic_fair_share.html, figure 3."""

    LINES = (
        "A 40",
        "B 30 A",
        "C 10 A",
        "D 60",
        "E 25 D",
        "F 35 D",
        "B/user1 1",
        "C/user2 1",
        "C/user3 1",
        "E/user4 1",
        "F/user5 1",
    )

    @pytest.fixture
    def tree(self) -> Tree:
        # 0.2, 0.25 and 0.25 of the machine are used; the rest by somebody else at the top.
        tree = Tree(*self.LINES).use(user1=20.0, user2=25.0, user4=25.0)
        tree.assoc[0].usage = 100.0
        F.account_usage(tree.assoc, F.CLASSIC)
        return tree

    @pytest.mark.parametrize(
        ("name", "shares", "effective"),
        [
            ("A", 0.4, 0.45),
            ("B", 0.3, 0.3875),
            ("C", 0.1, 0.3),
            ("D", 0.6, 0.25),
            ("E", 0.25, 0.25),
            ("F", 0.35, 0.1458),
        ],
    )
    def test_accounts(self, tree, name, shares, effective):
        record = tree.assoc[tree.row[name]]
        assert record.norm_shares == pytest.approx(shares)
        assert record.effective == pytest.approx(effective, abs=5e-5)

    @pytest.mark.parametrize(
        ("user", "shares", "effective", "factor"),
        [
            ("user1", 0.3, 0.3875, 0.408479),
            ("user2", 0.05, 0.275, 0.022097),
            ("user3", 0.05, 0.15, 0.125),
            ("user4", 0.25, 0.25, 0.5),
            ("user5", 0.35, 0.1458, 0.749154),
        ],
    )
    def test_users(self, tree, user, shares, effective, factor):
        assert tree.factor(user, F.CLASSIC) == pytest.approx(factor, abs=5e-5)
        record = tree.assoc[tree[user]]
        assert record.norm_shares == pytest.approx(shares)
        assert record.effective == pytest.approx(effective, abs=5e-5)

    def test_dampening_divides_the_exponent(self, tree):
        assert tree.factor("user2", F.CLASSIC, 3.0) == pytest.approx(2 ** -(0.275 / 0.05 / 3))

    def test_a_users_factor_stays_until_the_next_recalculation(self, tree):
        before = tree.factor("user5", F.CLASSIC)
        tree.use(user5=50.0)
        assert tree.factor("user5", F.CLASSIC) == before
        F.account_usage(tree.assoc, F.CLASSIC)
        assert tree.factor("user5", F.CLASSIC) < before

    def test_accounts_keep_their_usage_until_then_users_first_asked_do_not(self, tree):
        tree.use(user5=15.0)  # of 115 now, while F still stands at 0.1458
        expected = 15 / 115 + (0.25 * 35 / 60 - 15 / 115) * 1
        assert tree.factor("user5", F.CLASSIC) == pytest.approx(2 ** -(expected / 0.35))

    def test_without_any_usage_everybody_is_first(self):
        tree = Tree(*self.LINES)
        F.account_usage(tree.assoc, F.CLASSIC)
        assert [tree.factor(f"user{i}", F.CLASSIC) for i in range(1, 6)] == [1.0] * 5

    def test_without_shares_there_is_none(self):
        tree = Tree("A 1", "A/one 0", "A/two 5", "B 0", "B/three 1").use(two=1.0)
        F.account_usage(tree.assoc, F.CLASSIC)
        assert tree.factor("one", F.CLASSIC) == 0.0
        assert tree.factor("three", F.CLASSIC) == 0.0
        assert tree.factor("two", F.CLASSIC) == 0.5

    def test_users_with_the_parents_shares_have_the_accounts_factor(self):
        tree = Tree("A 1", "B 3", "A/one parent", "A/two parent", "B/three 1").use(one=1.0, three=1.0)
        F.account_usage(tree.assoc, F.CLASSIC)
        assert tree.factor("one", F.CLASSIC) == tree.factor("two", F.CLASSIC) == 2 ** -(0.5 / 0.25)

    def test_at_the_top_the_parent_is_the_whole_machine(self):
        tree = Tree("root/one parent", "root/two 1").use(one=1.0, two=9.0)
        F.account_usage(tree.assoc, F.CLASSIC)
        assert tree.factor("one", F.CLASSIC) == 0.5

    def test_depth_oblivious_looks_at_the_own_shares_where_the_account_is_on_target(self):
        # A used its half exactly, so what A's users did among themselves counts in full.
        tree = Tree("A 1", "B 1", "A/one 1", "A/two 1", "B/three 1").use(one=30.0, two=10.0, three=40.0)
        F.account_usage(tree.assoc, F.DEPTH_OBLIVIOUS)
        assert tree.factor("one", F.DEPTH_OBLIVIOUS) == pytest.approx(2 ** -(0.375 / 0.25))
        assert tree.factor("two", F.DEPTH_OBLIVIOUS) == pytest.approx(2 ** -(0.125 / 0.25))

    def test_depth_oblivious_punishes_with_the_account(self):
        # A used 3/4 for 1/2: 1.5 times too much; ``two`` used 1/3 of it for 1/2: damped by k.
        tree = Tree("A 1", "B 1", "A/one 1", "A/two 1", "B/three 1").use(one=50.0, two=25.0, three=25.0)
        F.account_usage(tree.assoc, F.DEPTH_OBLIVIOUS)
        k = 1 / (1 + (5 * math.log(1.5)) ** 2)
        assert tree.factor("two", F.DEPTH_OBLIVIOUS) == pytest.approx(2 ** -(1.5 * (2 / 3) ** k))
        assert tree.factor("one", F.DEPTH_OBLIVIOUS) == pytest.approx(2 ** -(1.5 * 4 / 3))


class TestFairTree:
    def test_levels_of_a_published_listing(self):
        """``sshare -l`` on the pages of EPFL: 23 users of a share each, three ran jobs; usage is rounded."""
        used = {"u0": 344.0, "u1": 351.0, "u2": 681.0}
        tree = Tree("ge 1", *(f"ge/u{i} 1" for i in range(23))).use(**used)
        ranks = tree.ranked(*(f"u{i}" for i in range(23)))
        levels = [tree.level(f"u{i}") for i in range(3)]
        assert levels == pytest.approx([0.173913, 0.170455, 0.087848], abs=2e-5)
        effective = [tree.assoc[tree[f"u{i}"]].effective for i in range(3)]
        assert effective == pytest.approx([0.25, 0.255072, 0.494913], abs=2e-5)
        assert ranks == [3, 2, 1] + [23] * 20

    def test_the_first_ancestors_that_differ_decide(self):
        """fair_tree.html: UserA in Acct12 and UserB in Acct16 of Acct1; 16 is the better served."""
        tree = Tree("1 1", "12 1 1", "16 1 1", "12/a 1", "12/c 1", "16/b 1", "16/d 1")
        # b used most of all users, but within the account that used least.
        tree.use(a=50.0, c=10.0, b=55.0, d=1.0)
        assert tree.ranked("a", "b", "c", "d") == [1, 3, 2, 4]

    def test_siblings_with_the_same_level_have_the_same_rank(self):
        tree = Tree("A 1", "A/one 1", "A/two 1", "A/three 2", "A/four 1").use(
            one=10.0, two=20.0, three=20.0, four=5.0
        )
        assert tree.ranked("one", "two", "three", "four") == [3, 1, 3, 4]

    def test_a_user_level_with_an_account_shares_its_highest_rank(self):
        lines = ("A 1", "A/one 1", "A/two 3", "B 1", "B/three 1")
        tree = Tree(*lines, "root/four 1").use(one=10.0, two=10.0, three=40.0, four=20.0)
        # four and A both used 1/4 for 1/3, four comes first; two goes before one in A; B is last.
        assert tree.ranked("four", "two", "one", "three") == [4, 4, 2, 1]

    def test_tied_accounts_stand_one_after_the_other(self):
        """As Slurm's code does it; its documentation would merge them: 4, 2, 4, 2."""
        tree = Tree("A 1", "B 1", "A/one 1", "A/two 1", "B/three 1", "B/four 1")
        tree.use(one=5.0, two=15.0, three=5.0, four=15.0)
        assert tree.ranked("one", "two", "three", "four") == [4, 3, 3, 1]

    def test_without_usage_all_are_first(self):
        tree = Tree("A 5", "B 1", "A/one 1", "A/two 7", "B/three 1")
        assert tree.ranked("one", "two", "three") == [3, 3, 3]

    def test_without_shares_one_is_last(self):
        tree = Tree("A 1", "A/one 0", "A/two 1").use(two=100.0)
        assert tree.ranked("one", "two") == [1, 2]

    def test_users_with_the_parents_shares_are_first_in_their_account(self):
        tree = Tree("A 1", "A/one parent", "A/two 1").use(one=100.0, two=1.0)
        assert tree.ranked("one", "two") == [2, 1]

    def test_an_account_with_the_parents_shares_is_looked_through(self):
        # Those of ``inner`` compete with ``outer``'s: shares 1 of 4 in all, usage of all in ``outer``.
        lines = ("outer 1", "outer/one 1", "outer/two 1", "inner parent outer", "inner/three 2")
        tree = Tree(*lines).use(one=10.0, two=30.0, three=30.0)
        assert tree.ranked("one", "two", "three") == [3, 1, 2]
        assert tree.level("three") == pytest.approx((2 / 4) / (30 / 70))
        assert tree.assoc[tree.row["inner"]].usage == 30.0

    def test_such_an_account_ties_with_nobody(self):
        tree = Tree("H 1", "H/h 1", "G 1", "P parent G", "A 1 G", "A/a 1", "G/b 1").use(b=1.0)
        assert tree.ranked("h", "a", "b") == [3, 2, 1]

    def test_ranks_follow_usage(self):
        tree = Tree("A 1", "B 1", "A/one 1", "B/two 1").use(one=1.0)
        assert tree.ranked("one", "two") == [1, 2]
        tree.use(two=2.0)
        assert tree.ranked("one", "two") == [2, 1]


class TestUsage:
    def test_is_charged_all_the_way_up(self):
        tree = Tree("A 1", "B 1 A", "C 1", "B/one 1", "C/two 1").use(one=3.0, two=4.0)
        use = {name: tree.assoc[row].usage for name, row in tree.row.items()}
        assert use == {"root": 7.0, "A": 3.0, "B": 3.0, "C": 4.0, "B/one": 3.0, "C/two": 4.0}

    @pytest.mark.parametrize("half_life", [3600, DAY, 14 * DAY])
    def test_halves_in_the_half_life(self, half_life):
        """Up to Slurm's 0.693 for ln 2, and its one term of the exponential."""
        left = F.decay_over(F.decay_rate(half_life), half_life)
        assert left == (1 - 0.693 / half_life) ** half_life
        assert left == pytest.approx(0.5, rel=3e-4)

    def test_many_periods_decay_as_one(self):
        tree = Tree("A 1", "A/one 1").use(one=1000.0)
        rate = F.decay_rate(7 * DAY)
        for _ in range(288):
            F.decay(tree.assoc, F.decay_over(rate, 300))
        left = 1000 * (1 - 0.693 / (7 * DAY)) ** DAY
        assert [record.usage for record in tree.assoc] == pytest.approx([left] * 3, rel=1e-12)

    def test_without_a_half_life_nothing_decays(self):
        assert F.decay_rate(0) == 1.0
        assert F.decay_over(1.0, 10**9) == 1.0
        assert F.faded(100.0, 1.0) == 100.0

    def test_never_decays_to_nothing(self):
        assert F.decay_over(F.decay_rate(60), 10**6) > 0.0

    def test_a_job_is_charged_as_if_all_of_it_were_the_oldest(self):
        rate = F.decay_rate(7 * DAY)
        assert F.faded(300.0, rate) == 300 * (1 - 0.693 / 604_800) ** 300

    def test_a_running_job_is_charged_each_period(self):
        """16 processors for three periods: a geometric sum, the newest period decayed once."""
        tree, rate = Tree("A 1", "A/one 1"), F.decay_rate(DAY)
        for _ in range(3):
            F.decay(tree.assoc, F.decay_over(rate, 300))
            F.charge(tree.assoc, tree["one"], F.faded(300, rate) * 16)
        kept = (1 - 0.693 / DAY) ** 300
        assert tree.assoc[0].usage == pytest.approx(4800 * (kept + kept**2 + kept**3), rel=1e-12)

    def test_reset_forgets_it(self):
        tree = Tree("A 1", "A/one 1").use(one=3.0)
        F.reset(tree.assoc)
        assert not tree.assoc["usage"].any()


def seconds(*date: int) -> int:
    """Of a day at midnight."""
    return int(dt.datetime(*date, tzinfo=dt.UTC).timestamp())


class TestResets:
    @pytest.mark.parametrize(
        ("period", "first", "last", "times"),
        [
            ("DAILY", (2024, 2, 28, 12), (2024, 3, 1), [(2024, 2, 29), (2024, 3, 1)]),
            ("WEEKLY", (2024, 1, 6, 23), (2024, 1, 15), [(2024, 1, 7), (2024, 1, 14)]),  # Sundays
            ("WEEKLY", (2024, 1, 7), (2024, 1, 14), [(2024, 1, 14)]),
            ("MONTHLY", (2023, 12, 1), (2024, 2, 2), [(2024, 1, 1), (2024, 2, 1)]),
            ("QUARTERLY", (2023, 11, 30), (2024, 9, 30), [(2024, 1, 1), (2024, 4, 1), (2024, 7, 1)]),
            ("YEARLY", (2023, 7, 1), (2025, 6, 1), [(2024, 1, 1), (2025, 1, 1)]),
            ("YEARLY", (2024, 2, 1), (2024, 3, 1), []),
            ("NONE", (2023, 7, 1), (2025, 6, 1), []),
            ("NOW", (2023, 7, 1), (2025, 6, 1), []),
        ],
    )
    def test_come_with_the_calendar(self, period, first, last, times):
        assert F.reset_times(period, seconds(*first), seconds(*last)).tolist() == [seconds(*t) for t in times]
