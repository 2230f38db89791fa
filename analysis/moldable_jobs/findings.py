"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.moldable_jobs.cases import (
    BYSTANDERS,
    FLOORS,
    LARGE,
    LOADS,
    MAIN_FLOOR,
    MAIN_LOAD,
    PART_MAIN,
    PART_OPEN,
    PART_SHARES,
    POLICIES,
    RIGID,
    SHARES,
    SMALL,
)
from analysis.moldable_jobs.conduct import Conducted

Finding = Callable[[Conducted], str | None]
HIGHEST, LOWEST = FLOORS[0], FLOORS[-1]
BACKFILLED = POLICIES[1:]
NOT_WORSE_PERCENT = 2.0
"""What the interval of a change must stay below to be called no loss."""


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold, the questions of the study first."""
    asked: list[Finding] = [_pays, _floor, _bystanders, _sizes, _strict, _unlimited, _few]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def against_rigid(
    conducted: Conducted, measure: str, policy: str, floor: str, load: str = MAIN_LOAD, part: str = PART_MAIN
) -> dict[Any, Any]:
    """Return how a measure changes from rigid to moldable jobs, paired by seed."""
    return change(conducted.part(part, policy, load), measure, floor, RIGID, by="floor")


def _pays(conducted: Conducted) -> str | None:
    """With a floor of 0.7 or more it pays under every policy at every load."""
    for floor in (HIGHEST, MAIN_FLOOR):
        for policy in POLICIES:
            for load in LOADS:
                if not against_rigid(conducted, "response_h", policy, floor, load)["change_high"] < 0:
                    return None
    gains = (
        f"{in_percent(against_rigid(conducted, 'response_h', policy, MAIN_FLOOR))} under {policy}"
        for policy in POLICIES
    )
    return (
        "**Yes, it pays, under every backfill and at every load**, if sizes below an efficiency"
        f" of {MAIN_FLOOR} are"
        f" not offered: at load {MAIN_LOAD} the mean response changes by {listed(list(gains))}."
    )


def _floor(conducted: Conducted) -> str | None:
    """A low floor turns the gain into a loss where load is high, first under conservative."""
    load, policy = LOADS[-1], "conservative"
    wait = against_rigid(conducted, "wait_h", policy, LOWEST, load)
    median = against_rigid(conducted, "response_median_h", policy, LOWEST, load)
    good = against_rigid(conducted, "response_median_h", policy, HIGHEST, load)
    if not (wait["change_low"] > 0 and median["change_low"] > 0 and good["change_high"] < 0):
        return None
    runs = conducted.part(PART_MAIN, policy, load)
    work = with_interval(mean(runs[runs["floor"] == LOWEST], "work"), " %")
    return (
        "**It hurts where sizes waste nodes and the load is high.** Down to an efficiency of"
        f" {LOWEST} the same jobs take"
        f" {work} of their node-seconds: at load {load} under {policy} the mean wait changes by"
        f" {in_percent(wait)} and the"
        f" median response by {in_percent(median)}; with a floor of {HIGHEST} by"
        f" {in_percent(good)}. Each job looks"
        " after itself, at the expense of those behind it."
    )


def _bystanders(conducted: Conducted) -> str | None:
    """Who keeps its size pays for it unless the floor is high."""
    rows = {
        floor: [against_rigid(conducted, "fixed_response_h", policy, floor) for policy in BACKFILLED]
        for floor in (HIGHEST, MAIN_FLOOR, LOWEST)
    }
    unharmed = all(row["change_high"] < NOT_WORSE_PERCENT for row in rows[HIGHEST])
    harmed = all(row["change_low"] > 0 for floor in (MAIN_FLOOR, LOWEST) for row in rows[floor])
    if not (unharmed and harmed):
        return None
    texts = {floor: listed([in_percent(row) for row in found]) for floor, found in rows.items()}
    return (
        "**Those who cannot be resized pay for it**, unless the floor is high. Under"
        f" {listed(BACKFILLED)} the mean"
        f" response of {BYSTANDERS} jobs changes by {texts[HIGHEST]} at a floor of {HIGHEST}, by"
        f" {texts[MAIN_FLOOR]} at"
        f" {MAIN_FLOOR} and by {texts[LOWEST]} at {LOWEST} (load {MAIN_LOAD}). With {HIGHEST} no group"
        " loses."
    )


def _sizes(conducted: Conducted) -> str | None:
    """Small jobs gain most where there is room, large ones where there is none."""
    small, large = (
        [
            against_rigid(conducted, f"{size}_response_h", "easy", MAIN_FLOOR, load)
            for load in (LOADS[0], LOADS[-1])
        ]
        for size in ("small", "large")
    )
    if not (
        small[0]["change_high"] < large[0]["change_low"] and large[1]["change_high"] < small[1]["change_low"]
    ):
        return None
    return (
        "**Small jobs gain where there is room, large ones where there is none.** Under easy at"
        f" load {LOADS[0]} the"
        f" response of jobs of at most {SMALL} nodes changes by {in_percent(small[0])}, as they"
        " grow into what is idle; that"
        f" of jobs of at least {LARGE} by {in_percent(large[0])}. At load {LOADS[-1]} it is"
        f" {in_percent(small[1])} and"
        f" {in_percent(large[1])}: large jobs start on fewer nodes instead of waiting for all of theirs."
    )


def _strict(conducted: Conducted) -> str | None:
    """fcfs gains most, as resizing is the backfill it does not have; others gain with it."""
    by_policy = [against_rigid(conducted, "response_h", policy, LOWEST) for policy in POLICIES]
    others = against_rigid(conducted, "fixed_response_h", "fcfs", LOWEST)
    if not (
        by_policy[0]["change_high"] < min(row["change_low"] for row in by_policy[1:])
        and others["change_high"] < 0
    ):
        return None
    runs = conducted.part(PART_MAIN, "fcfs", MAIN_LOAD)
    easy = conducted.part(PART_MAIN, "easy", MAIN_LOAD)
    now = with_interval(mean(runs[runs["floor"] == LOWEST], "response_h"), " h")
    rigid = with_interval(mean(easy[easy["floor"] == RIGID], "response_h"), " h")
    return (
        f"**fcfs gains most**, and with every size that is offered: {in_percent(by_policy[0])} at"
        f" a floor of {LOWEST}. A job that"
        f" fits into what is free is in nobody's way, so that {BYSTANDERS} jobs gain, too"
        f" ({in_percent(others)})."
        f" Backfilling rigid jobs still does better: {rigid} under easy, against {now}."
    )


def _unlimited(conducted: Conducted) -> str | None:
    """Without MaxTime jobs start on one node for weeks, except under conservative."""
    rows = {
        policy: against_rigid(conducted, "response_max_h", policy, MAIN_FLOOR, part=PART_OPEN)
        for policy in POLICIES
    }
    limited = against_rigid(conducted, "response_max_h", "easy", MAIN_FLOOR)
    mean_response = against_rigid(conducted, "response_h", "easy", MAIN_FLOOR, part=PART_OPEN)
    if not (
        rows["fcfs"]["change_low"] > 0 and rows["easy"]["change_low"] > 0 and mean_response["change_low"] > 0
    ):
        return None
    if not (
        rows["conservative"]["change_high"] <= NOT_WORSE_PERCENT
        and limited["change_high"] <= NOT_WORSE_PERCENT
    ):
        return None
    return (
        "**Set MaxTime.** Without it the longest response of a workload changes by"
        f" {in_percent(rows['fcfs'])} under fcfs and by {in_percent(rows['easy'])} under easy, as"
        " jobs start on one node for"
        " weeks; the mean response under easy is then worse than with rigid jobs"
        f" ({in_percent(mean_response)}). Under"
        f" conservative, which knows of later starts, it changes by {in_percent(rows['conservative'])}."
    )


def _few(conducted: Conducted) -> str | None:
    """A few moldable jobs are enough to gain, in proportion, and harm nobody."""
    first, last = SHARES[0], SHARES[-1]
    rows = {
        share: [
            against_rigid(conducted, "resizable_response_h", policy, MAIN_FLOOR, share, PART_SHARES)
            for policy in BACKFILLED
        ]
        for share in (first, last)
    }
    others = [
        against_rigid(conducted, "fixed_response_h", policy, MAIN_FLOOR, first, PART_SHARES)
        for policy in BACKFILLED
    ]
    if not all(row["change_high"] < 0 for found in rows.values() for row in found):
        return None
    if not all(row["change_low"] < 0 < row["change_high"] for row in others):
        return None
    return (
        "**It pays for the first users already**: where one in four of the jobs that could be is"
        " moldable, their response"
        f" changes by {listed([in_percent(row) for row in rows[first]])} under"
        f" {listed(BACKFILLED)}, and that of all"
        f" others by {listed([in_percent(row) for row in others])}; where three in four are, by"
        f" {listed([in_percent(row) for row in rows[last]])} (load {MAIN_LOAD}, floor {MAIN_FLOOR})."
    )
