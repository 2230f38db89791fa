"""A wait under policy slurm in Slurm's own words: squeue's reasons, and the nodes in question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scheduler_sim.report.explanation import Reason, Wait
from scheduler_sim.report.reserved_reasons import DELETED, GONE, MAINTENANCE, WAITS
from scheduler_sim.report.wording import count, plain
from scheduler_sim.result.limit_waits import limit_waits_in

MEANING = {
    "JobHeldUser": "held until it is released",
    "PartitionNodeLimit": "asks for more or fewer nodes than its partition allows",
    "PartitionTimeLimit": "asks for more time than its partition allows",
    "PartitionDown": "its partition is DOWN",
    "Dependency": "waiting for jobs that it depends on",
    "BeginTime": "its begin time had not come",
    "JobArrayTaskLimit": "as many tasks of its array ran as are allowed at once",
    "Licenses": "too few of its licences were free",
    WAITS: "its reservation had not begun, or was over",
    MAINTENANCE: "all nodes of its module were reserved at some time from then to its limit",
    DELETED: "its reservation was deleted, or is over: it is held for ever",
    "ReqNodeNotAvail": "nodes that would have been enough were DOWN or DRAINED",
    "Resources": "too few of its nodes were idle",
    "Priority": "enough were idle, but kept for jobs of higher priority",
}
"""What the reasons mean, in the order in which they are told (squeue(1), Job Reason Codes)."""

LIMITS_BEGIN = ("QOS", "Assoc", "Max")
"""So do Slurm's words for limits begin."""

OF_LIMITS = "a limit of its QOS or its association held it back"

UNDIVIDED = ("Resources", "Priority")
UNDIVIDED_MEANING = (
    "too few of its nodes had room, or the room was kept for others: a result does not say which"
)


def reasons(
    facts: Mapping[str, Any],
    waits: tuple[Wait, ...],
    unavailable: int,
    *,
    undivided: bool,
    reserved: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Reason, ...]:
    """Return why a component waited, in the order of MEANING; reasons of no time at all are left out.

    But of one whose record ends as it is submitted, the limit that it is held to is told.

    Parameters
    ----------
    facts : its row of a result with the columns of reasons
    waits : what it waited, by kind
    unavailable : s after eligibility in which nodes out of service would have been enough
    undivided : jobs share its nodes, so that what it waited for them is part of ``priority``: as Slurm deals
        what is asked for to nodes, the engine does not count those that have it
    reserved : s after eligibility by reasons of advance reservations, which come before those of nodes
    """
    seconds = {wait.kind: wait.seconds for wait in waits}
    array = min(max(int(facts["wait_array"]), 0), seconds.get("priority", 0))
    licences = min(max(int(facts["wait_licences"]), 0), seconds.get("resources", 0))
    limited = min(int(facts.get("wait_limit", 0)), seconds.get("priority", 0) - array)
    more = min(int(facts.get("wait_limit", 0)) - limited, seconds.get("resources", 0) - licences)
    rest = seconds.get("priority", 0) - array - limited
    because = dict.fromkeys(reserved, 0)
    for word, told_s in reserved.items():  # where nodes were idle the record has it as priority
        of_rest = min(told_s, rest)
        of_nodes = min(told_s - of_rest, max(seconds.get("resources", 0) - licences - more, 0))
        because[word], rest = of_rest + of_nodes, rest - of_rest
        seconds["resources"] = seconds.get("resources", 0) - of_nodes
    down = min(unavailable, seconds.get("resources", 0) - licences - more)
    after = {
        "JobArrayTaskLimit": array,
        "Licenses": licences,
        "ReqNodeNotAvail": down,
        "Resources": seconds.get("resources", 0) - licences - more - down,
        "Priority": rest,
        **because,
    }
    held = [word for word in str(facts["held_by"]).split(", ") if word]
    before = seconds.get("dependency", 0)
    first = [Reason(tuple(held or ["Dependency"]), before)] if before else []
    never = facts["start_time"] < 0 and not any(seconds.values()) and facts.get("limit_reason")
    if limited + more > 0 or never:
        first += _of_limits(facts, limited + more)
    if facts.get("reservation_reason") == GONE:
        first.append(Reason((DELETED,), 0))
    last = () if not undivided else UNDIVIDED
    told = [Reason((word,), after[word]) for word in MEANING if word not in last and after.get(word, 0) > 0]
    together = sum(after[word] for word in last)
    return (*first, *told, *([Reason(UNDIVIDED, together)] if together else []))


def _of_limits(facts: Mapping[str, Any], seconds: int) -> Iterator[Reason]:
    """Divide what it waited for limits among them, the one that held it longest first."""
    each = limit_waits_in(str(facts.get("limit_waits") or ""))
    for word, waited in sorted(each.items(), key=lambda item: -item[1]):
        told = min(waited, seconds)
        seconds -= told
        if told > 0:
            yield Reason((word,), told)
    if seconds > 0 or not each:
        yield Reason((str(facts["limit_reason"]),), seconds)


def confinement(facts: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """Say on which of the nodes of its module a component could run; nothing where it was on all of them."""
    system = manifest.get("system") or {}
    module = _named(system.get("modules") or [], facts["module"])
    partition = _named(system.get("partitions") or [], facts["partition"])
    able, whole = int(facts["nodes_able"]), int(module.get("nodes", 0))
    if not partition or able < 0 or able >= whole:
        return ""
    sets = {one["name"]: one["nodes"] for one in module.get("node_sets") or []}
    names = partition.get("node_sets") or list(sets)
    size = sum(sets[name] for name in names) if sets else whole
    of = f" ({', '.join(plain(name) for name in names)})" if partition.get("node_sets") else ""
    text = (
        f"It was confined to {able:,} of the {count(whole, 'node')} of {plain(module.get('name'))}:"
        f" partition {plain(partition.get('name'))} has {size:,}{of}"
    )
    text += ", of which those have the cores, memory and features it asked for" if able < size else ""
    return f"{text}. Idle nodes elsewhere were of no use to it."


def _named(several: Sequence[Mapping[str, Any]], name: object) -> Mapping[str, Any]:
    return next((one for one in several if one.get("name") == name), {})


def rejected_word(reason: str) -> str:
    """Return Slurm's word for why a job can never run, by our reason."""
    if "MaxNodes" in reason:
        return "PartitionNodeLimit"
    return "PartitionTimeLimit" if "MaxTime" in reason else "BadConstraints"


def meaning(reason: Reason) -> Iterator[str]:
    """Yield what each word of a reason means."""
    if reason.words == UNDIVIDED:
        return iter([UNDIVIDED_MEANING])
    return (MEANING.get(word, OF_LIMITS if word.startswith(LIMITS_BEGIN) else "") for word in reason.words)
