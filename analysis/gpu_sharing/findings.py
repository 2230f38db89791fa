"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, difference, in_percent, in_units, mean, with_interval
from analysis.gpu_sharing.cases import BACKFILLS, BASE, BEST, IN_ORDER, LOADS, MAIN_BACKFILL, MAIN_LOAD
from analysis.gpu_sharing.conduct import Conducted

Finding = Callable[[Conducted], str | None]
SEVERAL, PART, ALLOCATED, ALL = "several_wait_min", "part_wait_min", "allocated", "wait_min"
CASES = [(backfill, load) for backfill in BACKFILLS for load in LOADS]


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold."""
    asked: list[Finding] = [_several, _shortest, _default, _parts, _allocated]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def against(
    conducted: Conducted, measure: str, packing: str, baseline: str, case: tuple[str, str]
) -> dict[Any, Any]:
    """Return how a measure changes from one packing to another, paired by seed."""
    return change(conducted.under(*case), measure, packing, baseline, by="packing")


def shorter_than_all(conducted: Conducted, measure: str, case: tuple[str, str]) -> list[str]:
    """Return the packings with the least mean, and those whose difference to it may be chance."""
    runs = conducted.under(*case)
    means = {packing: mean(runs[runs["packing"] == packing], measure).value for packing in IN_ORDER}
    least = min(means, key=means.__getitem__)
    others = [p for p in IN_ORDER if p != least]
    equal = [p for p in others if not against(conducted, measure, p, least, case)["change_low"] > 0]
    return [least, *sorted(equal, key=means.__getitem__)]


def _several(conducted: Conducted) -> str | None:
    """Which nodes are taken decides how long those with several GPUs wait."""
    if not all(against(conducted, SEVERAL, BEST, BASE, case)["change_high"] < 0 for case in CASES):
        return None
    runs = conducted.under(MAIN_BACKFILL, MAIN_LOAD)
    waits = {p: with_interval(mean(runs[runs["packing"] == p], SEVERAL), " min") for p in (BASE, BEST)}
    row = against(conducted, SEVERAL, BEST, BASE, (MAIN_BACKFILL, MAIN_LOAD))
    return (
        f"**Packing decides how long pods with two GPUs or more wait.** {waits[BASE]} under `{BASE}`,"
        f" {waits[BEST]} under `{BEST}` ({in_percent(row)}; {MAIN_BACKFILL}, load {MAIN_LOAD}); less under"
        " both policies, at both loads."
    )


def _shortest(conducted: Conducted) -> str | None:
    """Which packings are best for them: not the same everywhere."""
    best = {case: shorter_than_all(conducted, SEVERAL, case) for case in CASES}
    if all(len(one) == len(IN_ORDER) for one in best.values()):
        return None
    cells = []
    for (backfill, load), (first, *others) in best.items():
        beside = f" (not told apart from {listed([f'`{name}`' for name in others])})" if others else ""
        cells.append(f"{backfill}, load {load}: `{first}`{beside}")
    return (
        f"**Packings that look at fragments or fill GPUs are the best for them, and much alike.** The least"
        f" mean wait, one comparison at a time: {'; '.join(cells)}."
    )


def _default(conducted: Conducted) -> str | None:
    """The default by free cores is not made for GPUs."""
    rows = [against(conducted, SEVERAL, "best_fit", BEST, case) for case in CASES]
    if not all(row["change_low"] > 0 for row in rows):
        return None
    case = (MAIN_BACKFILL, MAIN_LOAD)
    first = against(conducted, SEVERAL, "best_fit", "first_fit", case)
    beside = f"; against `first_fit` {in_percent(first)}" if first["change_low"] > 0 else ""
    return (
        "**`best_fit` by free cores is not for GPUs.** Pods with two or more wait longer than under"
        f" `{BEST}` under both policies, at both loads{beside} ({MAIN_BACKFILL}, load {MAIN_LOAD})."
    )


def _parts(conducted: Conducted) -> str | None:
    """What large pods get, small ones do not: at full load many wait for it; below, nobody."""
    runs = conducted.under(MAIN_BACKFILL, MAIN_LOAD)
    found = {p: mean(runs[runs["packing"] == p], PART) for p in (BASE, BEST)}
    if not found[BEST].low > found[BASE].high:
        return None
    told = {
        measure: [f"{mean(runs[runs['packing'] == p], measure).value:.{digits}f}" for p in (BASE, BEST)]
        for measure, digits in (("waited", 1), ("p99_wait_min", 1), (PART, 2), (ALL, 2))
    }
    of_all = difference(runs, ALL, BEST, BASE, "packing")
    below = conducted.under(MAIN_BACKFILL, LOADS[0])
    there = {
        measure: [f"{mean(below[below['packing'] == p], measure).value:.2f}" for p in (BASE, BEST)]
        for measure in (ALL, "waited")
    }
    return (
        f"**At full load small pods pay for it, in numbers more than in minutes; at load {LOADS[0]} nobody"
        f" does.** From `{BASE}` to `{BEST}` ({MAIN_BACKFILL}, load {MAIN_LOAD}) pods that wait a minute or"
        f" more go from {told['waited'][0]} to {told['waited'][1]} %, the 99th percentile of waits from"
        f" {told['p99_wait_min'][0]} to {told['p99_wait_min'][1]} min, the mean of those with a part of a GPU"
        f" from {told[PART][0]} to {told[PART][1]} min and that of all pods from {told[ALL][0]} to"
        f" {told[ALL][1]} min ({in_units(of_all, ' min')}). At load {LOADS[0]} it is {there[ALL][0]} and"
        f" {there[ALL][1]} min for all pods, and {there['waited'][0]} and {there['waited'][1]} % wait."
    )


def _allocated(conducted: Conducted) -> str | None:
    """How many GPUs are given away follows."""
    case = (MAIN_BACKFILL, MAIN_LOAD)
    row = against(conducted, ALLOCATED, BEST, BASE, case)
    if not row["change_low"] > 0:
        return None
    runs = conducted.under(*case)
    shares = {p: with_interval(mean(runs[runs["packing"] == p], ALLOCATED), " %") for p in (BASE, BEST)}
    return (
        f"**More GPUs are in use.** While pods come, {shares[BEST]} are given away under `{BEST}`,"
        f" {shares[BASE]} under `{BASE}` ({MAIN_BACKFILL}, load {MAIN_LOAD})."
    )
