"""Fair share on random trees: beside a plain recursion, the order of siblings, compiled beside plain."""

from __future__ import annotations

from collections import namedtuple
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.engine.core.jit import entry
from scheduler_sim.engine.core.words import Words
from scheduler_sim.engine.rules.slurm.priority import fair_share as compiled
from tests.engine.plain_engine import plain

pytestmark = pytest.mark.interpreted

F = plain("rules.slurm.priority.fair_share").fair_share


@st.composite
def trees(draw, parent_shares: bool = True):
    """Columns of a tree, and the usage of its users; small numbers, so that levels tie."""
    parent, user, shares, usage = [-1], [False], [1], [0]
    accounts = [0]
    for row in range(1, draw(st.integers(2, 14))):
        parent.append(draw(st.sampled_from(accounts)))
        user.append(draw(st.booleans()))
        shares.append(draw(st.sampled_from((1, 1, 2, 3, 0, F.PARENT)[: 6 if parent_shares else 5])))
        usage.append(draw(st.integers(0, 4)) if user[-1] else 0)
        if not user[-1]:
            accounts.append(row)
    return np.array(parent), np.array(user), np.array(shares), np.array(usage, dtype=float)


def charged(tree, module=F):
    parent, user, shares, usage = tree
    assoc, order = module.association_table(parent, user, shares)
    for row in np.flatnonzero(user):
        F.charge(assoc, row, usage[row])
    return assoc, order


def competitors(tree, account):
    """Those inside an account, and inside accounts in it that have its shares, as they are written."""
    parent, user, shares, _ = tree
    for row in range(1, len(parent)):
        above = parent[row]
        while shares[above] == F.PARENT and above > 0:
            above = parent[above]
        if above == account and (user[row] or shares[row] != F.PARENT):
            yield row


def levels_of(tree, assoc, account):
    """Shares over usage within an account, from the definition."""
    _, _, shares, _ = tree
    group = list(competitors(tree, account))
    total_shares = sum(max(shares[row], 0) for row in group)
    total_usage = assoc[account].usage
    for row in group:
        if shares[row] == F.PARENT:
            level = np.inf
        elif shares[row] == 0:
            level = 0.0
        elif assoc[row].usage == 0:
            level = np.inf
        else:
            level = shares[row] / total_shares / (assoc[row].usage / total_usage)
        yield float(level), row


def reference(tree, assoc) -> dict[int, float]:
    """Fair Tree by recursion: ranks fall, ties share the last one given."""
    user = tree[1]
    count = int(user.sum())
    given_last, free = count, count
    factors: dict[int, float] = {}

    def visit(account: int, tied_above: bool) -> None:
        nonlocal given_last, free
        previous = None
        for level, row in sorted(
            levels_of(tree, assoc, account), key=lambda one: (-one[0], not user[one[1]])
        ):
            tied = tied_above if previous is None else level == previous
            previous = level
            if user[row]:
                given_last = given_last if tied else free
                factors[row] = given_last / count
                free -= 1
            else:
                visit(row, tied)

    visit(0, False)
    return factors


@given(trees())
def test_fair_tree_is_the_recursion(tree):
    assoc, order = charged(tree)
    F.rank_fair_tree(assoc, order)
    expected = reference(tree, assoc)
    assert {row: assoc[row].factor for row in np.flatnonzero(tree[1])} == expected


@given(trees())
def test_factors_are_ranks_from_1_down(tree):
    assoc, order = charged(tree)
    F.rank_fair_tree(assoc, order)
    factors = assoc["factor"][tree[1]]
    assert ((factors > 0) & (factors <= 1)).all()
    assert not len(factors) or factors.max() == 1.0


@given(trees())
def test_a_user_that_is_better_served_goes_before_all_of_a_sibling(tree):
    assoc, order = charged(tree)
    F.rank_fair_tree(assoc, order)

    def inside(row: int) -> list[float]:
        if tree[1][row]:
            return [assoc[row].factor]
        return [factor for child in competitors(tree, row) for factor in inside(child)]

    for account in np.flatnonzero(~tree[1]):
        siblings = [(level, inside(row)) for level, row in levels_of(tree, assoc, account)]
        served = sorted((entry for entry in siblings if entry[1]), key=lambda entry: -entry[0])
        for (level, ahead), (next_level, behind) in pairwise(served):
            if level > next_level:
                assert min(ahead) > max(behind)


@given(trees(), st.lists(st.integers(0, 4), min_size=14, max_size=14))
def test_the_ranking_before_leaves_no_trace(tree, earlier):
    assoc, order = charged((*tree[:3], np.array(earlier, dtype=float)))
    F.rank_fair_tree(assoc, order)
    F.reset(assoc)
    for row in np.flatnonzero(tree[1]):
        F.charge(assoc, row, tree[3][row])
    F.rank_fair_tree(assoc, order)
    fresh, fresh_order = charged(tree)
    F.rank_fair_tree(fresh, fresh_order)
    assert (assoc["factor"] == fresh["factor"]).all()
    assert (order == fresh_order).all()


@given(trees(), st.sampled_from((F.CLASSIC, F.DEPTH_OBLIVIOUS)))
def test_classic_factors_lie_between_0_and_1_and_fall_with_usage(tree, algorithm):
    assoc, _ = charged(tree)
    F.account_usage(assoc, algorithm)
    factor = {row: F.fair_share(assoc, row, algorithm, 1.0) for row in np.flatnonzero(tree[1])}
    assert all(0.0 <= value <= 1.0 for value in factor.values())
    for one in factor:
        for other in factor:
            a, b = assoc[one], assoc[other]
            if (a.group, a.shares) == (b.group, b.shares) and a.usage >= b.usage:
                assert factor[one] <= factor[other] * (1 + 1e-12)


@given(trees(parent_shares=False))
def test_shares_of_the_machine_add_up(tree):
    """Every account hands its part on in full, unless nobody in it has shares."""
    assoc, _ = charged(tree)
    for account in np.flatnonzero(~tree[1]):
        inside = [assoc[row] for row in competitors(tree, account)]
        if any(record.shares > 0 for record in inside):
            assert sum(record.norm_shares for record in inside) == pytest.approx(assoc[account].norm_shares)


@given(trees(), st.floats(0.1, 1.0))
def test_decay_changes_no_rank(tree, factor):
    """All usage fades alike; halving is exact, other factors may split a tie in the last bit."""
    assoc, order = charged(tree)
    F.rank_fair_tree(assoc, order)
    before = assoc["factor"].copy()
    F.decay(assoc, 0.5)
    F.rank_fair_tree(assoc, order)
    assert (assoc["factor"] == before).all()
    F.decay(assoc, factor)
    assert assoc[0].usage == pytest.approx(tree[3].sum() * 0.5 * factor)


class Tables(namedtuple("Tables", "assoc order factors")):
    shape = "fair share"

    @property
    def words(self):
        return Words(self)


@entry
def ten_periods(tables: Tables, algorithm: int) -> None:
    """What the daemon does, with the compiled parts."""
    assoc, order, factors = tables.assoc, tables.order, tables.factors
    rate = 1 - 0.693 / 3600
    for period in range(10):
        compiled.account_usage(assoc, algorithm)
        compiled.decay(assoc, compiled.decay_over(rate, 300.0))
        for row in range(len(assoc)):
            if assoc[row].user and (row + period) % 3:
                compiled.charge(assoc, row, compiled.faded(300.0, rate) * row)
        compiled.rank_fair_tree(assoc, order)
        for row in range(len(assoc)):
            if assoc[row].user:
                factors[period, row] = compiled.fair_share(assoc, row, algorithm, 2.0)


def ten_plain_periods(assoc, order, algorithm, factors):
    rate = 1 - 0.693 / 3600
    for period in range(10):
        F.account_usage(assoc, algorithm)
        F.decay(assoc, F.decay_over(rate, 300.0))
        for row in np.flatnonzero(assoc["user"]):
            if (row + period) % 3:
                F.charge(assoc, row, F.faded(300.0, rate) * row)
        F.rank_fair_tree(assoc, order)
        for row in np.flatnonzero(assoc["user"]):
            factors[period, row] = F.fair_share(assoc, row, algorithm, 2.0)


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", [F.FAIR_TREE, F.CLASSIC, F.DEPTH_OBLIVIOUS])
@pytest.mark.parametrize("seed", range(4))
def test_compiled_and_plain_agree_to_the_bit(algorithm, seed):
    rng = np.random.default_rng(seed)
    parent, user, shares = [-1], [False], [1]
    for row in range(1, 60):
        accounts = np.flatnonzero(~np.array(user))
        parent.append(int(rng.choice(accounts)))
        user.append(bool(row > 6 and rng.random() < 0.8))
        shares.append(int(rng.choice([1, 1, 2, 5, 0, F.PARENT])))
    columns = np.array(parent), np.array(user), np.array(shares)
    fast, fast_order = compiled.association_table(*columns)
    slow, slow_order = F.association_table(*columns)
    fast_factors, slow_factors = np.zeros((2, 10, 60))
    ten_periods(Tables(fast, fast_order, fast_factors), algorithm)
    ten_plain_periods(slow, slow_order, algorithm, slow_factors)
    assert (fast_factors == slow_factors).all()
    assert (fast_order == slow_order).all()
    assert all((fast[name] == slow[name]).all() for name in fast.dtype.names)
    assert len(np.unique(slow_factors)) > 10
