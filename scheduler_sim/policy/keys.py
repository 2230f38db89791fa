"""The keys of a policy, each with its default and meaning, and which of them go together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Problem, found
from scheduler_sim.config.value import Check, Flag, OptionalCount, Seconds, Title, choice
from scheduler_sim.errors import did_you_mean
from scheduler_sim.policy import slurm_keys
from scheduler_sim.policy.schemes import BY_NAME, DIALECTS, SCHEMES
from scheduler_sim.policy.slurm_keys import SlurmKeys

ORDERS = ("fifo", "sjf", "ljf", "smallest", "largest", "wfp3", "unicef", "f1", "f2", "f3", "f4")
FIXED_ORDERS = ("fifo", "sjf", "ljf", "smallest", "largest", "f1", "f2", "f3", "f4")
"""Those that do not depend on the time that a component has waited."""

BACKFILLS = tuple(scheme.name for scheme in SCHEMES)
PACKINGS = (
    "first_fit",
    "best_fit",
    "worst_fit",
    "random",
    "dot_product",
    "gpu_clustering",
    "gpu_packing",
    "least_left",
    "fragmentation_gradient",
)
PLACEMENTS = ("preferred", "first_available", "earliest_start", "earliest_end", "least_cost")

MULTIFACTOR = (
    "priority/multifactor is a key of policy slurm: --policy slurm "
    "--set policy.slurm.PriorityType=priority/multifactor"
)

OrderFunction = Callable[..., Any]

IN_FILE = re.compile(r"[^\0\n]+\.py:[^\W\d]\w*")
"""A name in a Python file of the user's: ``path.py:name``."""


def _in_file_or(names: tuple[str, ...]) -> Callable[[Any], str | OrderFunction]:
    """What reads one of some names, a function in a file, or a function of Python."""

    def read(written: Any) -> str | OrderFunction:
        if callable(written):
            function: OrderFunction = written
            return function
        if isinstance(written, str) and written.lower() in names:
            return written.lower()
        if isinstance(written, str) and IN_FILE.fullmatch(written.strip()):
            return written.strip()
        raise ValueError

    return read


def _scheduler(written: Any) -> Any:
    """A class in a file, or an object that schedules."""
    if isinstance(written, str) and IN_FILE.fullmatch(written.strip()):
        return written.strip()
    if schedules(written):
        return written
    raise ValueError


def schedules(given: object) -> bool:
    """Whether an object is a scheduler: it has a method ``schedule``, and is no class."""
    return callable(getattr(given, "schedule", None)) and not isinstance(given, type)


def in_file(written: object) -> tuple[str, str] | None:
    """Split ``path.py:name``; None for what stands in no file: an order by name, an object."""
    if not isinstance(written, str) or ".py:" not in written:
        return None
    path, _, name = written.rpartition(":")
    return path, name


_ORDER = Check(f"{', '.join(ORDERS)}, path.py:function", _in_file_or(ORDERS), ORDERS)
Order = Annotated[str | OrderFunction, BeforeValidator(_ORDER)]
OptionalOrder = Annotated[str | OrderFunction | None, BeforeValidator(_ORDER)]
OwnScheduler = Annotated[
    Any, BeforeValidator(Check("path.py:Class, an object with a method schedule", _scheduler))
]
Backfill = Annotated[str, choice(*BACKFILLS)]
Placement = Annotated[
    str | OrderFunction,
    BeforeValidator(Check(f"{', '.join(PLACEMENTS)}, path.py:function", _in_file_or(PLACEMENTS), PLACEMENTS)),
]
MayStart = Annotated[str | OrderFunction | None, BeforeValidator(Check("path.py:function", _in_file_or(())))]
Packing = Annotated[str, choice(*PACKINGS)]
Topology = Annotated[str, choice("none", "compact")]
Replan = Annotated[str, choice("scratch", "keep")]
Passes = Annotated[str, choice("instant", "event")]
CandidateTime = Annotated[str, choice("limit", "run")]
Shadow = Annotated[str, choice("dynamic", "static")]
Delay = Annotated[str, choice("joint", "reserved")]
HetEnd = Annotated[str, choice("component", "leader", "longest")]
ExtendJob = Annotated[str, choice("refuse", "grant")]


class PreemptKeys(Keys):
    """Preemption: running components make way for others."""

    by: Annotated[str, choice("partition", "priority")] = Field(
        description="Which components may preempt which: partition = those of a partition with a"
        " higher priority may preempt those of a lower one; priority = a component may"
        " also preempt those behind it in the order."
    )
    how: Annotated[str, choice("requeue", "cancel", "suspend")] = Field(
        default="requeue",
        description="What happens to preempted components: requeue = they wait again, in their old"
        " place, and run from the beginning; cancel = they end as PREEMPTED; suspend ="
        " they keep what they have done, and resume later, on the same nodes.",
    )
    grace_s: Seconds = Field(
        default=0, description="How long preempted components may continue before that, s."
    )


class PolicyKeys(Keys):
    """How the queue is ordered, which components may overtake which, and in which dialect."""

    name: Title = Field(default="", description="Name of the policy in reports.")
    order: Order = Field(
        default="fifo",
        description="Order of the queue, smallest priority value first: one of the classic orders (with "
        "slurm only fifo, which stands for Slurm's own priorities), or "
        "path.py:function, a Python function of your own (the path is relative to the policy file).",
    )
    backfill: Backfill = Field(
        default="none",
        description="Which components may pass one that cannot start: "
        + "; ".join(f"{scheme.name} = {scheme.passing}" for scheme in SCHEMES)
        + ".",
    )
    scheduler: OwnScheduler = Field(
        default=None,
        description="Instead of backfill: path.py:Class, a class of your own that decides in each"
        " pass which jobs start (the path is relative to the policy file).",
    )
    parameters: dict[str, Any] = Field(
        default={},
        description="With scheduler: keyword arguments of the class.",
    )
    depth: OptionalCount = Field(
        default=None,
        description="With easy: how many blocked components per module hold a reservation; by default 1.",
    )
    replan: Replan = Field(
        default="scratch",
        description="With conservative: scratch = every pass plans the whole queue anew, as Slurm"
        " does, and may move a promised start to a later time; keep = promised starts are"
        " only moved to earlier times.",
    )
    placement: Placement = Field(
        default="earliest_start",
        description="Which placement is used for a component that has several (partition list):"
        " preferred = only the first; first_available = the first that can start now;"
        " earliest_start; earliest_end = earliest start + limit; least_cost = cheapest by"
        " nodes, node cost and limit; path.py:function = the one with the smallest rank"
        " by a function of your own, then the earliest start.",
    )
    may_start: MayStart = Field(
        default=None,
        description="path.py:function, a function of your own that decides which jobs may start at"
        " this time; the others are passed over. Not with slurm.",
    )
    backfill_order: OptionalOrder = Field(
        default=None,
        description="With easy and first_fit: the order in which candidates behind a blocked"
        " component are tried, as for order (sjf gives EASY-SJBF); by default the order"
        " of the queue.",
    )
    packing: Packing = Field(
        default="best_fit",
        description="Which of the nodes with room a component gets, where jobs share nodes: first_fit"
        " = the first ones; best_fit = those with the fewest free cores; worst_fit ="
        " those with the most; random = any, drawn by the seed; by a score of the study"
        " by Weng et al.: dot_product = those with the least free of what is requested;"
        " gpu_clustering = those that run jobs with as many GPUs; gpu_packing = GPUs in"
        " use, then nodes in use; least_left = those with the least left over;"
        " fragmentation_gradient = those whose free GPUs remain most useful. Ties go to"
        " the first node.",
    )
    topology: Topology = Field(
        default="none",
        description="Whether nodes are chosen by their location, on a system with a topology: none ="
        " by the packing; compact = under as few switches as possible, then by the"
        " packing.",
    )
    overrun_s: Seconds = Field(
        default=0,
        description="How long a component may run past its time limit before it is killed, s; plans"
        " do not include it. Not with slurm, which has OverTimeLimit.",
    )
    passes: Passes = Field(
        default="instant",
        description="instant = one scheduling pass after everything that happens in the same second; "
        "event = a pass after every single end and submission.",
    )
    extra_rule: Flag = Field(
        default=True,
        description="With easy: true = a candidate that ends after the shadow time may start on nodes the "
        "front will not need; false = every candidate must end by the shadow time.",
    )
    candidate_time: CandidateTime = Field(
        default="limit",
        description="With easy: limit = candidates are judged by their time limit; run = by their real run "
        "time, which no scheduler knows.",
    )
    shadow: Shadow = Field(
        default="dynamic",
        description="With easy: dynamic = the front's shadow time is computed anew at every pass; static = "
        "once, when a component becomes front.",
    )
    delay: Delay = Field(
        default="joint",
        description="How components with a delay are planned: joint = together with the others of"
        " their job, each at its delay; reserved = nodes are reserved for them, outside"
        " the plan, when the components without a delay start, as in the scheduler of the"
        " DEEP-EST project.",
    )
    het_end: HetEnd = Field(
        default="component",
        description="When components of a heterogeneous job that start together end: component = each"
        " on its own; leader = with the first in the trace; longest = with the last to"
        " end.",
    )
    calls: Flag = Field(
        default=True, description="false: calls of the workflow API, and others, have no effect."
    )
    extend_job: ExtendJob = Field(
        default="refuse",
        description="Answer to a component that calls extend_job: refuse = nothing; grant = its time"
        " limit once more, if no component has an appointment on the nodes.",
    )
    preempt: PreemptKeys | None = Field(
        default=None,
        description="Preemption of running components for those at the front of the queue; by default"
        " there is none. Slurm has its own keys.",
    )
    slurm: SlurmKeys = Field(
        default=SlurmKeys(), description="With slurm: Slurm's own parameters, by Slurm's names."
    )


DEFAULTS: dict[str, Any] = {key: info.default for key, info in PolicyKeys.model_fields.items()}

# Keys that mean something under some backfills only. Elsewhere they must keep their default.
ONLY_WITH = {
    key: tuple(scheme.name for scheme in SCHEMES if key in scheme.keys)
    for key in DEFAULTS
    if any(key in scheme.keys for scheme in SCHEMES)
}


def completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys with what they imply: a scheduler of one's own is a backfill scheme of its own."""
    implied = data.get("scheduler") is not None and data.get("backfill") in (None, DEFAULTS["backfill"])
    return {**data, "backfill": "scheduler"} if implied else dict(data)


def contradictions(data: dict[str, Any]) -> Iterator[Problem]:
    """Check what no single key can tell: keys that have no meaning beside the others.

    Works on unchecked data, so that these problems show together with all others.
    """
    for key in data:
        if key not in DEFAULTS and key in SlurmKeys.model_fields:
            yield Problem((key,), f"unknown key; allowed: slurm.{key}, as all parameters of Slurm")
    if data.get("order") == "multifactor":
        yield Problem(("order",), f"found 'multifactor'; allowed: {', '.join(ORDERS)}; {MULTIFACTOR}")
    if isinstance(data.get("slurm"), dict):
        for problem in slurm_keys.contradictions(data["slurm"]):
            yield Problem(("slurm", *problem.where), problem.text)
    backfill = data.get("backfill")
    backfill = backfill.lower() if isinstance(backfill, str) else DEFAULTS["backfill"]
    if backfill not in BACKFILLS:
        return
    for key, backfills in ONLY_WITH.items():
        if backfill not in backfills and _differs(data, key):
            with_these = " or ".join(f"backfill: {name}" for name in backfills)
            hint = f"; {hint}" if (hint := _HINTS.get((key, backfill), "")) else ""
            yield Problem(
                (key,),
                f"{found(data[key])} beside backfill: {backfill}; allowed: only with {with_these}{hint}",
            )
    if backfill == "scheduler" and data.get("scheduler") is None:
        yield Problem(
            ("backfill",), "found 'scheduler' without a key scheduler; needed: scheduler: path.py:Class"
        )
    if str(data.get("replan")).lower() == "keep" and _differs(data, "delay"):
        text = f"{found(data['delay'])} beside replan: keep; allowed: only with replan: scratch"
        yield Problem(("delay",), text)
    if data.get("preempt") and "preempt" in BY_NAME[backfill].keys:
        yield from _beside_preempt(data)
    if "depth" in BY_NAME[backfill].keys and data.get("depth") not in (None, 1, "1"):
        for key in DIALECTS:  # the shadow time is the reservation of a single front
            if _differs(data, key):
                text = f"{found(data[key])} beside depth: {data['depth']}; allowed: only with depth 1"
                yield Problem((key,), text)


def _beside_preempt(data: dict[str, Any]) -> Iterator[Problem]:
    """Preemption is for passes that plan anew, and by orders that compare what runs with what waits."""
    for key, allowed in (("replan", "scratch"), ("passes", "instant")):
        if _differs(data, key):
            yield Problem((key,), f"{found(data[key])} beside preempt; allowed: {allowed}")
    preempt, order = data["preempt"], data.get("order", DEFAULTS["order"])
    if not isinstance(preempt, dict):
        return
    by_priority = preempt.get("by") == "priority"
    if by_priority and str(order).lower() not in FIXED_ORDERS:
        text = f"{found(order)} beside preempt by priority; allowed: {', '.join(FIXED_ORDERS)}"
        yield Problem(("order",), text)
    grace, suspends = preempt.get("grace_s") not in (None, 0, "0"), preempt.get("how") == "suspend"
    if grace and suspends:
        text = f"{found(preempt['grace_s'])} beside preempt.how: suspend; allowed: 0"
        yield Problem(("preempt", "grace_s"), text)
    if (grace or suspends) and _differs(data, "overrun_s"):
        beside = "preempt.how: suspend" if suspends else "preempt.grace_s"
        yield Problem(("overrun_s",), f"{found(data['overrun_s'])} beside {beside}; allowed: 0")


_HINTS = {
    ("preempt", "slurm"): "use slurm.PreemptType and slurm.PreemptMode",
    ("topology", "slurm"): "use slurm.TopologyPlugin",
    ("depth", "conservative"): "conservative reserves for the whole queue",
    ("replan", "easy"): "easy computes its reservation at every pass",
    ("order", "slurm"): "slurm.PriorityType and the weights order the queue",
    ("placement", "slurm"): "Slurm tries the partitions of a list in order of their tiers and priorities",
    ("overrun_s", "slurm"): "use slurm.OverTimeLimit, in minutes",
    (
        "delay",
        "slurm",
    ): "nodes for components with a delay are reserved, as the DEEP-EST addition to Slurm does",
    ("het_end", "slurm"): "Slurm ends a job with the script on its first component",
    ("passes", "slurm"): "slurm.bf_interval and others determine when Slurm's passes take place",
}


def _differs(data: dict[str, Any], key: str) -> bool:
    written, default = data.get(key), DEFAULTS[key]
    if written is None:
        return False
    if key == "slurm":
        return bool(written) and written not in (default, default.model_dump())
    return str(written).lower() != str(default).lower()


def unknown_name(name: str, known: tuple[str, ...]) -> str:
    """Say that no policy has this name, and which names there are."""
    if name.strip().lower().removeprefix("priority/") == "multifactor":
        return f"unknown policy {name!r}; {MULTIFACTOR}"
    hint = did_you_mean(name[:80], known)
    return f"unknown policy {name[:80]!r}; allowed: {', '.join(known)}, or a YAML file{hint}"
