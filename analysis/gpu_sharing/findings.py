"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, in_percent, mean, with_interval
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
    """Which packings are best for them."""
    case = (MAIN_BACKFILL, MAIN_LOAD)
    best = shorter_than_all(conducted, SEVERAL, case)
    if len(best) == len(IN_ORDER):
        return None
    names = listed([f"`{name}`" for name in best])
    many = "packing is" if len(best) == 1 else "packings are"
    return (
        f"**The best {many} {names}** for them ({MAIN_BACKFILL}, load {MAIN_LOAD}): what the others take"
        " longer is more than chance."
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
    """What large pods get, small ones do not: at full load they wait for it, if not for long."""
    runs = conducted.under(MAIN_BACKFILL, MAIN_LOAD)
    found = {p: mean(runs[runs["packing"] == p], PART) for p in (BASE, BEST)}
    if not found[BEST].low > found[BASE].high:
        return None
    waits = {packing: f"{one.value:.2f} min" for packing, one in found.items()}
    return (
        f"**Small pods pay for it, but little.** With a part of a GPU they wait {waits[BEST]} on average"
        f" under `{BEST}`, {waits[BASE]} under `{BASE}` ({MAIN_BACKFILL}, load {MAIN_LOAD})."
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
