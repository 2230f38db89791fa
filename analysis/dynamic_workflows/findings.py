"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from analysis.common.numbers import change, in_percent, mean, number, with_interval
from analysis.dynamic_workflows.cases import (
    AS_D23,
    DELAY_RANGES,
    EXACT,
    OWN_LIMITS,
    PART_DELAYS,
    PART_LOAD,
    PART_VARIANTS,
    PART_WORKFLOWS,
    RESERVED,
)
from analysis.dynamic_workflows.conduct import Conducted

DEP, CALLED, HET, DELAYED, ALL = "DEP", "DEP+API", "HET", "HET+DELAY", "HET+DELAY+API"
WAIT, OUTSIDE, RESPONSE = "wait_h", "outside_wait_h", "workflow_response_h"
NOT_WORSE_PERCENT = 5.0

Finding = Callable[[Conducted], str | None]


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold, those that a centre asks for first."""
    asked: list[Finding] = [_default, _overlap, _bystanders, _without_api]
    if conducted.setup.seeds_beyond:
        asked += [_delays, _limits, _reserved, _many_workflows, _load]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def _default(conducted: Conducted) -> str | None:
    """DEP+API: the shortest waits, at no cost; it gains little, as it shortens no queue."""
    runs = conducted.main(33)
    best = all(_lowest(runs, measure) == CALLED for measure in (WAIT, RESPONSE))
    gain = change(runs, RESPONSE, CALLED, DEP)
    own = runs[runs["scenario"] == CALLED]
    waiting = 100 * (own["workflow_wait_h"].mean() + own["workflow_internal_wait_h"].mean())
    waiting /= own[RESPONSE].mean()
    outside = change(runs, OUTSIDE, CALLED, DEP)
    harmless = outside["change_high"] < NOT_WORSE_PERCENT
    if not (best and harmless and gain["change_high"] < 0 and waiting > 50):
        return None
    under_slurm = ""
    if conducted.setup.seeds_beyond:
        other = change(conducted.under_slurm().main(33), RESPONSE, CALLED, DEP)
        unsure = ", which may be chance" if other["change_high"] > 0 else ""
        under_slurm = f" Under Slurm's schedulers it changes by {in_percent(other)}{unsure}."
    return (
        "**Offer DEP+API to everybody.** Under conservative, with 33 % of the jobs in workflows, it has the"
        " shortest mean wait of"
        f" all jobs, {_of(runs, CALLED, WAIT, ' h')}, and the shortest mean response of workflows,"
        f" {_of(runs, CALLED, RESPONSE, ' h')}. The mean wait of jobs outside changes by"
        f" {in_percent(outside)}. It also gains little: against DEP that"
        f" response changes by {in_percent(gain)}, as {waiting:.0f} % of it is waiting in the queue, which no"
        f" call shortens.{under_slurm}"
    )


def _overlap(conducted: Conducted) -> str | None:
    """HET+DELAY+API: overlap for those who need it."""
    runs = conducted.main(33)
    price = change(runs, RESPONSE, ALL, CALLED)
    relief = change(runs, WAIT, ALL, HET)
    more = change(runs, "overlapped", ALL, CALLED)["change_low"] > 0
    if not (more and price["change_low"] > 0 and relief["change_high"] < 0):
        return None
    return (
        "**Offer HET+DELAY+API to those whose components must run side by side**, as to stream data over the"
        f" network: {_of(runs, ALL, 'overlapped', ' %')} of their node-seconds are in workflows that overlap;"
        f" in DEP+API {_of(runs, CALLED, 'overlapped', ' %')}, by luck (a workflow counts whole if any of its"
        " components overlap). Under conservative, an exact planner, they pay for it themselves: against"
        f" DEP+API their response changes by {in_percent(price)}.{_paid_by_others(conducted)}"
        f" Under conservative, against HET, the wait of all jobs changes by"
        f" {in_percent(relief)}, and nodes that idle until data are ready cost {_of(runs, ALL, 'idle', ' %')}"
        f" of the workflows' work instead of {_of(runs, HET, 'idle', ' %')}."
    )


def _paid_by_others(conducted: Conducted) -> str:
    """Say what HET+DELAY+API costs jobs outside workflows under Slurm's schedulers, which are not exact."""
    if not conducted.setup.seeds_beyond:
        return ""
    found = conducted.under_slurm()
    each = [(share, change(found.main(share), OUTSIDE, ALL, DEP)) for share in (33, 24)]
    if not all(row["change_low"] > 0 for _, row in each):
        return ""
    told = " and ".join(f"{in_percent(row)} with {share} %" for share, row in each)
    return (
        " Under Slurm's schedulers the others pay, too: against DEP their wait changes by"
        f" {told} of the jobs in workflows."
    )


def _bystanders(conducted: Conducted) -> str | None:
    """HET+DELAY+API does not harm jobs outside workflows; HET does."""
    runs = conducted.main(33)
    gentle, harsh = (change(runs, OUTSIDE, name, DEP) for name in (ALL, HET))
    if not (gentle["change_high"] < NOT_WORSE_PERCENT and harsh["change_low"] > 0):
        return None
    return (
        "**Keep HET for components that need each other from the first second**: under conservative, against"
        f" DEP, the wait of jobs outside workflows changes by {in_percent(harsh)}; under HET+DELAY+API by"
        f" {in_percent(gentle)}, but see above for Slurm's schedulers."
    )


def _without_api(conducted: Conducted) -> str | None:
    """Delays without calls: appointments made from requested times come too late."""
    runs = conducted.main(33)
    row = change(runs, RESPONSE, DELAYED, ALL)
    if not row["change_low"] > 0:
        return None
    return (
        "**Do not offer delays without the API** to users who only know what they requested: against"
        f" HET+DELAY+API the response of workflows changes by {in_percent(row)}, as their appointments come"
        " too late."
    )


def _delays(conducted: Conducted) -> str | None:
    """The API makes up for bad estimates."""
    runs, worst = conducted.part(PART_DELAYS), list(DELAY_RANGES)[-1]
    alone, called = (
        change(runs[runs["scenario"] == name], RESPONSE, worst, EXACT, by="level") for name in (DELAYED, ALL)
    )
    if not alone["change_low"] > called["change_high"]:
        return None
    return (
        f"The API makes up for most of a bad estimate: from exact delays to {worst} times the request the"
        f" response of workflows changes by {in_percent(called)} with it, and by {in_percent(alone)} without."
    )


def _limits(conducted: Conducted) -> str | None:
    """What a component asks for matters more than its delay."""
    runs, row = _variant(conducted, OWN_LIMITS, RESPONSE)
    if not row["change_high"] < 0:
        return None
    return (
        "**Let each component ask for its own time.** In D2.3's traces each asks for the sum of its"
        " workflow's requested times, which few gaps can take. With its own the response of workflows changes"
        f" by {in_percent(row)} under HET+DELAY+API, to {with_interval(mean(runs, RESPONSE), ' h')}."
    )


def _reserved(conducted: Conducted) -> str | None:
    """Appointments beside the plan put workflows before all others."""
    if RESERVED not in set(conducted.runs["level"]):
        return None
    (_, outside), (_, own) = (_variant(conducted, RESERVED, measure) for measure in (OUTSIDE, RESPONSE))
    if not (outside["change_low"] > 0 and own["change_high"] < 0):
        return None
    return (
        "Reserving nodes for appointments without regard to who waits, as the DEEP-EST scheduler does"
        f" (`delay: reserved`), changes the response of workflows under HET+DELAY+API by {in_percent(own)},"
        f" and the wait of jobs outside by {in_percent(outside)}: it moves the price to those who ask for"
        " nothing."
    )


def _many_workflows(conducted: Conducted) -> str | None:
    """Up to 60 % of the jobs in workflows."""
    runs = conducted.part(PART_WORKFLOWS)
    few, most = (runs[runs["level"] == level] for level in ("10", "60"))
    before, now = (change(part, WAIT, HET, DEP) for part in (few, most))
    if not now["change_low"] > before["change_high"]:
        return None
    called = change(most, WAIT, ALL, DEP)
    return (
        "The more workflows, the dearer is every kind of HET: against DEP the wait of all jobs changes by"
        f" {in_percent(before)} under HET with 10 % of the jobs in workflows, by {in_percent(now)} with 60 %;"
        f" under HET+DELAY+API then by {in_percent(called)}."
    )


def _load(conducted: Conducted) -> str | None:
    """On a machine with room the price of overlap is small."""
    runs = conducted.part(PART_LOAD)
    levels = list(dict.fromkeys(runs["level"]))
    low, high = (
        change(runs[runs["level"] == level], RESPONSE, ALL, CALLED) for level in (levels[0], levels[-1])
    )
    if not high["difference"] > low["difference"]:
        return None
    return (
        f"The price of overlap is paid in the queue: at an offered load of {levels[0]} workflows take"
        f" {number(low['difference'])} h longer under HET+DELAY+API than under DEP+API, at {levels[-1]}"
        f" {number(high['difference'])} h. A machine with room can offer it to all."
    )


def _variant(conducted: Conducted, level: str, measure: str) -> tuple[pd.DataFrame, dict]:
    """Return the runs of a variant of HET+DELAY+API, and how a measure changes against D2.3's."""
    runs = conducted.part(PART_VARIANTS)
    runs = runs[runs["scenario"] == ALL]
    return runs[runs["level"] == level], change(runs, measure, level, AS_D23, by="level")


def _lowest(runs: pd.DataFrame, measure: str) -> str:
    return str(runs.groupby("scenario")[measure].mean().idxmin())


def _of(runs: pd.DataFrame, scenario: str, measure: str, unit: str) -> str:
    return with_interval(mean(runs[runs["scenario"] == scenario], measure), unit)
