"""Limits of QOS and associations: cases worked out by hand, and what a result and errors say of them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError

pytestmark = pytest.mark.interpreted

WHOLE = System.homogeneous(8)
SHARED = System.from_dict(
    {"modules": [{"name": "m", "nodes": 4, "cores_per_node": 8, "gpus_per_node": 2, "shared": True}]}
)
AT_ONCE = {"sched_interval": 1, "batch_sched_delay": 0, "bf_interval": 1, "limit_check_s": 1, "KillWait": 0}


def play(system: System, jobs: Workload, qos: Any = None, accounts: Any = None, **keys: Any) -> Result:
    """Passes every second, under limits."""
    given = (
        AT_ONCE | {"qos": qos or {}, "accounts": accounts or {}, "AccountingStorageEnforce": "limits"} | keys
    )
    result = simulate(system, jobs, Policy(backfill="slurm", slurm=given))
    result.check()
    return result


def jobs(**columns: Any) -> Workload:
    rows = max(len(value) for value in columns.values() if isinstance(value, list))
    usual = {"nodes": 1, "submit_time": 0, "run_time": 60, "time_limit": 120, "user": "u", "account": "a"}
    filled = {
        name: value if isinstance(value, list) else [value] * rows
        for name, value in (usual | columns).items()
    }
    return Workload.from_columns(**filled)


def column(result: Result, name: str) -> list[Any]:
    return result.components[name].tolist()


def test_the_second_waits_for_the_first_and_the_result_says_for_which_limit() -> None:
    found = play(WHOLE, jobs(qos=["q", "q", ""]), {"q": {"MaxJobsPerUser": 1}})
    assert column(found, "start_time") == [0, 60, 0]
    assert column(found, "limit_reason") == ["", "QOSMaxJobsPerUserLimit", ""]
    assert column(found, "wait_limit") == [0, 60, 0]
    assert column(found, "wait_priority")[1] == 60


def test_each_limit_is_told_for_how_long_it_held() -> None:
    """Job 3 waits for its user's other job up to 60 s, then for the cores of its account up to 200 s."""
    found = play(
        WHOLE,
        jobs(
            nodes=[1, 4, 5], user=["u", "v", "u"], qos=["q", "", "q"], run_time=[60, 200, 60], time_limit=300
        ),
        {"q": {"MaxJobsPerUser": 1}},
        {"a": {"limits": {"GrpTRES": "node=8"}}},
    )
    assert column(found, "start_time") == [0, 0, 200]
    assert column(found, "limit_waits") == ["", "", "QOSMaxJobsPerUserLimit=60,AssocGrpNodeLimit=140"]
    assert column(found, "wait_limit") == [0, 0, 200]


def test_a_limit_holds_a_job_no_longer_than_until_it_is_cancelled() -> None:
    sim = Simulation(
        WHOLE,
        jobs(qos=["q", "q"], run_time=500, time_limit=600),
        Policy(
            backfill="slurm",
            slurm=AT_ONCE | {"qos": {"q": {"MaxJobsPerUser": 1}}, "AccountingStorageEnforce": "limits"},
        ),
    )

    def operator() -> Any:
        yield sim.env.timeout(100)
        sim.cancel(2)

    sim.process(operator())
    assert column(sim.run(), "wait_limit") == [0, 100]


def test_without_limits_enforced_nothing_is_limited() -> None:
    found = play(
        WHOLE, jobs(qos=["q", "q"]), {"q": {"MaxJobsPerUser": 1}}, AccountingStorageEnforce="associations"
    )
    assert column(found, "start_time") == [0, 0]
    assert "limit_reason" not in found.components


def test_limits_of_accounts_count_for_all_that_is_inside() -> None:
    accounts = {"top": {"limits": {"GrpTRES": "node=3"}, "accounts": {"a": {"users": {"u": 1}}, "b": {}}}}
    found = play(WHOLE, jobs(nodes=[2, 2, 1], account=["a", "b", "b"]), accounts=accounts)
    assert column(found, "start_time") == [0, 60, 0]
    assert column(found, "limit_reason") == ["", "AssocGrpNodeLimit", ""]


def test_a_limit_of_the_root_is_one_of_everybody() -> None:
    found = play(WHOLE, jobs(account=["a", "b"]), accounts={"root": {"limits": {"GrpJobs": 1}}})
    assert column(found, "start_time") == [0, 60]


def test_what_an_account_hands_down_counts_for_each_user() -> None:
    found = play(WHOLE, jobs(user=["u", "u", "v"]), accounts={"a": {"limits": {"MaxJobs": 1}}})
    assert column(found, "start_time") == [0, 60, 0]


def test_a_qos_goes_before_associations_and_that_of_a_partition_before_it() -> None:
    system = WHOLE.to_dict()
    system["partitions"][0]["slurm"] = {"QOS": "p"}
    limits = {"a": {"limits": {"GrpJobs": 1}}}
    four = jobs(qos=["q"] * 4)
    for qos, last in (
        ({}, 180),
        ({"q": {"GrpJobs": 2}}, 60),
        ({"q": {"GrpJobs": 2}, "p": {"GrpJobs": 4}}, 0),
    ):
        assert max(column(play(System.from_dict(system), four, qos, limits), "start_time")) == last
    over = {"q": {"GrpJobs": 2, "Flags": "OverPartQOS"}, "p": {"GrpJobs": 4}}
    assert max(column(play(System.from_dict(system), four, over, limits), "start_time")) == 60


def test_a_job_that_names_no_qos_has_the_default_of_its_association() -> None:
    qos = {"q": {"MaxJobsPerUser": 1}, "normal": {"MaxJobsPerUser": 2}}
    three = jobs(account=["a"] * 3)
    assert column(play(WHOLE, three, qos), "start_time") == [0, 0, 60]
    assert column(play(WHOLE, three, qos, {"a": {"default_qos": "q"}}), "start_time") == [0, 60, 120]


def test_one_job_too_many_is_rejected_and_an_array_whole() -> None:
    found = play(
        WHOLE, jobs(array_job_id=[7, 7, -1, 8, 8, 8]), accounts={"a": {"limits": {"GrpSubmitJobs": 4}}}
    )
    assert column(found, "state") == ["COMPLETED"] * 3 + ["REJECTED"] * 3
    assert column(found, "limit_reason")[3:] == ["AssocGrpSubmitJobsLimit"] * 3
    assert found.metrics["counts"]["rejected_because"] == {"limit": 3}


def test_one_that_is_over_no_longer_counts_as_submitted_though_its_nodes_are_completing() -> None:
    """Its time is up at 60 and found to be so at the next look for that, and it is killed KillWait later.

    As in ``job_completion_logger``. To those that depend on it, it is over when its nodes are idle.
    """
    found = play(
        WHOLE,
        jobs(submit_time=[0, 50, 100, 105], run_time=[300, 10, 10, 10], time_limit=60),
        accounts={"a": {"limits": {"GrpSubmitJobs": 1}}},
        KillWait=60,
        latency="measured",
    )
    assert column(found, "end_time")[0] < 100
    assert column(found, "state") == ["TIMEOUT", "REJECTED", "COMPLETED", "REJECTED"]


def test_what_can_never_be_is_denied_where_the_qos_says_so_and_waits_for_ever_elsewhere() -> None:
    qos = {"q": {"MaxWall": "1m", "Flags": ["DenyOnLimit"]}, "r": {"MaxWall": 1}}
    found = play(WHOLE, jobs(qos=["q", "r"]), qos)
    assert column(found, "state") == ["REJECTED", "PENDING"]
    assert column(found, "limit_reason") == ["AccountingPolicy", "QOSMaxWallDurationPerJobLimit"]


def test_a_job_without_a_time_limit_has_the_longest_there_is() -> None:
    found = play(WHOLE, jobs(run_time=[300], time_limit=[-1], qos=["q"]), {"q": {"MaxWall": 2}})
    assert (column(found, "state"), column(found, "end_time")) == (["TIMEOUT"], [120])


def test_more_nodes_than_there_may_ever_be_block_nobody() -> None:
    found = play(WHOLE, jobs(nodes=[3, 8], qos=["q", ""]), {"q": {"MaxTRESPerUser": "node=2"}})
    assert column(found, "state") == ["PENDING", "COMPLETED"]
    assert column(found, "limit_reason") == ["QOSMaxNodePerUserLimit", ""]


def test_an_association_may_have_the_qos_that_it_lists_where_that_is_enforced() -> None:
    three, accounts = jobs(qos=["q", "r", ""]), {"a": {"qos": ["q"]}}
    found = play(WHOLE, three, {"q": {}, "r": {}}, accounts, AccountingStorageEnforce="limits,qos")
    assert column(found, "state") == ["COMPLETED", "REJECTED", "COMPLETED"]
    assert column(found, "limit_reason") == ["", "QOSNotAllowed", ""]
    assert "REJECTED" not in column(play(WHOLE, three, {"q": {}, "r": {}}, accounts), "state")


@pytest.mark.parametrize(("most", "start"), [(4, 0), (3, -1)])
def test_components_of_a_heterogeneous_job_count_together(most: int, start: int) -> None:
    system = System.from_dict({"modules": [{"name": name, "nodes": 4} for name in "ab"]})
    both = jobs(nodes=[2, 2], partition=["a", "b"], modular_job_id=[1, 1], account=["x", "x"])
    found = play(system, both, accounts={"x": {"limits": {"GrpTRES": {"node": most}}}})
    assert column(found, "start_time") == [start, start]


# -- minutes

MINUTES = {"PriorityType": "priority/multifactor", "PriorityCalcPeriod": 60, "PriorityDecayHalfLife": 0}


def test_used_minutes_are_charged_and_end_what_runs() -> None:
    """Two nodes for ten minutes in a group of six: charged each minute, ended once six are used up."""
    found = play(
        WHOLE,
        jobs(nodes=[2, 1], submit_time=[0, 60], run_time=[600, 60], time_limit=[600, 60]),
        accounts={"a": {"limits": {"GrpTRESMins": "cpu=6"}}},
        starts_before_s=60,
        **MINUTES,
    )
    first = found.components.iloc[0]
    assert (first["state"], first["limit_reason"]) == ("TIMEOUT", "AssocGrpCPUMinutesLimit")
    assert first["end_time"] == 180  # after 4 minutes at second 120 and 7 at 180, by the look of that second


def test_where_it_must_be_safe_a_job_starts_only_if_its_minutes_suffice_to_its_limit() -> None:
    two = jobs(nodes=[2, 2], run_time=[60, 60], time_limit=[120, 120])
    limits = {"a": {"limits": {"GrpTRESMins": "cpu=7"}}}
    found = play(WHOLE, two, accounts=limits, AccountingStorageEnforce="safe", **MINUTES)
    assert column(found, "start_time") == [
        0,
        60,
    ]  # the first has used two of seven minutes, and may use no more
    assert column(play(WHOLE, two, accounts=limits, **MINUTES), "start_time") == [0, 0]


def test_usage_decays_but_that_of_a_qos_that_says_so() -> None:
    """More than a minute is used; hours later less than one is left, but in a QOS that keeps it."""
    two = jobs(run_time=[90, 60], submit_time=[0, 7200], qos=["q", "q"])
    how = MINUTES | {"PriorityDecayHalfLife": 1800}
    for flags, state in ((), "COMPLETED"), (("NoDecay",), "PENDING"):
        found = play(WHOLE, two, {"q": {"GrpWall": 1, "Flags": list(flags)}}, **how)
        assert found.components["state"].iloc[1] == state


def test_a_job_starts_once_usage_has_faded_though_nothing_else_comes() -> None:
    """Ninety seconds are used: less than a minute of them is left before a half-life is over."""
    two = jobs(run_time=[90, 60], submit_time=[0, 100], qos=["q", "q"])
    how = MINUTES | {"PriorityDecayHalfLife": 600}
    found = play(WHOLE, two, {"q": {"GrpWall": 1}}, **how)
    assert 300 <= column(found, "start_time")[1] <= 600  # 90 s x 1/2^(350/600) is a minute
    assert column(play(WHOLE, two, {"q": {"GrpWall": 0}}, **how), "state") == ["PENDING", "PENDING"]


def test_a_run_ends_though_jobs_wait_for_ever_beside_limits_of_minutes() -> None:
    """Priorities are computed no more once nothing is to come; with two partitions they went on for ever."""
    system = WHOLE.to_dict() | {
        "partitions": [{"name": name, "module": WHOLE.modules[0].name} for name in ("p", "q")]
    }
    two = jobs(nodes=[1, 5], partition=["p", "p,q"])
    limits = {"a": {"limits": {"GrpTRESMins": "cpu=90", "MaxTRESPerJob": "node=4"}}}
    seldom = MINUTES | {"bf_interval": 60, "sched_interval": 60, "looks_first": "backfill"}
    for how in {}, {"accelerate": False}, {"bf_min_prio_reserve": 1}, {"PriorityDecayHalfLife": 3600}:
        found = play(System.from_dict(system), two, accounts=limits, **seldom | how)
        assert column(found, "state") == ["COMPLETED", "PENDING"]


@pytest.mark.parametrize("half_life", [60, 604_800])
def test_a_job_that_asks_for_more_than_may_run_at_once_waits_for_ever(half_life: int) -> None:
    """Its minutes alone are more than GrpTRESRunMins: no usage that fades helps, and the run ends."""
    one = jobs(time_limit=[600], qos=["q"])
    found = play(
        WHOLE, one, {"q": {"GrpTRESRunMins": "cpu=5"}}, **MINUTES | {"PriorityDecayHalfLife": half_life}
    )
    assert column(found, "state") == ["PENDING"]


@pytest.mark.parametrize(("most", "at_once"), [(7, True), (8, False)])
def test_nodes_that_count_already_are_planned_first(most: int, at_once: bool) -> None:
    """Nodes 5 to 7 are idle. The third is planned on 0 and 1, which count for its QOS, 5 and 6: 7 stays free.

    A limit of all nodes weighs nothing: there it is planned on 5 to 7, the longer run, and 0.
    """
    four = jobs(
        nodes=[2, 3, 4, 1],
        submit_time=[0, 0, 1, 2],
        run_time=[60, 600, 60, 60],
        time_limit=[120, 600, 120, 1200],
        qos=["q", "", "q", ""],
    )
    found = play(WHOLE, four, {"q": {"GrpTRES": {"node": most}}})
    assert (column(found, "start_time")[3] == 2) == at_once
    assert column(found, "start_time")[:3] == [0, 0, 60]


# -- limits of a partition


@pytest.mark.parametrize(
    ("flag", "nodes", "minutes", "word"),
    [
        ("PartitionMaxNodes", 5, 2, "PartitionNodeLimit"),
        ("PartitionMinNodes", 1, 2, "PartitionNodeLimit"),
        ("PartitionTimeLimit", 3, 9, "PartitionTimeLimit"),
    ],
)
def test_a_flag_of_a_qos_lifts_a_limit(flag: str, nodes: int, minutes: int, word: str) -> None:
    """For the jobs of that QOS: of three beyond it, the one that names it and the one that has it."""
    system = WHOLE.to_dict()
    system["partitions"][0] |= {"max_nodes": 4, "min_nodes": 2, "max_time": 240}
    three = jobs(nodes=[nodes] * 3, time_limit=60 * minutes, qos=["q", "", "r"])
    accounts = {"a": {"default_qos": "q"}}
    for flags, states in (([flag], ["COMPLETED", "COMPLETED", "PENDING"]), ([], ["PENDING"] * 3)):
        found = play(
            System.from_dict(system),
            three,
            {"q": {"Flags": flags}, "r": {}},
            accounts,
            EnforcePartLimits="NO",
        )
        assert column(found, "state") == states
        assert column(found, "held_by")[2] == word
    refused = play(
        System.from_dict(system), three, {"q": {"Flags": [flag]}, "r": {}}, accounts, EnforcePartLimits="ANY"
    )
    assert column(refused, "state") == ["COMPLETED", "COMPLETED", "REJECTED"]


def test_most_nodes_of_a_partition_are_not_lifted_where_jobs_share_nodes() -> None:
    with pytest.raises(ConfigError, match="found PartitionMaxNodes where jobs share nodes"):
        play(SHARED, jobs(qos=["q"]), {"q": {"Flags": "PartitionMaxNodes"}})


# -- nodes that jobs share


def test_cores_and_gpus_are_counted_as_they_were_given() -> None:
    four = jobs(tasks=[4, 4, 4, 1], gres=["", "", "", "gpu:2"], qos=["q", "q", "q", "g"])
    found = play(SHARED, four, {"q": {"GrpTRES": "cpu=9"}, "g": {"MaxTRESPerJob": "gres/gpu=1"}})
    assert column(found, "start_time") == [0, 0, 60, -1]
    assert column(found, "limit_reason") == ["", "", "QOSGrpCpuLimit", "QOSMaxGRESPerJob"]


def test_a_node_that_jobs_of_a_user_share_counts_once() -> None:
    three = jobs(tasks=[4, 4, 8], qos=["q"] * 3)
    found = play(SHARED, three, {"q": {"MaxTRESPerUser": "node=1"}})
    assert column(found, "start_time") == [0, 0, 60]


# -- later, and what is wrong


def test_jobs_that_processes_submit_are_limited_too() -> None:
    policy = Policy(backfill="slurm", slurm=AT_ONCE | {"qos": {"q": {"MaxJobsPerUser": 1}}})
    simulation = Simulation(WHOLE, jobs(qos=["q"]), policy)

    def submit() -> Any:
        yield simulation.env.timeout(10)
        simulation.submit(nodes=1, run_time=5, time_limit=60, user="u", account="a", qos="q")
        simulation.submit(nodes=1, run_time=5, time_limit=60, user="v", account="new", qos="q")

    simulation.process(submit())
    assert column(simulation.run(), "start_time") == [0, 60, 10]


@pytest.mark.parametrize(
    ("qos", "says"),
    [
        ({"GrpTRES": "cpus=4"}, "amounts of cpu, mem (MB), node, billing, gres/NAME or license/NAME"),
        ({"GrpJobs": -2}, "an integer >= 0"),
        ({"MaxWall": "soon"}, "minutes (an integer >= 0)"),
        ({"Flags": "DenyOnLimits"}, "did you mean 'DenyOnLimit'?"),
        ({"MaxJobs": 3}, "unknown key"),
    ],
)
def test_what_means_nothing_is_an_error(qos: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=r"slurm\.qos\.q") as error:
        Policy(backfill="slurm", slurm={"qos": {"q": qos}})
    assert says in str(error.value)


@pytest.mark.parametrize("tasks", [[7, -1, 7, -1], [7, 7, -1, -1], [-1, 7, -1, 7], [-1, -1, 7, 7]])
def test_tasks_of_an_array_count_from_the_submission_of_the_first(tasks: list[int]) -> None:
    """Slurm gets them as one submission, wherever they stand in the trace; ``check`` counts them anew."""
    found = play(
        WHOLE, jobs(array_job_id=tasks, array_task_id=-1), accounts={"a": {"limits": {"GrpSubmitJobs": 3}}}
    )
    states = column(found, "state")
    assert states.count("REJECTED") == (2 if tasks == [-1, -1, 7, 7] else 1)
    assert len({state for state, array in zip(states, tasks, strict=True) if array == 7}) == 1


@pytest.mark.parametrize("limit", ["MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount", "GrpSubmitJobs"])
def test_so_they_do_in_a_qos_and_in_what_a_process_submits(limit: str) -> None:
    policy = Policy(backfill="slurm", slurm=AT_ONCE | {"qos": {"q": {limit: 3}}})
    simulation = Simulation(WHOLE, jobs(array_job_id=[7, -1, 7, -1], array_task_id=-1, qos="q"), policy)

    def submit() -> Any:
        yield simulation.env.timeout(500)
        for array in (8, -1, 8, -1):
            asked = {"nodes": 1, "run_time": 5, "time_limit": 60, "user": "u", "account": "a", "qos": "q"}
            simulation.submit(array_job_id=array, **asked)

    simulation.process(submit())
    result = simulation.run()
    result.check()
    assert column(result, "state") == ["COMPLETED", "COMPLETED", "COMPLETED", "REJECTED"] * 2


def test_the_first_task_may_be_one_that_never_fits() -> None:
    found = play(
        WHOLE,
        jobs(nodes=[9, 1, 1], array_job_id=7, array_task_id=-1, submit_time=[0, 0, 0]),
        accounts={"a": {"limits": {"GrpSubmitJobs": 3}}},
    )
    assert column(found, "state") == ["REJECTED", "COMPLETED", "COMPLETED"]


def test_one_that_is_moved_counts_where_it_is_now() -> None:
    """By the QOS of its partition; when it has ended it counts in neither."""
    parts = [{"name": name, "module": "m", "slurm": {"QOS": name}} for name in "pr"]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 1}], "partitions": parts})
    policy = Policy(
        backfill="slurm", slurm=AT_ONCE | {"qos": {"p": {"GrpSubmitJobs": 2}, "r": {"GrpSubmitJobs": 1}}}
    )
    asked = jobs(partition=["p", "p", "p", "r", "r", "p"], submit_time=[0, 0, 20, 30, 400, 400])
    simulation = Simulation(system, asked, policy)

    def move() -> Any:
        yield simulation.env.timeout(10)
        simulation.update(2, partition="r")

    simulation.process(move())
    result = simulation.run()
    result.check()
    assert column(result, "state") == [*["COMPLETED"] * 3, "REJECTED", *["COMPLETED"] * 2]


BIND_A_DELAY = [
    ({"GrpTRESRunMins": {"cpu": 3}}, "QOSGrpCPURunMinutesLimit"),
    ({"MaxTRESMinsPerJob": {"cpu": 3}}, "QOSMaxCpuMinutesPerJobLimit"),
    ({"GrpTRES": {"cpu": 1}}, "QOSGrpCpuLimit"),
    ({"MaxTRESPerJob": {"cpu": 1}}, "QOSMaxCpuPerJobLimit"),
    ({"MaxTRESPerUser": {"cpu": 1}}, "QOSMaxCpuPerUserLimit"),
    ({"MinTRESPerJob": {"cpu": 3}}, "QOSMinCpuNotSatisfied"),
    ({"GrpJobs": 0}, "QOSGrpJobsLimit"),
    ({"MaxWall": 1}, "QOSMaxWallDurationPerJobLimit"),
]


@pytest.mark.parametrize(("limit", "reason"), BIND_A_DELAY)
@pytest.mark.parametrize("late", [0, 1])
def test_a_component_that_can_never_meet_a_limit_keeps_its_job_with_delays_waiting(
    limit: dict[str, Any], reason: str, late: int
) -> None:
    """Like one without delays: none of its components gets a reservation."""
    qos = ["", "q"] if late else ["q", ""]
    both = jobs(modular_job_id=[5, 5], components_total=2, nodes=[2, 2], delay=[-1, 60], qos=qos)
    others = jobs(nodes=[4], submit_time=[300])
    mixed = Workload.from_columns(
        **{
            name: [*both[name], *others[name]]
            for name in (
                *("modular_job_id", "components_total", "nodes", "delay", "qos", "submit_time"),
                *("run_time", "time_limit", "user", "account"),
            )
        }
        | {"modular_job_id": [5, 5, 6]}
    )
    found = play(WHOLE, mixed, {"q": limit})
    assert column(found, "state") == ["PENDING", "PENDING", "COMPLETED"]
    assert column(found, "limit_reason")[late] == reason


def test_in_its_reservation_a_component_waits_for_a_limit_that_others_have_reached() -> None:
    """Its nodes stay held for it, and it starts once it may."""
    asked = jobs(
        modular_job_id=[5, 5, 6],
        components_total=[2, 2, 1],
        nodes=[2, 2, 2],
        delay=[-1, 60, -1],
        qos=["", "q", "q"],
        submit_time=[0, 0, 0],
        run_time=[60, 60, 200],
        time_limit=[60, 60, 300],
    )
    for limit in ({"GrpTRES": {"cpu": 2}}, {"GrpJobs": 1}, {"GrpTRESRunMins": {"cpu": 10}}):
        start = column(play(WHOLE, asked, {"q": limit}), "start_time")
        assert start[:1] == [0] or start[0] < 60
        assert start[1] >= start[2] + 200


LISTED = {"a": {"users": {"u": 1}}, "b": {"users": {"v": 1}, "accounts": {"c": {"users": {"w": 1}}}}}
WHO = {"user": ["u", "x", "v", "W", "", "u", "v"], "account": ["a", "a", "a", "c", "a", "", "gone"]}


def test_where_associations_are_enforced_jobs_of_users_in_none_are_rejected() -> None:
    """As sbatch says: Invalid account or account/partition combination specified."""
    found = play(WHOLE, jobs(**WHO), accounts=LISTED, AccountingStorageEnforce="associations,limits")
    refused = [state == "REJECTED" for state in column(found, "state")]
    assert refused == [False, True, True, False, False, False, True]
    assert found.metrics["counts"]["rejected_because"] == {"association": 3}
    assert "association" not in found.metrics["counts"]["not_honoured"]


@pytest.mark.parametrize("enforced", ["limits", "none"])
def test_where_they_are_not_it_is_said_how_many_there_are(enforced: str) -> None:
    found = play(WHOLE, jobs(**WHO), accounts=LISTED, AccountingStorageEnforce=enforced)
    assert set(column(found, "state")) == {"COMPLETED"}
    assert found.metrics["counts"]["not_honoured"]["association"] == 3


def test_where_no_account_lists_users_nothing_is_known_of_them() -> None:
    accounts = {"a": {"limits": {"GrpJobs": 9}}, "b": {}}
    found = play(WHOLE, jobs(**WHO), accounts=accounts, AccountingStorageEnforce="associations,limits")
    assert set(column(found, "state")) == {"COMPLETED"}
    assert "association" not in found.metrics["counts"]["not_honoured"]


def test_what_a_process_submits_is_refused_too() -> None:
    slurm = AT_ONCE | {"accounts": LISTED, "AccountingStorageEnforce": "associations"}
    simulation = Simulation(WHOLE, jobs(user=["u"], account="a"), Policy(backfill="slurm", slurm=slurm))

    def submit() -> Any:
        yield simulation.env.timeout(10)
        simulation.submit(nodes=1, run_time=5, user="x", account="a")

    simulation.process(submit())
    assert column(simulation.run(), "state") == ["COMPLETED", "REJECTED"]


def states_of_three(submit_time: list[int], run_time: list[int]) -> list[str]:
    """Of three jobs, of which two may be submitted at a time; the first is requeued at 50."""
    three = jobs(submit_time=submit_time, run_time=run_time, time_limit=600)
    keys = {"AccountingStorageEnforce": "limits", "accounts": {"a": {"limits": {"GrpSubmitJobs": 2}}}}
    simulation = Simulation(WHOLE, three, Policy(backfill="slurm", slurm=AT_ONCE | keys))

    def requeue() -> Any:
        yield simulation.env.timeout(50)
        simulation.requeue(1)

    simulation.process(requeue())
    result = simulation.run()
    result.check()
    return column(result, "state")


@pytest.mark.parametrize("ended", [True, False])
def test_a_job_that_is_requeued_counts_as_submitted_again(ended: bool) -> None:
    """Also if it had ended: as many as may wait or run are there, and the third is rejected."""
    states = states_of_three([0, 100, 120], [5 if ended else 500, 500, 5])
    assert states == ["COMPLETED", "COMPLETED", "REJECTED"]


def test_one_that_is_requeued_after_its_end_did_not_count_in_between() -> None:
    """So a third may be submitted then, and the check, which knows no such moment, takes no offence."""
    assert states_of_three([0, 20, 30], [5, 500, 500]) == ["COMPLETED"] * 3
