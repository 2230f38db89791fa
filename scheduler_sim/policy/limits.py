"""Limits of QOS and associations, by sacctmgr's own names, and what else a QOS is.

A resource is called as in Slurm: ``cpu``, ``mem`` (MB), ``node``, ``billing``, ``gres/gpu``,
``gres/gpu:a100``, ``license/matlab``. Times are minutes, as Slurm counts them in limits.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, Count, Name, choice, duration, whole
from scheduler_sim.numerals import finite, is_digits
from scheduler_sim.units import MINUTE

MOST_AMOUNT = 10**15
_RESOURCE = re.compile(r"cpu|mem|node|billing|(gres|license)/[A-Za-z0-9_.:-]+")
_SIZES = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}

PREEMPT_MODES = ("OFF", "CANCEL", "REQUEUE", "SUSPEND", "GANG")
"""What sacctmgr knows; jobs are cancelled or requeued here."""

LIFTING = ("PartitionMaxNodes", "PartitionMinNodes", "PartitionTimeLimit")
"""Flags of a QOS that lift a limit of its jobs' partitions: MaxNodes, MinNodes, MaxTime."""

ALWAYS = ("EnforceUsageThreshold", "NoReserve", "RequiresReservation")
"""Flags of a QOS that count whether limits are enforced or not."""

FLAGS = ("DenyOnLimit", "NoDecay", "OverPartQOS", *LIFTING, "UsageFactorSafe", *ALWAYS)
"""Flags of a QOS that are modelled."""


def _amounts(written: Any) -> dict[str, int]:
    """``cpu=64,mem=100G`` or a mapping; resources without a limit (-1) are left out."""
    if isinstance(written, str):
        written = dict(part.split("=", 1) for part in written.replace(" ", "").split(",") if part)
    amounts = {str(name).lower(): _amount(str(name).lower(), value) for name, value in written.items()}
    if any(not _RESOURCE.fullmatch(name) for name in amounts):
        raise ValueError
    return {name: value for name, value in amounts.items() if value >= 0}


def _amount(name: str, written: Any) -> int:
    if isinstance(written, bool):
        raise ValueError
    text = str(written).strip().upper()
    factor = _SIZES[text[-1]] if name == "mem" and text[-1:] in _SIZES else 1
    value = finite(text[:-1] if factor != 1 or text[-1:] == "M" else text) * factor
    if not -1 <= value <= MOST_AMOUNT or (value != int(value) and name != "mem"):
        raise ValueError
    return int(value)


def _minutes(written: Any) -> int | None:
    if isinstance(written, str) and not is_digits(written.strip()):
        seconds = duration(written)
        return None if seconds is None else seconds // MINUTE
    if isinstance(written, bool) or int(written) != float(written) or int(written) < 0:
        raise ValueError
    return int(written)


def _qos_flags(written: Any) -> tuple[str, ...]:
    words = written.replace(" ", "").split(",") if isinstance(written, str) else list(written)
    by_lower = {word.lower(): word for word in FLAGS}
    return tuple(dict.fromkeys(by_lower[str(word).lower()] for word in words if word))


def _factor(written: Any) -> float:
    value = float(written)
    if isinstance(written, bool) or not 0 <= value <= MOST_AMOUNT:
        raise ValueError
    return value


Resources = Annotated[
    dict[str, int],
    BeforeValidator(
        Check(
            "amounts of cpu, mem (MB), node, billing, gres/NAME or license/NAME, such as cpu=64,gres/gpu=4",
            _amounts,
        )
    ),
]
Number = Annotated[int | None, whole(0)]
Minutes = Annotated[
    int | None,
    BeforeValidator(Check("minutes (an integer >= 0), or 90m, 24h, 12:00:00, 2-00:00:00", _minutes)),
]
Factor = Annotated[float, BeforeValidator(Check("a number >= 0", _factor))]
QosFlags = Annotated[
    tuple[str, ...], BeforeValidator(Check(f"a list of {', '.join(FLAGS)}", _qos_flags, FLAGS))
]


RUN_MINUTES_OF_EACH = ("MaxTRESRunMinsPerAccount", "MaxTRESRunMinsPerUser")
"""Limits of a QOS that Slurm enforces since 24.05."""


class LimitKeys(Keys):
    """Limits that a QOS and an association may have. What is not there is not limited."""

    GrpTRES: Resources = Field(default={}, description="resources in use by all of its jobs together")
    GrpTRESMins: Resources = Field(
        default={}, description="resource-minutes used by all of its jobs, including running ones, decayed"
    )
    GrpTRESRunMins: Resources = Field(
        default={}, description="resource-minutes that all of its running jobs may still use by their limits"
    )
    GrpJobs: Number = Field(default=None, description="jobs that run at once")
    GrpSubmitJobs: Number = Field(default=None, description="jobs that wait or run at once")
    GrpJobsAccrue: Number = Field(
        default=None, description="jobs that wait and accrue age at once; the age of the others is 0"
    )
    GrpWall: Minutes = Field(default=None, description="run time of all of its jobs, decayed")
    MaxTRESPerJob: Resources = Field(default={}, description="resources of a job")
    MaxTRESPerNode: Resources = Field(
        default={}, description="resources of a job on each of its nodes, on average"
    )
    MaxTRESMinsPerJob: Resources = Field(default={}, description="resource-minutes of a job by its limit")
    MaxWall: Minutes = Field(
        default=None, description="time limit of a job; a job that asks for none gets this one"
    )
    MinPrioThreshold: Number = Field(
        default=None,
        description="lowest priority with which a job reserves, or blocks its partition, instead of"
        " bf_min_prio_reserve",
    )

    @model_serializer(mode="wrap")
    def _what_is_said(self, dump: SerializerFunctionWrapHandler) -> Any:
        """As a file would have it: of some thirty keys few are there."""
        return {name: value for name, value in dump(self).items() if name in self.model_fields_set}


class AssociationLimits(LimitKeys):
    """Limits of an account or a user; those of accounts count for all that is inside them."""

    MaxJobs: Number = Field(default=None, description="jobs of a user that run at once")
    MaxSubmitJobs: Number = Field(default=None, description="jobs of a user that wait or run at once")
    MaxJobsAccrue: Number = Field(default=None, description="jobs of a user that accrue age at once")


class QosKeys(LimitKeys):
    """A QOS: its priority, its limits, and how it is counted."""

    priority: Count = Field(default=0, description="priority of the QOS, for PriorityWeightQOS")
    MaxTRESPerUser: Resources = Field(default={}, description="resources in use by the jobs of one user")
    MaxTRESPerAccount: Resources = Field(
        default={}, description="resources in use by the jobs of one account"
    )
    MaxTRESRunMinsPerUser: Resources = Field(
        default={},
        description="resource-minutes that the running jobs of one user may still use by their limits;"
        " enforced since 24.05",
    )
    MaxTRESRunMinsPerAccount: Resources = Field(
        default={},
        description="resource-minutes that the running jobs of one account may still use by their limits;"
        " enforced since 24.05",
    )
    MinTRESPerJob: Resources = Field(default={}, description="resources that a job must ask for at least")
    MaxJobsPerUser: Number = Field(default=None, description="jobs of one user that run at once")
    MaxJobsPerAccount: Number = Field(default=None, description="jobs of one account that run at once")
    MaxSubmitJobsPerUser: Number = Field(
        default=None, description="jobs of one user that wait or run at once"
    )
    MaxSubmitJobsPerAccount: Number = Field(
        default=None, description="jobs of one account that wait or run at once"
    )
    MaxJobsAccruePerUser: Number = Field(default=None, description="jobs of one user that accrue age at once")
    MaxJobsAccruePerAccount: Number = Field(
        default=None, description="jobs of one account that accrue age at once"
    )
    UsageFactor: Factor = Field(default=1.0, description="factor for the usage of its jobs")
    UsageThreshold: Annotated[float | None, BeforeValidator(Check("a number >= 0", _factor))] = Field(
        default=None,
        description="with EnforceUsageThreshold, its jobs wait while their fair-share factor, times"
        " PriorityWeightFairshare, is below this",
    )
    LimitFactor: Annotated[float | None, BeforeValidator(Check("a number >= 0", _factor))] = Field(
        default=None, description="factor for GrpTRES and MaxTRESPerJob of associations, for its jobs"
    )
    Preempt: tuple[Name, ...] = Field(
        default=(),
        description="QOS whose jobs may be preempted by jobs of this one, under PreemptType: preempt/qos",
    )
    PreemptMode: Annotated[str, choice("cluster", *PREEMPT_MODES)] = Field(
        default="cluster",
        description="what happens to its jobs when they are preempted: REQUEUE or CANCEL, or as in"
        " policy.slurm (also with OFF, as in Slurm)",
    )
    GraceTime: Count = Field(
        default=0, description="how long its jobs may continue after they are preempted, s"
    )
    PreemptExemptTime: Annotated[int | None, whole(0)] = Field(
        default=None, description="how long its jobs must have run before they may be preempted, s"
    )
    Flags: QosFlags = Field(
        default=(),
        description="DenyOnLimit: a job that can never meet a limit is rejected at submission;"
        " NoDecay: its usage does not decay; OverPartQOS: its limits take precedence over"
        " those of the partition's QOS; PartitionMaxNodes, PartitionMinNodes,"
        " PartitionTimeLimit: MaxNodes, MinNodes or MaxTime of the partition does not"
        " apply to its jobs; UsageFactorSafe: time limits count with the UsageFactor, too; NoReserve: the"
        " backfill scheduler starts its jobs, but plans none for later; RequiresReservation: jobs that name"
        " no advance reservation are rejected; EnforceUsageThreshold: UsageThreshold counts",
    )

    @property
    def least_share(self) -> float:
        """Its jobs wait while their weighted fair share is below this; 0: they do not."""
        return (self.UsageThreshold or 0.0) if "EnforceUsageThreshold" in self.Flags else 0.0

    @model_validator(mode="before")
    @classmethod
    def _priority_alone(cls, data: Any) -> Any:
        """A number is its priority."""
        return {"priority": data} if isinstance(data, int | float | str) else data

    @model_serializer(mode="wrap")
    def _what_is_said(self, dump: SerializerFunctionWrapHandler) -> Any:
        """As a file would have it: its priority alone, or what is said."""
        said = {name: value for name, value in dump(self).items() if name in self.model_fields_set}
        return said["priority"] if set(said) == {"priority"} else said
