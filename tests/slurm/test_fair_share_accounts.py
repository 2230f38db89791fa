"""Accounts as keys, and everybody's place in the tree."""

from __future__ import annotations

import pytest

from scheduler_sim.config.keys import check_keys
from scheduler_sim.policy.shares import PARENT, AccountKeys, Associations, account_problems, associations

pytestmark = pytest.mark.interpreted


def keys(**written) -> AccountKeys:
    model, problems = check_keys(AccountKeys, written)
    assert not problems
    return model


def problems(**written) -> list[str]:
    return [str(problem) for problem in check_keys(AccountKeys, written)[1]]


CENTRE = {
    "physics": keys(
        shares=50,
        priority=7,
        users={"anna": 1, "ben": "parent"},
        accounts={"theory": {"users": {"ben": 4, "carl": 2}}, "lab": {"shares": "Parent", "priority": 9}},
    ),
    "biology": keys(shares="30", users={"anna": 1}),
}


def tree(users=(), charged=()) -> Associations:
    return associations(CENTRE, list(users), list(charged))


def test_rows_stand_as_written_each_below_its_account():
    made = tree()
    assert made.names == (
        "root",
        "root/root",
        "physics",
        "physics/anna",
        "physics/ben",
        "theory",
        "theory/ben",
        "theory/carl",
        "lab",
        "biology",
        "biology/anna",
    )
    assert made.parent.tolist() == [-1, 0, 0, 2, 2, 2, 5, 5, 2, 0, 9]
    assert made.shares.tolist() == [1, 1, 50, 1, PARENT, 1, 4, 2, PARENT, 30, 1]
    assert made.user.tolist() == [False, True, False, True, True, False, True, True, False, False, True]
    assert len(made.row) == 0


def test_priorities_come_from_the_account_above():
    assert tree().priority.tolist() == [0, 0, 7, 7, 7, 7, 7, 7, 9, 0, 0]


def test_components_find_their_association():
    made = tree(["anna", "anna", "carl", "ben"], ["physics", "biology", "theory", "physics"])
    assert [made.names[row] for row in made.row] == [
        "physics/anna",
        "biology/anna",
        "theory/carl",
        "physics/ben",
    ]
    assert len(made.names) == 11


def test_without_an_account_users_belong_where_they_are_listed_first():
    made = tree(["anna", "carl", "dora", ""], ["", "", "", ""])
    assert [made.names[row] for row in made.row] == ["physics/anna", "theory/carl", "root/dora", "root/"]


def test_users_and_accounts_nobody_listed_get_one_share():
    made = tree(["dora", "dora", "emil", "dora"], ["lab", "chemistry", "chemistry", "lab"])
    assert made.names[11:] == ("lab/dora", "chemistry", "chemistry/dora", "chemistry/emil")
    assert made.parent[11:].tolist() == [8, 0, 12, 12]
    assert made.shares[11:].tolist() == [1, 1, 1, 1]
    assert made.priority[11:].tolist() == [9, 0, 0, 0]
    assert made.row.tolist() == [11, 13, 14, 11]


def test_without_accounts_the_trace_says_which_there_are():
    made = associations({}, ["a", "b", "a", "c"], ["x", "x", "y", ""])
    assert made.names == ("root", "root/root", "x", "x/a", "x/b", "y", "y/a", "root/c")
    assert made.row.tolist() == [3, 4, 6, 7]


def test_the_root_may_be_charged():
    made = tree(["admin", "root"], ["root", ""])
    assert [made.names[row] for row in made.row] == ["root/admin", "root/root"]
    assert made.parent[made.row[0]] == 0


@pytest.mark.parametrize("shares", [-1, 1.5, "many", True, 2**31])
def test_shares_are_counted_or_the_parents(shares):
    assert problems(users={"anna": shares})[0].endswith("allowed: an integer from 0 to 2147483647, or parent")
    assert problems(shares=shares)[0].endswith("allowed: an integer from 0 to 2147483647, or parent")


def test_a_user_is_shares_or_a_mapping():
    assert "found a list; allowed: a mapping with the keys shares" in problems(users={"anna": [1]})[0]


def test_problems_name_their_place():
    found = problems(accounts={"theory": {"share": 3, "users": {"a b": 1}}})
    assert found[0].startswith("accounts.theory.users.a b")
    assert found[1].startswith(
        "accounts.theory.share: unknown key; allowed: shares, priority, usage, limits, default_qos, qos"
    )


def test_every_account_has_a_name_of_its_own():
    assert list(account_problems(CENTRE)) == []
    twice = {"physics": CENTRE["physics"], "lab": keys(accounts={"root": {}})}
    assert [str(problem) for problem in account_problems(twice, ("accounts",))] == [
        "accounts.lab: also the name of another account; allowed: a name that occurs once",
        "accounts.lab.accounts.root: also the name of the top of the tree; allowed: a name that occurs once",
    ]
