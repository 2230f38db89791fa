"""Which limits apply to jobs of an association and a QOS in a partition: Slurm's order, worked out once.

Of each limit, and of each resource of it, the first QOS that sets it counts alone: the partition's, or with
OverPartQOS the job's, then the other. Where neither does the associations' count: the user's own or, of what
a parent hands down, the nearest account's; of groups those of every level up to the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scheduler_sim.engine.rules.slurm.resource_limits import state as kinds
from scheduler_sim.policy.limit_words import BELOW, DENIED, NOT_ALLOWED, word_for
from scheduler_sim.policy.limits import AssociationLimits, LimitKeys, QosKeys
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.policy.slurm_keys import SlurmKeys

BEFORE_OF_QOS = (
    ("GrpJobs", kinds.GRP_JOBS, ""),
    ("GrpWall", kinds.GRP_WALL, ""),
    ("MaxJobsPerAccount", kinds.MAX_JOBS, "account"),
    ("MaxJobsPerUser", kinds.MAX_JOBS, "user"),
    ("MaxWall", kinds.MAX_WALL, ""),
)
BEFORE_OF_ASSOCIATIONS = (
    ("GrpJobs", kinds.GRP_JOBS, ""),
    ("GrpWall", kinds.GRP_WALL, ""),
    ("MaxJobs", kinds.MAX_JOBS, ""),
    ("MaxWall", kinds.MAX_WALL, ""),
)
AFTER_OF_QOS = (
    ("GrpTRESMins", kinds.GRP_MINUTES, ""),
    ("GrpTRES", kinds.GRP_AMOUNT, ""),
    ("GrpTRESRunMins", kinds.GRP_RUN_MINUTES, ""),
    ("MaxTRESMinsPerJob", kinds.MAX_MINUTES, ""),
    ("MaxTRESPerJob", kinds.MAX_AMOUNT, ""),
    ("MaxTRESPerNode", kinds.MAX_PER_NODE, ""),
    ("MinTRESPerJob", kinds.MIN_AMOUNT, ""),
    ("MaxTRESPerAccount", kinds.GRP_AMOUNT, "account"),
    ("MaxTRESPerUser", kinds.GRP_AMOUNT, "user"),
    ("MaxTRESRunMinsPerAccount", kinds.GRP_RUN_MINUTES, "account"),
    ("MaxTRESRunMinsPerUser", kinds.GRP_RUN_MINUTES, "user"),
)
AFTER_OF_ASSOCIATIONS = AFTER_OF_QOS[:6]
SUBMIT_OF_QOS = (
    ("GrpSubmitJobs", kinds.SUBMIT, ""),
    ("MaxSubmitJobsPerAccount", kinds.SUBMIT, "account"),
    ("MaxSubmitJobsPerUser", kinds.SUBMIT, "user"),
)
SUBMIT_OF_ASSOCIATIONS = (("GrpSubmitJobs", kinds.SUBMIT, ""), ("MaxSubmitJobs", kinds.SUBMIT, ""))
"""Limits in the order in which Slurm tests them: key, kind, and whose jobs of a QOS it counts."""

ACCRUAL_OF_QOS = (
    ("GrpJobsAccrue", ""),
    ("MaxJobsAccruePerAccount", "account"),
    ("MaxJobsAccruePerUser", "user"),
)
ACCRUAL = {"MaxJobsAccrue", *(key for key, _ in ACCRUAL_OF_QOS)}
"""Limits of jobs that accrue age: of the job's own QOS, and of associations."""

NODE_CAPS = ("MaxTRESPerAccount", "MaxTRESPerJob", "MaxTRESPerUser", "GrpTRES")
"""Limits of nodes that bound what a job may ask for at all, in Slurm's order."""

COUNTED_NODES = {"GrpTRES": "", "MaxTRESPerUser": "user", "MaxTRESPerAccount": "account"}
"""Limits for which nodes are counted, and whose."""

ALONE = (kinds.MAX_WALL, kinds.MAX_MINUTES, kinds.MAX_AMOUNT, kinds.MAX_PER_NODE, kinds.MIN_AMOUNT)
"""Kinds of limits of a job by itself: nothing counts against them."""

OF_MINUTES = (kinds.GRP_WALL, kinds.GRP_MINUTES, kinds.GRP_RUN_MINUTES)
HIDING = {
    "MaxJobs": ("MaxJobsPerUser", "MaxJobsPerAccount"),
    "MaxSubmitJobs": ("MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount"),
}
"""Limits of a QOS that go before those of associations by another name."""

SCALED = ("GrpTRES", "MaxTRESPerJob")
"""Limits of associations that LimitFactor multiplies."""

Counts = tuple[str, int | str, str]
"""What counts together: of a QOS, of a QOS and a user or account by name, or of an association by its row."""


class Found(NamedTuple):
    """A limit that applies."""

    kind: int
    counter: int
    resource: int
    most: int
    reason: int
    group: bool
    qos: int


class Made(NamedTuple):
    """A standing, with rows of the limits and counters that it lists."""

    before: list[Found]
    after: list[Found]
    at_submission: list[Found]
    counted: list[int]
    accruing: list[int]
    accrual: tuple[int, int]
    most_nodes: int
    nodes_reason: int
    least_priority: int
    forgoes: bool
    strict: bool
    refused: int
    qos: tuple[int, int]
    least_share: float
    safe_factor: float
    factor: float
    counts_nodes: list[int]


class Standings:
    """Makes standings, and numbers what they refer to; numbers stay what they are when more come.

    Attributes
    ----------
    resources : the resources that some limit names, in Slurm's order
    counters : what counts together, by number
    reasons : Slurm's words, by number; the first is of no limit
    """

    def __init__(
        self,
        qos: Mapping[str, QosKeys],
        resources: tuple[str, ...],
        nodes: int,
        *,
        enforced: bool,
        listed_only: bool,
    ) -> None:
        self._qos, self._names, self._enforced = qos, list(qos), enforced
        self._nodes, self._listed_only = nodes, listed_only
        self.resources = resources
        self.counters: dict[Counts, int] = {}
        self.reasons: dict[str, int] = {"": 0, DENIED: kinds.DENIED, BELOW: kinds.BELOW}

    def make(self, tree: Associations, row: int, own: str, of_partition: str, *, reserved: bool) -> Made:
        """Return the standing of jobs of association ``row`` with a QOS, in a partition with one or none.

        ``reserved``: they name an advance reservation.
        """
        flags = self._qos[own].Flags if own in self._qos else ()
        least = self._qos[own].least_share if own in self._qos else 0.0
        refused, forgoes = "RequiresReservation" in flags and not reserved, "NoReserve" in flags
        if not self._enforced:
            number = self._reason(NOT_ALLOWED if refused else "")
            own_keys = (forgoes, False, number, (-1, -1), least, 1.0, 1.0)
            return Made([], [], [], [], [], (-1, 0), kinds.NO_CAP, 0, -1, *own_keys, [])
        levels = list(_levels(tree, row))
        first = [name for name in (of_partition, own) if name in self._qos]
        if own in self._qos and "OverPartQOS" in self._qos[own].Flags:
            first.reverse()
        names = list(dict.fromkeys(first))
        before = list(self._found(BEFORE_OF_QOS, BEFORE_OF_ASSOCIATIONS, names, tree, levels))
        after = list(self._found(AFTER_OF_QOS, AFTER_OF_ASSOCIATIONS, names, tree, levels))
        submit = list(self._found(SUBMIT_OF_QOS, SUBMIT_OF_ASSOCIATIONS, names, tree, levels))
        nodes, word = self._node_cap(names, tree, levels)
        keys = [self._qos[name] for name in names]
        factor = self._qos[own].UsageFactor if own in self._qos else 1.0
        safe = own in self._qos and "UsageFactorSafe" in self._qos[own].Flags
        numbers = [self._names.index(name) for name in names]
        return Made(
            before,
            after,
            submit,
            self._counted(names, tree, levels),
            list(self._accruing(own, tree, levels)),
            self._accrual(own, tree, levels),
            nodes,
            self._reason(word),
            self._least_priority(keys, tree, levels),
            forgoes,
            any("DenyOnLimit" in one.Flags for one in keys),
            self._reason(NOT_ALLOWED if refused or not self._may_have(tree, levels, own) else ""),
            (numbers[0] if numbers else -1, numbers[1] if len(numbers) > 1 else -1),
            least,
            factor if safe else 1.0,
            factor,
            list(self._counts_nodes(names, tree, levels)),
        )

    def _found(
        self,
        of_qos: tuple[tuple[str, int, str], ...],
        of_associations: tuple[tuple[str, int, str], ...],
        names: list[str],
        tree: Associations,
        levels: list[int],
    ) -> Iterator[Found]:
        set_by_qos: set[tuple[str, str]] = set()
        user, account = _who(tree, levels)
        for name in names:
            mine: set[tuple[str, str]] = set()
            for key, kind, by in of_qos:
                for resource, most in _amounts(self._qos[name], key):
                    mine.add((key, resource))
                    if (key, resource) not in set_by_qos:
                        whose = {"": "", "user": user, "account": account}[by]
                        counts: Counts = (name, by, whose)
                        yield self._limit(key, kind, resource, most, counts, self._names.index(name))
            set_by_qos |= mine
        factor = self._limit_factor(names)
        for level, row in enumerate(levels):
            for key, kind, _ in of_associations:
                if level and not key.startswith("Grp"):
                    continue
                for resource, most in self._of_level(tree, levels, level, key):
                    hidden = ((key, resource), *((other, resource) for other in HIDING.get(key, ())))
                    if set_by_qos.isdisjoint(hidden):
                        most = int(most * factor) if key in SCALED else most
                        yield self._limit(key, kind, resource, most, ("", row, ""), -1)

    def _limit(self, key: str, kind: int, resource: str, most: int, counts: Counts, qos: int) -> Found:
        counter = -1 if kind in ALONE else self.counters.setdefault(counts, len(self.counters))
        number = self.resources.index(resource) if resource else kinds.NO_RESOURCE
        reason = self._reason(word_for(key, resource, qos=qos >= 0))
        return Found(kind, counter, number, most, reason, qos >= 0 and key.startswith("Grp"), qos)

    def _of_level(
        self, tree: Associations, levels: list[int], level: int, key: str
    ) -> Iterator[tuple[str, int]]:
        """What an association says; of what is handed down, what the nearest says that says anything."""
        if key.startswith("Grp"):
            yield from _amounts(tree.keys[levels[level]].limits, key)
            return
        told: set[str] = set()
        for row in levels:
            for resource, most in _amounts(tree.keys[row].limits, key):
                if resource not in told:
                    told.add(resource)
                    yield resource, most

    def _node_cap(self, names: list[str], tree: Associations, levels: list[int]) -> tuple[int, str]:
        """More nodes than this are never allowed at once, and the word for that."""
        most, word, said = kinds.NO_CAP, "", dict[str, int]()
        for key in NODE_CAPS:
            values = [getattr(self._qos[name], key).get("node") for name in names]
            value = next((value for value in values if value is not None), None)
            if value is not None:
                said[key] = value
                if value < most:
                    most, word = value, word_for(key, "node", qos=True)
        factor, by_job = self._limit_factor(names), any(key in said for key in NODE_CAPS[:3])
        for level in range(len(levels)):
            of_group = dict(self._of_level(tree, levels, level, "GrpTRES")).get("node")
            if "GrpTRES" not in said and of_group is not None and int(of_group * factor) < most:
                most, word = int(of_group * factor), word_for("GrpTRES", "node", qos=False)
                found = True
            else:
                found = False
            of_job = dict(self._of_level(tree, levels, level, "MaxTRESPerJob")).get("node")
            if level == 0 and not by_job and of_job is not None and int(of_job * factor) < most:
                most, word = int(of_job * factor), word_for("MaxTRESPerJob", "node", qos=False)
            if found:
                break
        return most, word

    def _counts_nodes(self, names: list[str], tree: Associations, levels: list[int]) -> Iterator[int]:
        """Counters of the limits of nodes that apply, of each kind the first, if there are more nodes."""
        user, account = _who(tree, levels)
        for key, whose in COUNTED_NODES.items():
            found: list[tuple[int, Counts]] = []
            for name in names:
                counts: Counts = (name, whose, {"": "", "user": user, "account": account}[whose])
                found += [(most, counts) for one, most in _amounts(self._qos[name], key) if one == "node"]
            for row in levels if not whose else ():
                said = _amounts(tree.keys[row].limits, key)
                found += [(most, ("", row, "")) for one, most in said if one == "node"]
            if found and found[0][0] < self._nodes:
                yield self.counters.setdefault(found[0][1], len(self.counters))

    def _may_have(self, tree: Associations, levels: list[int], own: str) -> bool:
        """Whether the nearest association that lists QOS has this one, where such lists are enforced."""
        lists = (tree.keys[row].qos for row in levels)
        nearest = next((names for names in lists if names is not None), None)
        return not self._listed_only or nearest is None or own in nearest

    def _limit_factor(self, names: list[str]) -> float:
        factors = (self._qos[name].LimitFactor for name in names)
        return next((factor for factor in factors if factor is not None), 1.0)

    def _least_priority(self, keys: list[QosKeys], tree: Associations, levels: list[int]) -> int:
        said: list[LimitKeys] = [*keys, *(tree.keys[row].limits for row in levels)]
        return next((one.MinPrioThreshold for one in said if one.MinPrioThreshold is not None), -1)

    def _counted(self, names: list[str], tree: Associations, levels: list[int]) -> list[int]:
        """All counters to which its jobs are added, whichever limit applies to them."""
        user, account = _who(tree, levels)
        mine: dict[Counts, None] = {}
        for name in names:
            for key, kind, by in (*BEFORE_OF_QOS, *AFTER_OF_QOS, *SUBMIT_OF_QOS):
                if kind not in ALONE and any(_amounts(self._qos[name], key)):
                    mine[name, by, {"": "", "user": user, "account": account}[by]] = None
        for level, row in enumerate(levels):
            for key, kind, _ in (*BEFORE_OF_ASSOCIATIONS, *AFTER_OF_ASSOCIATIONS, *SUBMIT_OF_ASSOCIATIONS):
                if kind not in ALONE and any(self._of_level(tree, levels, level, key)):
                    mine["", row, ""] = None
        return [self.counters.setdefault(counts, len(self.counters)) for counts in mine]

    def _accruing(self, own: str, tree: Associations, levels: list[int]) -> Iterator[int]:
        """All counters to which its jobs are added while they accrue age."""
        if not limits_accrual(self._qos, tree):
            return
        user, account = _who(tree, levels)
        whose = {"": "", "user": user, "account": account}
        mine: list[Counts] = [(own, by, whose[by]) for _, by in ACCRUAL_OF_QOS if own in self._qos]
        for counts in (*mine, *(("", row, "") for row in levels)):
            yield self.counters.setdefault(counts, len(self.counters))

    def _accrual(self, own: str, tree: Associations, levels: list[int]) -> tuple[int, int]:
        """The counter at which the first limit of those that accrue age looks, -1 without one; its most."""
        user, account = _who(tree, levels)
        whose = {"": "", "user": user, "account": account}
        found: list[tuple[Counts, int | None]] = []
        if own in self._qos:
            found += [((own, by, whose[by]), getattr(self._qos[own], key)) for key, by in ACCRUAL_OF_QOS]
        for level, row in enumerate(levels):
            found.append((("", row, ""), tree.keys[row].limits.GrpJobsAccrue))
            if level == 0:
                handed = (tree.keys[one].limits.MaxJobsAccrue for one in levels)
                found.append((("", row, ""), next((most for most in handed if most is not None), None)))
        counts, most = next(((counts, most) for counts, most in found if most is not None), (None, 0))
        if counts is None:
            return -1, 0
        return self.counters.setdefault(counts, len(self.counters)), most

    def _reason(self, word: str) -> int:
        return self.reasons.setdefault(word, len(self.reasons))


def _levels(tree: Associations, row: int) -> Iterator[int]:
    """An association and all above it."""
    while row >= 0:
        yield row
        row = int(tree.parent[row])


def _who(tree: Associations, levels: list[int]) -> tuple[str, str]:
    """User and account of an association."""
    account = tree.names[levels[1]]
    return tree.names[levels[0]][len(account) + 1 :], account


def _amounts(keys: LimitKeys | AssociationLimits, key: str) -> Iterator[tuple[str, int]]:
    """What a limit says, by resource; without one for jobs and times."""
    value = getattr(keys, key)
    if isinstance(value, dict):
        yield from value.items()
    elif value is not None:
        yield "", value


def resources_named(qos: Mapping[str, QosKeys], tree: Associations) -> tuple[str, ...]:
    """Return the resources that any limit names, in the order of their ids in Slurm."""
    said = [*qos.values(), *(keys.limits for keys in tree.keys)]
    fields = (getattr(one, name) for one in said for name in one.model_fields_set)
    named = {resource for field in fields if isinstance(field, dict) for resource in field}
    first = ("cpu", "mem", "node", "billing")
    return (*(name for name in first if name in named), *sorted(named.difference(first)))


def limits_accrual(qos: Mapping[str, QosKeys], tree: Associations) -> bool:
    """Tell whether it is limited how many jobs accrue age."""
    said = [*qos.values(), *(keys.limits for keys in tree.keys)]
    return any(not ACCRUAL.isdisjoint(one.model_fields_set) for one in said)


def accrues_limited(keys: SlurmKeys) -> bool:
    """Tell whether it is limited how many jobs accrue age, and age counts."""
    ages = keys.PriorityType == "priority/multifactor" and "ACCRUE_ALWAYS" not in keys.PriorityFlags
    return ages and keys.charges_ends and limits_accrual(keys.qos, associations(keys.accounts, (), ()))


def limits_nodes(qos: Mapping[str, QosKeys], tree: Associations, nodes: int) -> bool:
    """Tell whether a limit counts nodes, and is less than there are."""
    said = [getattr(one, key) for one in qos.values() for key in COUNTED_NODES]
    said += [keys.limits.GrpTRES for keys in tree.keys]
    return any(one.get("node", nodes) < nodes for one in said)


def any_limits(qos: Mapping[str, QosKeys], tree: Associations, *, listed_only: bool) -> bool:
    """Tell whether anything at all is limited; ``listed_only``: lists of QOS are limits, too."""
    if listed_only and any(keys.qos is not None for keys in tree.keys):
        return True
    told = {"priority", "UsageFactor", "UsageThreshold", "LimitFactor", "Flags"}
    told |= {"Preempt", "PreemptMode", "PreemptExemptTime"}
    return any(one.model_fields_set - told for one in qos.values()) or any(
        keys.limits.model_fields_set for keys in tree.keys
    )
