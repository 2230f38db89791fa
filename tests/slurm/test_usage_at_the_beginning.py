"""What users had used before a run begins counts for their fair share from its first second on."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.shares import AccountKeys, associations, with_usage

pytestmark = pytest.mark.interpreted

BY_SHARE = {"PriorityType": "priority/multifactor", "PriorityWeightFairshare": 1000}


def first_of(accounts, flags=(), at=10) -> str:
    """Who starts first on the only node, held by eve up to 100: ann asks at ``at`` and bob a second later."""
    jobs = Workload.from_columns(
        submit_time=[at, at + 1, 0],
        run_time=[10, 10, 100],
        nodes=[1, 1, 1],
        user=["ann", "bob", "eve"],
        account=["bio", "bio", "geo"],
    ).select([2, 0, 1])
    keys = {**BY_SHARE, "accounts": accounts, "PriorityFlags": list(flags)}
    result = simulate(System.homogeneous(1), jobs, Policy.resolve({"backfill": "slurm", "slurm": keys}))
    start = dict(zip(result.components["user"].astype(str), result.components["start_time"], strict=True))
    return "ann" if start["ann"] < start["bob"] else "bob"


def accounts(ann, bob):
    return {"bio": {"users": {"ann": {"usage": ann}, "bob": {"usage": bob}}}}


@pytest.mark.parametrize("flags", [(), ("NO_FAIR_TREE",), ("NO_FAIR_TREE", "DEPTH_OBLIVIOUS")])
def test_who_used_more_before_starts_later(flags):
    assert first_of({"bio": {}}, flags) == "ann"
    assert first_of(accounts(5000, 100), flags) == "bob"
    assert first_of(accounts(100, 5000), flags) == "ann"


def test_it_counts_for_a_job_at_the_first_second():
    """Both ask in second 0 and 1, before any period of PriorityCalcPeriod is over."""
    assert first_of(accounts(5000, 100), at=0) == "bob"


def test_an_account_has_what_is_inside_or_what_is_written():
    form = {
        "bio": AccountKeys(
            users={"ann": {"usage": 30}, "bob": {"usage": 12}}, accounts={"lab": {"usage": 8}}
        ),
        "geo": AccountKeys(usage=100, users={"eve": {"usage": 1}}),
    }
    tree = associations(form, (), ())
    used = dict(zip(tree.names, tree.usage.tolist(), strict=True))
    assert used == {
        "root": 150,
        "root/root": 0,
        "bio": 50,
        "bio/ann": 30,
        "bio/bob": 12,
        "lab": 8,
        "geo": 100,
        "geo/eve": 1,
    }


def test_usage_by_account_and_user_goes_where_a_trace_would_put_its_jobs():
    form = {"bio": AccountKeys(usage=7, users={"ann": 3}, accounts={"lab": {"users": {"bob": 1}}})}
    used = {("lab", "bob"): 5.0, ("", "ann"): 2.0, ("", "new"): 1.0, ("geo", "eve"): 4.0}
    tree = associations(with_usage(form, used), (), ())
    found = dict(zip(tree.names, tree.usage.tolist(), strict=True))
    assert found == {
        "root": 12,
        "root/root": 0,
        "root/new": 1,
        "bio": 7,
        "bio/ann": 2,
        "lab": 5,
        "lab/bob": 5,
        "geo": 4,
        "geo/eve": 4,
    }
    assert dict(zip(tree.names, tree.shares.tolist(), strict=True))["bio/ann"] == 3


@pytest.mark.parametrize(("factor", "first"), [(1, "bob"), (0, "ann"), (0.5, "bob"), (9, "bob")])
def test_the_usage_factor_of_a_qos_counts_for_fair_share(factor, first):
    """Ann has run for 400 s in QOS debt, which she names or has by default; by then bob has used 100 s."""
    for named in ("debt", ""):
        jobs = Workload.from_columns(
            submit_time=[0, 1, 610, 611, 612],
            run_time=[400, 100, 300, 10, 10],
            time_limit=[600] * 5,
            nodes=[1] * 5,
            user=["ann", "bob", "eve", "ann", "bob"],
            account=["bio", "bio", "geo", "bio", "bio"],
            qos=[named, "", "", "", ""],
        )
        keys = {
            **BY_SHARE,
            "qos": {"debt": {"UsageFactor": factor}},
            "accounts": {"bio": {"users": {"ann": {"default_qos": "debt"}, "bob": 1}}},
        }
        policy = Policy.resolve({"backfill": "slurm", "slurm": keys})
        start = simulate(System.homogeneous(1), jobs, policy).components["start_time"].tolist()
        assert ("ann" if start[3] < start[4] else "bob") == first


@pytest.mark.parametrize("wrong", [-1, "much", float("inf")])
def test_bad_usage(wrong):
    with pytest.raises(ConfigError, match="usage"):
        first_of(accounts(wrong, 0))
