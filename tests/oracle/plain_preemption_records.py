"""What the plain model of Slurm is told of preemption; seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

OFF, REQUEUE, CANCEL, SUSPEND = "OFF", "REQUEUE", "CANCEL", "SUSPEND"
PREEMPTED = "PREEMPTED"

PARTITION_PRIO, QOS = "preempt/partition_prio", "preempt/qos"


@dataclass
class Preemptable:
    """How the jobs of a partition or a QOS are preempted."""

    mode: str = ""  # "": the cluster's
    grace: int = 0
    exempt: int | None = None  # QOS; None: the cluster's


@dataclass
class PreemptQos(Preemptable):
    """A QOS."""

    priority: int = 0
    preempts: tuple[str, ...] = ()
    within: bool = False  # flag WITHIN: those of the same QOS that are lower


@dataclass
class PreemptRules:
    """slurm.conf's keys, and those of partitions and QOS by name."""

    kind: str = PARTITION_PRIO
    mode: str = REQUEUE
    exempt: int = 0  # PreemptExemptTime
    youngest_first: bool = False
    strict_order: bool = False
    reorder_count: int = 1
    message_timeout: int = 10
    partitions: dict[str, Preemptable] = field(default_factory=dict)
    qos: dict[str, PreemptQos] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """A run of a job that is over."""

    id: int
    start: int
    end: int
    nodes: frozenset[int]
    why: str  # as its state, PREEMPTED also of one that was requeued
