"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable

from analysis.common.numbers import difference, mean, with_interval
from analysis.site_rules.cases import (
    ANNOUNCED_LATE,
    ANY,
    BASE,
    BY_LEAF,
    CANCEL,
    FIRST,
    KNOWN,
    LATE_H,
    NODES,
    QUOTAS,
    REQUEUE,
    SUDDEN,
    WINDOW_H,
)
from analysis.site_rules.conduct import Conducted
from analysis.site_rules.measures import ALL, HEAVY, LIGHT
from scheduler_sim.metrics.intervals import Interval

Finding = Callable[[Conducted], str | None]
WAIT, LOST, IDLE = "wait_h", "lost_h", "drain_h"
LARGE, SMALL, LONG, URGENT, OTHERS = (
    "129 to 512 nodes",
    "1 to 16 nodes",
    "limit 8 to 24 h",
    "urgent",
    "not urgent",
)
STRICT = f"{min(QUOTAS):,} nodes"


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold, the questions of the study in their order."""
    asked: list[Finding] = [_quota, _urgent, _preempted, _maintenance, _announced, _placed]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def against(conducted: Conducted, group: str, name: str, measure: str = WAIT, base: str = BASE) -> Interval:
    """Return how a measure of a group changes with a rule, paired by seed."""
    return difference(conducted.of(group), measure, name, base, by="variant")


def own(conducted: Conducted, group: str, name: str, measure: str, unit: str) -> str:
    """Say what a measure of a group is under a variant."""
    return with_interval(mean(conducted.where(group=group, variant=name), measure), unit)


def longer(found: Interval) -> str:
    """Say by how much somebody waits longer, or less: ``2.33 h (1.78 to 2.89) longer``."""
    if found.high < 0:
        return f"{with_interval(Interval(-found.value, -found.high, -found.low), ' h')} less"
    return f"{with_interval(found, ' h')} longer"


def _quota(conducted: Conducted) -> str | None:
    """The heaviest users and large jobs pay for a quota; what others gain is less."""
    pays, gains = (against(conducted, group, STRICT) for group in (HEAVY, LIGHT))
    large, urgent = (against(conducted, group, STRICT) for group in (LARGE, URGENT))
    if not (pays.low > 0 and large.low > 0 and gains.high < 0):
        return None
    beside = f", urgent jobs {longer(urgent)}" if urgent.high < 0 else ""
    return (
        f"**A quota is paid by the heaviest users and by large jobs.** With {STRICT} for each user the ten"
        f" heaviest wait {longer(pays)} on average; jobs of more than 128 nodes {longer(large)}, as their"
        f" users must have little else running; all other users {longer(gains)}{beside}. Without a quota the"
        f" ten wait {own(conducted, HEAVY, BASE, WAIT, ' h')}, the others"
        f" {own(conducted, LIGHT, BASE, WAIT, ' h')}: fair share has cared for these already."
    )


def _urgent(conducted: Conducted) -> str | None:
    """Standing first in the queue gives urgent jobs something; to preempt gives them the rest."""
    first, more = against(conducted, URGENT, FIRST), against(conducted, URGENT, REQUEUE, base=FIRST)
    others = against(conducted, OTHERS, FIRST)
    if not (first.high < 0 and more.high < 0):
        return None
    free = others.low < 0 < others.high
    price = "which costs the others nothing that shows" if free else f"the others {longer(others)}"
    waits = (own(conducted, URGENT, name, WAIT, " h") for name in (BASE, FIRST))
    return (
        "**Most of what urgent jobs can gain they get by standing first in the queue.** They wait"
        f" {next(waits)} among the others, {next(waits)} before them ({price}),"
        f" and {_minutes(conducted, REQUEUE)} where they also preempt."
    )


def _minutes(conducted: Conducted, name: str) -> str:
    runs = conducted.where(group=URGENT, variant=name)
    return with_interval(mean(runs.assign(minutes=60 * runs[WAIT]), "minutes"), " min")


def _preempted(conducted: Conducted) -> str | None:
    """Who gives way: small and long jobs, of everybody."""
    small, long = (against(conducted, group, REQUEUE) for group in (SMALL, LONG))
    lost = mean(conducted.where(group=ALL, variant=REQUEUE), LOST)
    if not (small.low > 0 and long.low > 0 and lost.low > 0):
        return None
    return (
        "**Preemption is paid by small and long jobs, in work done twice.** Slurm takes the smallest first:"
        f" with REQUEUE jobs on up to 16 nodes wait {longer(small)} until they start for good, those with"
        f" limits beyond 8 h {longer(long)}, and {with_interval(lost, ' node-hours')} are thrown away. With"
        f" CANCEL it is {own(conducted, ALL, CANCEL, LOST, ' node-hours')}, and"
        f" {own(conducted, ALL, CANCEL, 'unfinished', ' %')} of the jobs are over without a result."
    )


def _maintenance(conducted: Conducted) -> str | None:
    """What the window costs beyond itself, and who waits."""
    idle, every = against(conducted, ALL, KNOWN, IDLE), against(conducted, ALL, KNOWN)
    long, light = (against(conducted, group, KNOWN) for group in (LONG, LIGHT))
    if not (idle.low > 0 and every.low > 0 and long.low > 0):
        return None
    return (
        f"**Maintenance costs more than its window.** {WINDOW_H} hours of all nodes are"
        f" {WINDOW_H * NODES:,} node-hours. Where it is known for days, {with_interval(idle)} more stand idle"
        f" in the day before, as no job may reach into it. Over the five days that are counted"
        f" jobs wait {longer(every)} on average, those with limits beyond 8 h {longer(long)}, those of all"
        f" but the ten heaviest users {longer(light)}."
    )


def _announced(conducted: Conducted) -> str | None:
    """Known in time it costs idle nodes; known late, the work of jobs that still run, which is less."""
    lost = {name: mean(conducted.where(group=ALL, variant=name), LOST) for name in (ANNOUNCED_LATE, SUDDEN)}
    waits = {name: against(conducted, ALL, name, base=KNOWN) for name in lost}
    if not all(lost[name].low > 0 and waits[name].high < 0 for name in lost):
        return None
    idle = against(conducted, ALL, ANNOUNCED_LATE, IDLE)
    return (
        "**Not to announce it costs the site less, but other hours.** Switched off without a word, nodes"
        f" throw away {with_interval(lost[SUDDEN], ' node-hours')} of work, and none idle before; announced"
        f" {LATE_H} hours before, {with_interval(lost[ANNOUNCED_LATE])}, and {with_interval(idle)} more idle."
        f" Against a window that is known for days jobs wait {longer(waits[SUDDEN])} and"
        f" {longer(waits[ANNOUNCED_LATE])}; but what idles is nobody's, what is thrown away is somebody's."
    )


def _placed(conducted: Conducted) -> str | None:
    """Jobs lie closer together; how long they wait for it."""
    closer = against(conducted, ALL, BY_LEAF, "leaves", base=ANY)
    if not closer.high < 0:
        return None
    every, large = (against(conducted, group, BY_LEAF) for group in (ALL, LARGE))
    price = (
        f"jobs wait {longer(every)}"
        if every.low > 0
        else "how long jobs wait on average does not change by more than chance"
    )
    beside = f", those of more than 128 nodes {longer(large)}" if large.low > 0 else ""
    return (
        "**Leaf by leaf jobs lie closer together, for little.** On"
        f" {own(conducted, ALL, BY_LEAF, 'leaves', '')} times the fewest leaf switches possible, in place of"
        f" {own(conducted, ALL, ANY, 'leaves', '')} on any free nodes; {price}{beside}."
    )
