"""What is run: a site of 5,000 nodes with its users and their jobs, under each of its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Policy, Recipe, System, Workload, generate
from scheduler_sim.streams import stream

ROOT = Path(__file__).resolve().parents[2]
MONTH = ROOT / "workloads" / "centre-month.yaml"

HOUR, DAY = 3600, 86_400
NODES, LOAD = 5000, 0.85
DAYS, JOBS = 8, 5_600
"""Jobs come for so many days; so many are drawn, of which the last come later and are left out."""
COUNTED = 2 * DAY, 7 * DAY
"""Jobs submitted from one time to the other count (s): before, the machine fills."""

USERS, DIVISIONS, ACCOUNTS = 250, 10, 50
URGENT_PERCENT, SHORT_H = 3, 2
"""So many jobs of a hundred are urgent; others with limits up to so long are in QOS short."""

NORMAL, SHORT, URGENT = "normal", "short", "urgent"
PRIORITY = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": 1000,
    "PriorityWeightFairshare": 10000,
    "PriorityWeightJobSize": 1000,
}
PACE = {"bf_interval": 300, "sched_interval": 300, "batch_sched_delay": 20}
"""How often the site's schedulers look: as large sites set it, if less often than by default."""

BASE = "none"
QUOTA, PREEMPTION, MAINTENANCE, PLACEMENT = "quota", "urgent jobs", "maintenance", "placement"
QUOTAS = (1024, 768, 512)
"""Nodes that a user may have at once in QOS normal; the last is the size of the largest jobs."""

WINDOW, WINDOW_H = 3 * DAY + 8 * HOUR, 8
"""When maintenance begins (s), and how long it takes."""
LATE_H = 4
"""So long before is it announced late."""

LEAF, LEAVES = 50, 10
"""Nodes of a leaf switch, and leaves of a switch above."""


@dataclass(frozen=True)
class Variant:
    """The site with a rule more: name, rule, keys that it adds to the system and to the policy.

    ``quota`` is that of QOS normal (nodes of a user), ``tier`` what the urgent partition is above the other.
    """

    name: str
    rule: str
    system: Mapping[str, Any] = field(default_factory=dict)
    slurm: Mapping[str, Any] = field(default_factory=dict)
    quota: int = 0
    tier: int = 0

    def site(self) -> System:
        """Return the site: two partitions over the same nodes."""
        partitions = [
            {"name": NORMAL, "module": "cluster", "default": True},
            {"name": URGENT, "module": "cluster", "priority": self.tier},
        ]
        modules = [{"name": "cluster", "nodes": NODES}]
        return System.from_dict({"name": "site", "modules": modules, "partitions": partitions, **self.system})

    def policy(self, users: Sequence[str]) -> Policy:
        """Return the policy: the priorities of the site, its tree of accounts, its QOS, and the rule."""
        quota = {"MaxTRESPerUser": {"node": self.quota}} if self.quota else {}
        qos: dict[str, Any] = {NORMAL: {"priority": 1, **quota}, SHORT: {"priority": 1}}
        qos[URGENT] = {"priority": 1}
        keys = {**PRIORITY, **PACE, "accounts": accounts(users), "qos": qos, **self.slurm}
        named = {f"policy.slurm.{name}": value for name, value in keys.items()}
        return Policy.named("slurm").with_settings(named)


def _preempt(name: str, how: str) -> Variant:
    keys = {"PreemptType": "preempt/partition_prio", "PreemptMode": how}
    return Variant(name, PREEMPTION, slurm=keys, tier=1)


def _window(**keys: Any) -> dict[str, Any]:
    """Return maintenance of all nodes, by the operators alone."""
    whole = {"name": "maintenance", "start": WINDOW, "duration": WINDOW_H * HOUR, "nodes": "ALL"}
    return {**whole, "users": ["root"], **keys}


OUT = {"time": WINDOW, "state": "DOWN", "nodes": f"0-{NODES - 1}", "end": WINDOW + WINDOW_H * HOUR}
"""The nodes are switched off: what still runs there goes back into the queue."""
LATE = _window(at=WINDOW - LATE_H * HOUR, flags=["MAINT", "IGNORE_JOBS"])

TREE = {"topology": {"levels": [LEAF, LEAVES]}}

FIRST, REQUEUE, CANCEL = "first in the queue", "preempt by requeue", "preempt by cancelling"
KNOWN, ANNOUNCED_LATE, SUDDEN = "known for days", f"announced {LATE_H} h before", "not announced"
ANY, BY_LEAF = "any free nodes", "leaf by leaf"
VARIANTS = (
    Variant(BASE, BASE),
    *(Variant(f"{quota:,} nodes", QUOTA, quota=quota) for quota in QUOTAS),
    Variant(FIRST, PREEMPTION, tier=1),
    _preempt(REQUEUE, "REQUEUE"),
    _preempt(CANCEL, "CANCEL"),
    Variant(KNOWN, MAINTENANCE, {"reservations": [_window(flags=["MAINT", "WEEKLY"])]}),
    Variant(ANNOUNCED_LATE, MAINTENANCE, {"reservations": [LATE], "events": [OUT]}),
    Variant(SUDDEN, MAINTENANCE, {"events": [OUT]}),
    Variant(ANY, PLACEMENT, TREE, {"TopologyPlugin": "topology/none"}),
    Variant(BY_LEAF, PLACEMENT, TREE),
)
"""In the order of the page."""

RULES = tuple(dict.fromkeys(one.rule for one in VARIANTS if one.rule != BASE))
BY_NAME = {one.name: one for one in VARIANTS}


def of_rule(rule: str) -> list[str]:
    """Return the names of a rule's variants."""
    return [one.name for one in VARIANTS if one.rule == rule]


def recipe() -> Recipe:
    """Return the recipe: the benchmarks' month of a centre, with fewer, larger and longer jobs."""
    keys = Recipe.from_yaml(MONTH).to_dict()
    keys["users"] = USERS
    keys["modules"] = [{"name": "cluster", "nodes": NODES, "jobs": JOBS}]
    keys["model"]["arrivals"]["offered_load"] = LOAD
    keys["model"]["sizes"] = {"largest": max(64, min(QUOTAS)), "intercept": 0.15, "power_of_two": 0.75}
    keys["model"]["requests"] = {"slope": 0.179, "intercept": -1.936}
    return Recipe.of(**keys)


def jobs(seed: int) -> Workload:
    """Return the jobs of a seed: of users in accounts, in a QOS and a partition."""
    drawn = generate(recipe(), seed=seed)
    drawn = drawn.select(drawn["submit_time"] < DAYS * DAY)
    user = drawn.table["user"].astype(str).to_numpy()
    is_urgent = stream(seed, "site rules urgent").random(len(drawn)) < URGENT_PERCENT / 100
    is_short = drawn["time_limit"] <= SHORT_H * HOUR
    return Workload.from_columns(
        **{name: drawn[name] for name in ("submit_time", "nodes", "run_time", "time_limit")},
        user=user,
        account=[account_of(name) for name in user],
        qos=np.where(is_urgent, URGENT, np.where(is_short, SHORT, NORMAL)),
        partition=np.where(is_urgent, URGENT, NORMAL),
    )


def account_of(user: str) -> str:
    """Return the account of a user, by the number that is its name."""
    return f"a{int(user) % ACCOUNTS}"


def accounts(users: Sequence[str]) -> dict[str, Any]:
    """Return the tree: divisions with accounts with users, all of equal shares."""
    tree: dict[str, Any] = {f"d{i}": {"accounts": {}} for i in range(DIVISIONS)}
    for i in range(ACCOUNTS):
        tree[f"d{i % DIVISIONS}"]["accounts"][f"a{i}"] = {"users": {}}
    for user in users:
        account = int(user) % ACCOUNTS
        tree[f"d{account % DIVISIONS}"]["accounts"][f"a{account}"]["users"][user] = 1
    return tree
