"""Policies: schemes with their dialects, and Slurm's parameters, priorities, limits and preemption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.fuzz.rules.draw import Setting

Keys = dict[str, Any]
ORDERS = ("sjf", "ljf", "smallest", "largest", "wfp3", "unicef", "f1", "f2", "f3", "f4")
PACKINGS = (
    *("first_fit", "best_fit", "worst_fit", "random", "dot_product", "gpu_clustering", "gpu_packing"),
    *("least_left", "fragmentation_gradient"),
)
PLACEMENTS = ("preferred", "first_available", "earliest_start", "earliest_end", "least_cost")


def policy(of: Setting) -> Keys:
    """Draw a policy, as the keys of its file; own code is a name, see ``own``."""
    if of.slurm:
        return {"backfill": "slurm", "slurm": _slurm(of)}
    draw = of.draw
    made: Keys = {"backfill": of.scheme}
    if of.scheme == "scheduler":
        made = {"scheduler": draw.pick("easy", "random", "holding")}
        return made | draw.some({"overrun_s": [1, 60], "order": ORDERS, "het_end": ["leader"]}, 0.15)
    made |= draw.some({"order": ORDERS, "placement": PLACEMENTS}, 0.4)
    if of.shared:
        made |= draw.some({"packing": PACKINGS}, 0.6)
    if of.scheme == "easy":
        dialects = {"extra_rule": [False], "candidate_time": ["run"], "shadow": ["static"]}
        made |= draw.some({"depth": [2, 3, 10]}, 0.4) or draw.some(dialects, 0.1)
        if of.has("choice") or of.has("licences") or of.shared:
            made.pop("shadow", None)
    if of.scheme == "conservative":
        made |= draw.some({"replan": ["keep"]}, 0.5)
    if of.scheme in ("easy", "first_fit"):
        made |= draw.some({"backfill_order": ORDERS[:5]}, 0.2)
    made |= draw.some({"overrun_s": [of.scale, 5, 60]}, 0.2)
    made |= draw.some({"delay": ["reserved"], "het_end": ["leader", "longest"], "calls": [False]}, 0.15)
    if made.get("replan") == "keep":
        made.pop("delay", None)
    if of.rules.isdisjoint({"ratios", "moldable", "checkpoints", "spread"}):
        made |= draw.some({"extend_job": ["grant"]}, 0.25)
    if of.has("topology"):
        made |= draw.some({"topology": ["compact"]}, 0.5)
    if not of.shared:
        made |= draw.some({"passes": ["event"]}, 0.08)
    if of.has("own"):
        made |= draw.pick({"may_start": "veto"}, {"placement": "rank"})
    if of.has("preemption"):
        made = _making_way(of, made)
    return made


def _making_way(of: Setting, made: Keys) -> Keys:
    draw = of.draw
    preempt: Keys = {"by": draw.pick("partition", "partition", "priority")}
    preempt["how"] = draw.pick("requeue", "cancel", "suspend")
    if preempt["how"] != "suspend":
        preempt |= draw.some({"grace_s": [time * of.scale for time in (1, 5, 30)]}, 0.5)
    for key in ("overrun_s", "passes", "replan"):
        made.pop(key, None)
    if made.get("order") in ("wfp3", "unicef"):
        made["order"] = "sjf"
    return made | {"preempt": preempt}


SCHEDULERS: dict[str, Sequence[Any]] = {
    "SchedulerType": ["sched/builtin"],
    "batch_sched_delay": [0, 1, 10],
    "sched_interval": [7, 30, -1],
    "default_queue_depth": [0, 2],
    "partition_job_depth": [1, 3],
    "bf_interval": [0, 1, 2, 7, -1],
    "bf_resolution": [1, 7],
    "bf_window": [1, 4],
    "bf_max_job_test": [1, 3],
    "bf_node_space_size": [3],
    "bf_max_job_part": [1],
    "bf_max_job_user": [1, 2],
    "bf_max_job_start": [1],
    "bf_max_job_array_resv": [1],
    "bf_min_age_reserve": [25],
    "bf_min_prio_reserve": [4294901757],
    "bf_job_part_count_reserve": [1],
    "bf_one_resv_per_job": [True],
    "bf_running_job_reserve": [True],
    "bf_window_linear": [10],
    "sched_min_interval": [2_000_000],
    "kill_invalid_depend": [True],
    "OverTimeLimit": [1, 10],
    "KillWait": [0, 2],
    "limit_check_s": [1, 7],
    "epoch": [17, 1_700_000_041],
    "looks_first": ["backfill"],
    "EnforcePartLimits": ["ANY", "ALL"],
    "requeue_delay_s": [0, 5],
    "latency": ["measured"],
    "epilog_s": [3],
    "launch_s": [2],
    "starts_before_s": [0, 1],
}
RARE: dict[str, Sequence[Any]] = {
    "version": ["19.05"],
    "SelectType": ["select/linear", "select/cons_res"],
    "clock": ["simulator"],
    "fixed_nodes": [False],
    "grouped_ends": [False],
    "inclusive_end": [False],
}
PRIORITIES: dict[str, Sequence[Any]] = {
    **{f"PriorityWeight{name}": [1, 1000, 100_000] for name in ("Age", "Fairshare", "JobSize", "Partition")},
    **{f"PriorityWeight{name}": [1, 1000] for name in ("QOS", "Assoc")},
    "PriorityFlags": [["ACCRUE_ALWAYS"], ["SMALL_RELATIVE_TO_TIME"], ["NO_FAIR_TREE"], ["INCR_ONLY"]],
    "PriorityMaxAge": [60, 3600],
    "PriorityCalcPeriod": [20, 60],
    "PriorityDecayHalfLife": [0, 600],
    "PriorityUsageResetPeriod": ["DAILY", "NOW", "MONTHLY"],
    "PriorityWeightTRES": ["CPU=1000,Mem=500"],
    "PriorityFavorSmall": [True],
}


def _slurm(of: Setting) -> Keys:
    draw = of.draw
    made: Keys = draw.some(SCHEDULERS, 0.09)
    if not of.shared and of.rules.isdisjoint({"preemption", "topology"}):
        made |= draw.some(RARE, 0.06)
    if of.has("priorities"):
        made |= {"PriorityType": "priority/multifactor", **draw.some(PRIORITIES, 0.3)}
    if of.has("preemption"):
        made |= _preemption(of)
    elif of.shared and of.has("gang"):
        made |= {"PreemptMode": "GANG", "SchedulerTimeSlice": draw.pick(5, 30)}
    if of.shared:
        select = [["CR_CORE"], ["CR_CORE_MEMORY"], ["CR_SOCKET"], ["CR_CPU", "CR_LLN"]]
        made |= draw.some({"SelectTypeParameters": select}, 0.3)
        memory = [500, 1000]
        made |= draw.some({"DefMemPerCPU": memory, "DefMemPerNode": memory, "MaxMemPerCPU": memory}, 0.1)
    if of.has("topology"):
        made |= draw.some({"TopologyParam": ["TopoOptional", "Dragonfly"]}, 0.2)
    if of.has("limits"):
        made |= _accounts(of, made)
    elif made.get("PreemptType") == "preempt/qos":
        made["qos"] = {"q": {"priority": 5, "Preempt": ["r"]}, "r": {"priority": 1}}
    return made


def _preemption(of: Setting) -> Keys:
    draw = of.draw
    if draw.chance(0.65):
        made: Keys = {"PreemptType": "preempt/partition_prio"}
        made["PreemptMode"] = draw.pick("REQUEUE", "CANCEL", "SUSPEND,GANG")
    else:
        made = {"PreemptType": "preempt/qos", "PreemptMode": draw.pick("REQUEUE", "CANCEL")}
    more = {"PreemptExemptTime": [5, 60], "preempt_youngest_first": [True], "preempt_strict_order": [True]}
    return made | draw.some({**more, "preempt_reorder_count": [3], "JobRequeue": [False]}, 0.2)


LIMITS: dict[str, Sequence[Any]] = {
    "GrpTRES": [{"node": 1}, {"node": 2}, {"node": 4}, {"cpu": 4}],
    "GrpJobs": [1, 2, 3],
    "GrpSubmitJobs": [2, 4, 6],
    "GrpTRESMins": [{"cpu": 1}, {"cpu": 10}, {"cpu": 50}],
    "GrpTRESRunMins": [{"cpu": 5}, {"cpu": 20}],
    "GrpWall": [1, 30],
    "MaxTRESPerJob": [{"node": 2}],
    "MaxTRESPerNode": [{"cpu": 2}],
    "MaxTRESMinsPerJob": [{"node": 30}],
    "MaxWall": [1, 5],
    "GrpJobsAccrue": [1],
    "MinPrioThreshold": [5],
}
OF_QOS: dict[str, Sequence[Any]] = {
    "MaxTRESPerUser": [{"node": 2}],
    "MaxTRESPerAccount": [{"node": 3}],
    "MaxJobsPerUser": [1],
    "MaxJobsPerAccount": [2],
    "MaxSubmitJobsPerUser": [3],
    "MinTRESPerJob": [{"node": 2}],
    "UsageFactor": [0.0, 0.5, 2.0],
    "MaxJobsAccruePerUser": [1],
    "LimitFactor": [2.0],
    "Flags": [
        *(["DenyOnLimit"], ["NoDecay"], ["OverPartQOS"], ["PartitionTimeLimit"], ["UsageFactorSafe"]),
        ["NoReserve"],
    ],
}
OF_ASSOCIATIONS: dict[str, Sequence[Any]] = {"MaxJobs": [1], "MaxSubmitJobs": [3], "MaxJobsAccrue": [1]}


def _accounts(of: Setting, slurm: Keys) -> Keys:
    """Draw two QOS and a tree of two accounts, with limits here and there."""
    draw = of.draw
    kinds = [draw.some(LIMITS | OF_QOS, 0.12) for _ in "qr"]
    qos: Keys = {"q": {"priority": 5, **kinds[0]}, "r": {"priority": 1, **kinds[1]}}
    if slurm.get("PreemptType") == "preempt/qos":
        qos["q"]["Preempt"] = ["r"]
        qos["r"] |= draw.some({"GraceTime": [5, 40], "PreemptMode": ["CANCEL", "REQUEUE"]}, 0.3)
    root, a, user = (draw.some(LIMITS | OF_ASSOCIATIONS, 0.1) for _ in range(3))
    accounts: Keys = {
        "root": {"limits": root},
        "a": {"shares": 2, "limits": a, "users": {"u": 1, "v": {"shares": 3, "limits": user}}},
        "b": {"shares": 1, "users": {"u": 1}},
    }
    more = {"AccountingStorageEnforce": ["limits", "safe", "all"], "assoc_limit_stop": [True]}
    return {"qos": qos, "accounts": accounts, **draw.some(more, 0.2)}
