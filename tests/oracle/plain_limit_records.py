"""What the plain model of Slurm is told of its accounting database: associations, QOS, and their limits."""

from __future__ import annotations

from dataclasses import dataclass, field

Tres = dict[str, int]


@dataclass
class Limits:
    """Of an association or a QOS; None and absent resources: no limit. Minutes, resources by name."""

    grp_jobs: int | None = None
    grp_submit: int | None = None
    grp_wall: int | None = None
    grp_tres: Tres = field(default_factory=dict)
    grp_tres_mins: Tres = field(default_factory=dict)
    grp_tres_run_mins: Tres = field(default_factory=dict)
    max_jobs: int | None = None  # associations
    max_jobs_pu: int | None = None  # QOS
    max_jobs_pa: int | None = None
    max_submit: int | None = None
    max_submit_pu: int | None = None
    max_submit_pa: int | None = None
    grp_accrue: int | None = None  # jobs that wait and accrue age
    max_accrue: int | None = None  # associations
    max_accrue_pu: int | None = None  # QOS
    max_accrue_pa: int | None = None
    max_wall: int | None = None
    max_tres: Tres = field(default_factory=dict)
    max_tres_mins: Tres = field(default_factory=dict)
    max_tres_pu: Tres = field(default_factory=dict)
    max_tres_pa: Tres = field(default_factory=dict)
    min_tres: Tres = field(default_factory=dict)
    factor: float = 1.0  # UsageFactor of a QOS
    flags: tuple[str, ...] = ()

    def of(self, kind: str, resource: str = "") -> int | None:
        """One of them."""
        value = getattr(self, kind)
        return value.get(resource) if resource else value


@dataclass
class Association:
    """An account, or a user in an account."""

    parent: str  # "" of the root
    limits: Limits = field(default_factory=Limits)
    default_qos: str = ""


@dataclass
class Database:
    """What slurmctld has from slurmdbd, and how it is enforced."""

    associations: dict[str, Association]  # "account", "account/user"
    qos: dict[str, Limits] = field(default_factory=dict)
    of_partition: dict[str, str] = field(default_factory=dict)  # QOS
    safe: bool = False
    stop: bool = False  # assoc_limit_stop
    decay: float = 1.0  # what is left of usage after a second


@dataclass
class Used:
    """What the jobs of a QOS or an association have used: resource seconds, and seconds."""

    tres: dict[str, float] = field(default_factory=dict)
    wall: float = 0.0


@dataclass(frozen=True)
class Holder:
    """A QOS or an association of a job."""

    word: str  # QOS or Assoc
    name: str
    level: int = 0  # of an association: how far above the user's own
    before: tuple[str, ...] = ()  # QOS whose limits go before its own
