"""The keys of ``policy.slurm``: Slurm's own names, units and defaults, for two of its versions.

Defaults are those of the manual pages of Slurm 22.05; where 19.05 differs, the key is left
open here and filled in by ``settled``. Keys in small letters without ``bf_`` or ``sched_`` that
Slurm does not have are ours and say so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Problem, found
from scheduler_sim.config.value import (
    NO_LIMIT,
    Check,
    Count,
    Duration,
    Flag,
    Name,
    Seconds,
    choice,
    duration,
    span,
    whole,
)
from scheduler_sim.errors import did_you_mean
from scheduler_sim.policy.limits import QosKeys
from scheduler_sim.policy.shares import AccountKeys
from scheduler_sim.policy.slurm_releases import holds_in
from scheduler_sim.system.releases import RELEASES
from scheduler_sim.system.slurm_conf.ignored import (
    HARMLESS,
    NOT_MODELLED,
    OUTSIDE,
    PARAMETERS,
    WEIGHED,
    why_ignored,
)
from scheduler_sim.system.slurm_conf.known_keys import MISSPELT

SUSPEND, GANG = "SUSPEND,GANG", "GANG"
PRIORITY_FLAGS = (
    "ACCRUE_ALWAYS",
    "INCR_ONLY",
    "SMALL_RELATIVE_TO_TIME",
    "MAX_TRES",
    "DEPTH_OBLIVIOUS",
    "FAIR_TREE",
    "NO_FAIR_TREE",
    "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",
    "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",
)
ENFORCED = ("associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all", "none")
SELECTED = (
    *("CR_CORE", "CR_CORE_MEMORY", "CR_CPU", "CR_CPU_MEMORY", "CR_SOCKET", "CR_SOCKET_MEMORY"),
    *("CR_LLN", "CR_PACK_NODES"),
)
BY_SYSTEM = "by_system"
TOPOLOGY_WORDS = ("DRAGONFLY", "TOPOOPTIONAL")
WITH_LIMITS = ("limits", "safe", "all")
"""Words of AccountingStorageEnforce under which Slurm counts what limits are held to."""

NOT_NORMALISED = ("NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES")
OF_VERSION = {"bf_max_job_test": 500, "cred_expire": 120}
OF_19_05 = {"bf_max_job_test": 100, "cred_expire": 1200}
"""What differs between the versions where nothing is said."""

LATENCIES = {
    "none": {"epilog_s": 0, "launch_s": 0, "killed_epilog_s": 0, "killed_epilog_ms": 0, "main_wait_ms": 0},
    "measured": {
        "epilog_s": 0,
        "launch_s": 1,
        "killed_epilog_s": 1,
        "killed_epilog_ms": 730,
        "main_wait_ms": 400,
    },
}
"""``measured``: on a running 22.05 that looks around once a second. What the backfill scheduler
started ends just after its look of that second; what was killed is cleaned up 1.73 s after KillWait
(54 of 56 kills: from 1.68 to 1.78 s). The main scheduler starts a job 0.4 s after an end (median of
434 such starts in the first recordings)."""

OF_POWER_SAVING = {"SuspendTime": "UNLIMITED", "SuspendTimeout": 30, "ResumeTimeout": 60}
"""Where nothing is said, and a power profile says no longer time."""


def _version(written: Any) -> str:
    """A release, with or without its patch level."""
    text = ".".join(str(written).strip().split(".")[:2])
    if text not in RELEASES:
        raise ValueError
    return text


def _flags(written: Any) -> tuple[str, ...]:
    words = written.replace(" ", "").split(",") if isinstance(written, str) else list(written)
    words = [word.upper() for word in words if word]
    if any(word not in PRIORITY_FLAGS for word in words):
        raise ValueError
    if "NO_NORMAL_ALL" in words:
        words = [word for word in (*words, *NOT_NORMALISED) if word != "NO_NORMAL_ALL"]
    return tuple(dict.fromkeys(words))


def _enforced(written: Any) -> tuple[str, ...]:
    words = str(written).split(",") if isinstance(written, str | int) else [str(word) for word in written]
    words = [_BY_NUMBER.get(word, word) for word in (word.strip().lower() for word in words) if word]
    if any(word not in ENFORCED for word in words):
        raise ValueError
    return tuple(dict.fromkeys(words)) or ("none",)


_BY_NUMBER = {"1": "associations", "2": "limits"}  # as Slurm reads them, too


def _selected(written: Any) -> tuple[str, ...]:
    words = written.replace(" ", "").split(",") if isinstance(written, str) else list(written)
    words = [str(word).upper() for word in words if word]
    if any(word not in SELECTED for word in words):
        raise ValueError
    return tuple(dict.fromkeys(words))


def _of_topology(written: Any) -> tuple[str, ...]:
    words = written.replace(" ", "").split(",") if isinstance(written, str) else list(written)
    words = [str(word).upper() for word in words if word]
    if any(word not in TOPOLOGY_WORDS for word in words):
        raise ValueError
    return tuple(dict.fromkeys(words))


def _weights(written: Any) -> dict[str, float]:
    """``CPU=1000,Mem=500`` or a mapping; names in small letters."""
    if isinstance(written, str):
        written = dict(part.split("=", 1) for part in written.replace(" ", "").split(",") if part)
    weights = {str(name).lower(): float(value) for name, value in written.items()}
    if any(name not in WEIGHED or not 0 <= value < math.inf for name, value in weights.items()):
        raise ValueError
    return weights


def _period(written: Any) -> int:
    seconds = duration(written)
    if seconds is None:
        raise ValueError
    return seconds


def _half_life(written: Any) -> int:
    """0, as in Slurm, and UNLIMITED: usage does not decay."""
    return 0 if written in (0, "0") else duration(written) or 0


def _suspend_time(written: Any) -> int | None:
    """None, UNLIMITED and -1: nodes are never powered down; 0 is as short as can be."""
    if written is None or str(written).strip() == "-1":
        return None
    return span(written) if str(written).strip().upper() not in NO_LIMIT else None


def _listed(written: Any) -> tuple[str, ...]:
    """A list, or text with commas outside brackets."""
    words = re.findall(r"(?:[^,\[]|\[[^\]]*\])+", written) if isinstance(written, str) else list(written)
    if not all(isinstance(word, str) for word in words):
        raise TypeError
    return tuple(word.strip() for word in words if word.strip())


Version = Annotated[str, BeforeValidator(Check(", ".join(RELEASES), _version, RELEASES))]
Flags = Annotated[
    tuple[str, ...],
    BeforeValidator(Check(f"a list of {', '.join(PRIORITY_FLAGS)}", _flags, PRIORITY_FLAGS)),
]
Enforced = Annotated[
    tuple[str, ...], BeforeValidator(Check(f"a list of {', '.join(ENFORCED)}", _enforced, ENFORCED))
]
Select = Annotated[
    tuple[str, ...], BeforeValidator(Check(f"a list of {', '.join(SELECTED)}", _selected, SELECTED))
]
TopologyWords = Annotated[
    tuple[str, ...],
    BeforeValidator(Check("Dragonfly, TopoOptional, or nothing", _of_topology, TOPOLOGY_WORDS)),
]
Weights = Annotated[
    dict[str, float],
    BeforeValidator(Check(f"weights of {', '.join(WEIGHED)}, such as CPU=1000,Mem=500", _weights)),
]
Period = Annotated[
    int, BeforeValidator(Check("seconds (an integer >= 1), or 90s, 5m, 0:05:00, 1-00:00:00", _period))
]
HalfLife = Annotated[
    int, BeforeValidator(Check("seconds (an integer >= 0), or 14d, 12:00:00, 7-0, UNLIMITED", _half_life))
]
Suspension = Annotated[
    int | None,
    BeforeValidator(
        Check("seconds (an integer >= 0), or 30m, 24h, 2-00:00:00, UNLIMITED, -1", _suspend_time)
    ),
]
NodeLists = Annotated[
    tuple[str, ...],
    BeforeValidator(Check("modules and their nodes by number from 0, as main[0-9,12], main[0-9]:4", _listed)),
]
NameList = Annotated[tuple[str, ...], BeforeValidator(Check("a list of names", _listed))]
Priority = Annotated[int, whole(0, 2**32 - 1)]
OptionalUnits = Annotated[int | None, whole(1)]
OptionalSeconds = Annotated[int | None, whole(0)]
OptionalPeriod = Annotated[int, whole(-1)]
Signed = Annotated[int, whole(-(10**12), 10**12)]


class SlurmKeys(Keys):
    """Slurm's two schedulers, its priorities and its limits, by Slurm's own names."""

    version: Version = Field(
        default="22.05",
        description="version whose defaults and rules apply: in 19.05 the end of a job triggers a"
        " pass at once; what differs since 22.05 stands in a table below (ours)",
    )
    SchedulerType: Annotated[str, choice("sched/backfill", "sched/builtin")] = Field(
        default="sched/backfill", description="builtin: only the main scheduler, without backfill"
    )
    SelectType: Annotated[str, choice("select/cons_tres", "select/cons_res", "select/linear")] = Field(
        default="select/cons_tres",
        description="how ends of running jobs are predicted: in groups (cons_tres, cons_res), or one"
        " by one (linear); 22.05: with linear, what a backfill pass has started is not in"
        " its plan; where jobs share nodes, not linear",
    )
    SelectTypeParameters: Select = Field(
        default=(),
        description="where jobs share nodes, which of their resources are allocated: CR_Core or"
        " CR_CPU, CR_Socket, each with _Memory, and CR_LLN; by default cores, and memory"
        " if any job of the trace asks for it (ours); CR_Pack_Nodes changes no start",
    )
    DefMemPerCPU: Count = Field(
        default=0, description="memory per core of a job that asks for none, MB; 0: all memory of its nodes"
    )
    DefMemPerNode: Count = Field(default=0, description="memory per node of a job that asks for none, MB")
    MaxMemPerCPU: Count = Field(
        default=0,
        description="a job that asks for more memory per core (MB) gets more cores; 0: no limit",
    )
    DefCpuPerGPU: Count = Field(default=0, description="cores per GPU of a job that does not state them")
    DefMemPerGPU: Count = Field(default=0, description="memory per GPU of a job that asks for none, MB")

    TopologyPlugin: Annotated[str, choice(BY_SYSTEM, "topology/none", "topology/tree", "topology/block")] = (
        Field(
            default=BY_SYSTEM,
            description="whether nodes are chosen by their location: by_system: if the system has a"
            " topology, by its type (ours); topology/none: they are not",
        )
    )
    TopologyParam: TopologyWords = Field(
        default=(),
        description="TopoOptional: by location only for jobs that ask for a number of switches; Dragonfly:"
        " a job that no leaf holds has nodes of all leaves in turn",
    )
    max_switch_wait: Count = Field(
        default=300,
        description="longest time that a job waits for the number of switches it asks for",
    )

    # power saving
    SuspendTime: Suspension = Field(
        default=None,
        description="idle time after which a node is powered down; UNLIMITED or -1: as"
        " energy.idle_off of the models says, without that never (ours)",
    )
    SuspendTimeout: OptionalUnits = Field(
        default=None,
        description="time for which no job can have a node that powers down; by default 30, or the"
        " time in the power profile if that is longer (ours)",
    )
    ResumeTimeout: OptionalUnits = Field(
        default=None,
        description="longest time a node may take to boot; without a power profile every boot takes"
        " this long (ours); by default 60, or the time in the profile (ours)",
    )
    SuspendRate: Count = Field(
        default=60, description="nodes powered down per minute, approximately; 0: any number"
    )
    ResumeRate: Count = Field(
        default=300, description="nodes booted per minute, approximately; 0: any number"
    )
    SuspendExcNodes: NodeLists = Field(
        default=(),
        description="nodes that stay on, by number in their module, as main[0-9]; main[0-9]:4: four"
        " idle ones of these",
    )
    SuspendExcParts: NameList = Field(default=(), description="partitions whose nodes stay on")
    power_save_interval: Annotated[int, whole(1)] = Field(
        default=10,
        description="time between two checks of the power saving thread while no node changes; after"
        " a change the next is a second later",
    )

    # the main scheduler
    sched_interval: OptionalPeriod = Field(
        default=60, description="time between two passes over the whole queue; -1: no such passes"
    )
    sched_min_interval: Count = Field(
        default=2, description="shortest time between two passes, microseconds; only whole seconds count"
    )
    batch_sched_delay: Seconds = Field(
        default=3, description="time from one pass to the next one that an event requests"
    )
    default_queue_depth: Count = Field(
        default=100, description="a pass that an event requests tries this number of jobs, and one more"
    )
    partition_job_depth: Count = Field(
        default=0, description="jobs of one partition tried in a pass; 0: no limit"
    )
    defer: Flag = Field(
        default=False,
        description="the main scheduler makes no pass at once when nodes are clean of a killed job, or an"
        " epilog is over; 19.05: nor at the end of a job, as in 22.05",
    )

    # the backfill scheduler
    bf_interval: OptionalPeriod = Field(
        default=30,
        description="time from one backfill pass to the next; -1: no backfill passes; 0: one at every"
        " instant (ours)",
    )
    bf_max_job_test: OptionalUnits = Field(default=None, description="jobs tested in a pass before it ends")
    bf_node_space_size: OptionalUnits = Field(
        default=None,
        description="records of the plan at which the pass ends; by default as bf_max_job_test",
    )
    bf_max_job_part: Count = Field(default=0, description="jobs tried of one partition; 0: no limit")
    bf_max_job_user: Count = Field(default=0, description="jobs tried of one user; 0: no limit")
    bf_max_job_user_part: Count = Field(
        default=0, description="jobs tried of one user in one partition; 0: no limit"
    )
    bf_max_job_start: Count = Field(
        default=0, description="jobs started in a pass before it ends; 0: no limit"
    )
    bf_max_job_array_resv: Count = Field(
        default=20, description="tasks of an array that may reserve in a pass"
    )
    bf_window: Annotated[int, whole(1)] = Field(default=1440, description="how far ahead to plan")
    bf_window_linear: Count = Field(
        default=0,
        description="cons_tres: how much wider each group of planned ends is than the one before; 0:"
        " twice as wide",
    )
    bf_resolution: Annotated[int, whole(1, 3600)] = Field(
        default=60, description="reservations are rounded down to multiples of this, counted from the epoch"
    )
    bf_min_age_reserve: Seconds = Field(
        default=0, description="how long a job must be eligible before it reserves, or blocks its partition"
    )
    bf_min_prio_reserve: Priority = Field(
        default=0, description="lowest priority with which a job reserves, or blocks its partition"
    )
    bf_job_part_count_reserve: Count = Field(
        default=0, description="jobs of a partition that reserve; 0: no limit"
    )
    bf_one_resv_per_job: Flag = Field(
        default=False, description="a job that asks for several partitions reserves in the first possible one"
    )
    bf_running_job_reserve: Flag = Field(
        default=False,
        description="cons_tres: jobs that run on whole nodes, and may not be preempted, are in the plan until"
        " their limits",
    )

    # dependencies and limits
    kill_invalid_depend: Flag = Field(
        default=False, description="cancel jobs whose dependency can never be satisfied"
    )
    EnforcePartLimits: Annotated[str, choice("NO", "ANY", "ALL")] = Field(
        default="NO",
        description="a job beyond the limits of its partitions is rejected if it exceeds those of all"
        " of them (ANY) or of any of them (ALL); NO: it waits for ever",
    )
    assoc_limit_stop: Flag = Field(
        default=False,
        description="a job that waits for a limit of a QOS or an association blocks the jobs behind it",
    )
    OverTimeLimit: Count = Field(
        default=0, description="how long a job may run past its limit; plans do not include it"
    )
    KillWait: Seconds = Field(
        default=30, description="how long a job that is killed keeps its nodes: from SIGTERM to SIGKILL"
    )

    # preemption
    PreemptType: Annotated[str, choice("preempt/none", "preempt/partition_prio", "preempt/qos")] = Field(
        default="preempt/none",
        description="no preemption, or of jobs in partitions of a lower tier, or of jobs of the QOS"
        " that Preempt of a QOS lists",
    )
    PreemptMode: Annotated[str, choice("OFF", "REQUEUE", "CANCEL", SUSPEND, GANG)] = Field(
        default="OFF",
        description="what happens to a job that is preempted; with GANG jobs on the same cores take turns",
    )
    SchedulerTimeSlice: Annotated[int, whole(5, 65535)] = Field(
        default=30, description="how long a turn lasts, with GANG"
    )
    PreemptExemptTime: Seconds = Field(
        default=0, description="how long a job must have run before it may be preempted"
    )
    cred_expire: OptionalSeconds = Field(
        default=None,
        description="of AuthInfo: how long a credential is valid; a requeued job waits a second more;"
        " by default 120, in 19.05 1200",
    )
    requeue_delay: OptionalSeconds = Field(
        default=None,
        description="since 25.11, for requeued jobs in place of cred_expire, which is the default",
    )
    JobRequeue: Flag = Field(default=True, description="whether a job that does not state it may be requeued")
    preempt_youngest_first: Flag = Field(
        default=False, description="the job that started last is preempted first, not the smallest one"
    )
    preempt_strict_order: Flag = Field(
        default=False,
        description="of the candidates for preemption only the last one needed is moved to the front",
    )
    preempt_reorder_count: Count = Field(
        default=1, description="how often the candidates for preemption are reordered"
    )
    MessageTimeout: Seconds = Field(
        default=10, description="for KillWait + this time no more jobs are preempted for the same job"
    )

    # priorities
    PriorityType: Annotated[str, choice("priority/basic", "priority/multifactor")] = Field(
        default="priority/basic",
        description="priorities in order of submission (basic), or by factors (multifactor)",
    )
    PriorityFlags: Flags = Field(default=(), description="flags that change how factors are computed")
    PriorityMaxAge: Duration = Field(default=7 * 86400, description="age at which the age factor is 1")
    PriorityCalcPeriod: Period = Field(
        default=300, description="time from one computation of priorities to the next"
    )
    PriorityDecayHalfLife: HalfLife = Field(
        default=7 * 86400, description="half-life of usage; 0: usage does not decay"
    )
    PriorityUsageResetPeriod: Annotated[
        str, choice("NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY")
    ] = Field(default="NONE", description="when usage is reset, in UTC, on the clock of the epoch")
    PriorityFavorSmall: Flag = Field(default=False, description="small jobs have the larger size factor")
    PriorityWeightAge: Count = Field(default=0, description="weight of the age factor")
    PriorityWeightAssoc: Count = Field(default=0, description="weight of the association factor")
    PriorityWeightFairshare: Count = Field(default=0, description="weight of the fair-share factor")
    PriorityWeightJobSize: Count = Field(default=0, description="weight of the job size factor")
    PriorityWeightPartition: Count = Field(default=0, description="weight of the partition factor")
    PriorityWeightQOS: Count = Field(default=0, description="weight of the QOS factor")
    PriorityWeightTRES: Weights = Field(default={}, description="weights of resources, by name")
    FairShareDampeningFactor: Annotated[int, whole(1)] = Field(
        default=1, description="classic fair share: the usage is divided by it"
    )
    AccountingStorageType: Annotated[
        str, choice("accounting_storage/slurmdbd", "accounting_storage/none")
    ] = Field(
        default="accounting_storage/slurmdbd",
        description="accounting_storage/none, Slurm's own default: the weights of age and fair share"
        " are ignored",
    )
    AccountingStorageEnforce: Enforced = Field(
        default=("limits",),
        description="with associations or all, jobs of users whom no account lists are rejected, if accounts"
        " list any; with limits, safe or all, usage is charged at each computation and at each end;"
        " otherwise, as with Slurm's own default, what a job used since the last"
        " computation is lost when it ends, and limits of QOS and associations have no"
        " effect",
    )
    accounts: dict[str, AccountKeys] = Field(
        default={},
        description="accounts and users with their shares; without them all users are equal. Slurm's"
        " own user `root` is always there (ours)",
    )
    qos: dict[Name, QosKeys] = Field(
        default={}, description="QOS by name: a priority, or a mapping that may also have limits (ours)"
    )

    # the daemon, and rules that can be switched off
    clock: Annotated[str, choice("daemon", "simulator")] = Field(
        default="daemon",
        description="simulator: the clock of the DEEP-EST Slurm simulator, with a step each second;"
        " heterogeneous jobs then end with their longest component (ours)",
    )
    epoch: Seconds = Field(
        default=0,
        description="second 0 of the trace in seconds since the epoch, from which bf_resolution and"
        " the groups of planned ends are counted (ours)",
    )
    latency: Annotated[str, choice("none", "measured")] = Field(
        default="none", description="latencies of the daemon: none, or as measured on 22.05 (ours)"
    )
    epilog_s: OptionalSeconds = Field(
        default=None,
        description="time from the end of a job until its nodes are idle; by default as latency says (ours)",
    )
    launch_s: OptionalSeconds = Field(
        default=None,
        description="time from a start by the backfill scheduler to the first second of the run time;"
        " by default as latency says, 0 with looks_first: backfill (ours)",
    )
    killed_epilog_s: OptionalSeconds = Field(
        default=None,
        description="time from the end of KillWait until the nodes of the killed job are idle (ours)",
    )
    killed_epilog_ms: Annotated[int | None, whole(0, 999)] = Field(
        default=None,
        description="further time until these nodes are idle; it adds up over several kills to whole"
        " seconds; by default as latency says (ours)",
    )
    script_alone: Flag = Field(
        default=False,
        description="jobs are batch scripts without steps: the nodes of a killed job but its first are"
        " idle at once (ours)",
    )
    main_wait_ms: Annotated[int | None, whole(0, 1000)] = Field(
        default=None,
        description="mean time from the end of a job to the next check of the main scheduler; it adds"
        " up over several ends to whole seconds; by default as latency says (ours)",
    )
    limit_check_s: Annotated[int, whole(1)] = Field(
        default=30, description="time between two checks for jobs past their limit (ours; fixed in Slurm)"
    )
    starts_before_s: Seconds = Field(
        default=3600,
        description="how long before the first submission the daemon started; its timers count from"
        " there (ours)",
    )
    looks_first: Annotated[str, choice("main", "backfill")] = Field(
        default="main",
        description="which scheduler runs first within a second, in a daemon a matter of chance; with"
        " backfill, that one does not see the ends of the same second (ours)",
    )
    requeue_delay_s: OptionalSeconds = Field(
        default=None,
        description="time until a requeued job is eligible; by default a second more than requeue_delay, else"
        " than cred_expire (ours)",
    )
    fixed_nodes: Flag = Field(
        default=True, description="false: reservations hold numbers of nodes, not certain nodes (ours)"
    )
    inclusive_end: Flag = Field(
        default=True, description="false: a job may end in the second in which a reservation begins (ours)"
    )
    grouped_ends: Flag = Field(
        default=True, description="false: cons_tres predicts each end on its own, as linear does (ours)"
    )
    accelerate: Flag = Field(
        default=True,
        description="false: no shortcuts for speed: passes that can change nothing are made, too, and"
        " each try examines all nodes anew; the schedule is the same (ours)",
    )

    def to_dict(self) -> dict[str, Any]:
        """Return every key with its value, as a file would have it."""
        kept = self.model_dump(mode="json")
        unlimited = (name for name, info in SlurmKeys.model_fields.items() if info.default is not None)
        return kept | {name: "UNLIMITED" for name in unlimited if kept[name] is None}

    @property
    def charges_ends(self) -> bool:
        """Whether Slurm charges what a job has used when it ends, too."""
        return not set(WITH_LIMITS).isdisjoint(self.AccountingStorageEnforce)

    @property
    def enforces_associations(self) -> bool:
        """Whether jobs of users in no association are rejected."""
        return not {"associations", "all"}.isdisjoint(self.AccountingStorageEnforce)

    @property
    def preempts(self) -> bool:
        """Whether jobs are preempted."""
        return self.PreemptType != "preempt/none" and self.PreemptMode not in ("OFF", GANG)

    @property
    def suspends(self) -> bool:
        """Whether they are suspended, and go on later."""
        return self.preempts and self.PreemptMode == SUSPEND

    @property
    def gangs(self) -> bool:
        """Whether jobs that have the same cores take turns."""
        return self.suspends or self.PreemptMode == GANG

    @property
    def accelerates(self) -> bool:
        """Whether what is there for speed alone is there: it knows not all rules."""
        return self.accelerate and not (
            self.preempts or self.gangs or self.reserves_running or self.looks_at_shares
        )

    @property
    def looks_at_shares(self) -> bool:
        """Whether a QOS asks for a least fair share."""
        return any(one.least_share > 0 for one in self.qos.values())

    def differs(self, name: str) -> bool:
        """Return whether a difference between releases holds in this one."""
        return holds_in(name, self.version)

    @property
    def tells_nodes_apart(self) -> bool:
        """Whether all nodes are those of select/cons_tres, also where each job has its nodes to itself.

        So it is since 23.02; up to 22.05 whole nodes have rules of their own, which come to the same.
        """
        newer = self.version not in ("22.05", "19.05")
        return newer and self.SelectType != "select/linear" and self.clock == "daemon"

    def older_rules(self) -> Iterator[tuple[str, object, str]]:
        """Yield each key by which an older rule holds: its name, what is found, what newer rules need."""
        if not self.differs("aligned"):
            yield "version", self.version, "22.05 or later"
        for name in ("fixed_nodes", "grouped_ends"):
            if not getattr(self, name):
                yield name, False, "True"

    @property
    def plans_started(self) -> bool:
        """Whether what starts on whole nodes stands in the plan: not in 19.05, nor with select/linear."""
        return self.differs("plans_started") and self.SelectType != "select/linear"

    @property
    def reserves_running(self) -> bool:
        """Whether what has started before does so, too."""
        return self.bf_running_job_reserve and self.plans_started and self.fixed_nodes

    def settled(self, name: str) -> Any:
        """Return the value of a key, its default by version and latency filled in."""
        value = getattr(self, name)
        if value is not None:
            return value
        if name == "bf_node_space_size":
            return self.settled("bf_max_job_test")
        if name == "launch_s" and self.looks_first == "backfill":
            return 0
        if name == "requeue_delay_s":
            read = "requeue_delay" if self.differs("requeue_delay_read") else "cred_expire"
            return self.settled(read) + 1
        if name == "requeue_delay":
            return self.settled("cred_expire")
        by_version = OF_19_05 if self.version == "19.05" else OF_VERSION
        return {**by_version, **LATENCIES[self.latency], **OF_POWER_SAVING}[name]


def contradictions(data: dict[str, Any]) -> Iterator[Problem]:
    """Check what no single key can tell, and say of unknown ones what Slurm has them for."""
    for key in data:
        if key not in SlurmKeys.model_fields:
            yield Problem((str(key),), _unknown(str(key)))
    flags = str(data.get("PriorityFlags", "")).upper()
    if "NO_FAIR_TREE" in flags and re.search(r"(?<!NO_)FAIR_TREE", flags):
        yield Problem(("PriorityFlags",), f"{found(data['PriorityFlags'])}; allowed: one of the two")
    if (
        data.get("PriorityWeightTRES")
        and str(data.get("PriorityType", "priority/basic")).lower() == "priority/basic"
    ):
        text = f"{found(data['PriorityWeightTRES'])}; allowed: only with PriorityType: priority/multifactor"
        yield Problem(("PriorityWeightTRES",), text)


def _unknown(key: str) -> str:
    """Say that a key is unknown here, or of one of Slurm's why it is not needed."""
    why = why_ignored("parameter" if key == key.lower() else "top", key)
    if why == NOT_MODELLED:
        return "a parameter of Slurm that is not modelled; allowed: to leave it out"
    if why != OUTSIDE and not why.startswith(MISSPELT):
        effect = "changes nothing here" if why in HARMLESS else "is not modelled"
        return f"a parameter of Slurm that {effect}: {why}; allowed: to leave it out"
    hint = did_you_mean(key[:80], (*SlurmKeys.model_fields, *PARAMETERS))
    return f"unknown key; allowed: those of docs/reference/slurm.md{hint}"
