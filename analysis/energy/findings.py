"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.energy.cases import BASE, CAPS, MAIN_POLICY, POLICIES, SHIFTS, TIMEOUTS, idle_shares
from analysis.energy.conduct import Conducted

Finding = Callable[[Conducted], str | None]
ENERGY, ABOVE, SYSTEM, RESPONSE, WAIT = "job_mwh", "above_idle_mwh", "system_mwh", "response_h", "wait_h"
MODULE, BOTH, CLOCK = "module: least energy", "least energy", "clock: least energy"
SAME_DAYS = "same_days_mwh"
BOUND, LOOSE = "least energy, 5 %", "least energy, 20 %"


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold, the questions of the study first."""
    asked: list[Finding] = [_modules, _clocks, _machine, _off, _squares, _caps, _shifts]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def against_base(
    conducted: Conducted, measure: str, saver: str, policy: str = MAIN_POLICY, baseline: str = BASE
) -> dict[Any, Any]:
    """Return how a measure changes from jobs as asked, paired by seed."""
    return change(conducted.under(policy), measure, saver, baseline, by="saver")


def _modules(conducted: Conducted) -> str | None:
    """The choice of module alone saves energy, and nobody answers for it by waiting."""
    for policy in POLICIES:
        if not against_base(conducted, ENERGY, MODULE, policy)["change_high"] < 0:
            return None
        if not against_base(conducted, RESPONSE, MODULE, policy)["change_high"] < 0:
            return None
    said = {m: in_percent(against_base(conducted, m, MODULE)) for m in (ENERGY, RESPONSE)}
    return (
        "**Choosing the module alone saves energy and time.** Of the modules that a job lists, the one on"
        " which it"
        f" takes least energy at the reference clock: {said[ENERGY]} energy of jobs and {said[RESPONSE]} mean"
        f" response under {MAIN_POLICY}."
    )


def _clocks(conducted: Conducted) -> str | None:
    """The clock saves more than the module, and is paid for by waiting; a bound takes modules away, too."""
    clock, module = (against_base(conducted, ENERGY, one) for one in (CLOCK, MODULE))
    more = {m: against_base(conducted, m, BOTH, baseline=MODULE) for m in (ENERGY, ABOVE)}
    both = {m: against_base(conducted, m, BOTH) for m in (ENERGY, ABOVE, WAIT)}
    bound = {m: against_base(conducted, m, BOUND) for m in (ENERGY, ABOVE)}
    if not all(row["change_high"] < 0 for row in (*more.values(), *bound.values())):
        return None
    if not (both[WAIT]["change_low"] > 0 and clock["change_high"] < module["change_low"]):
        return None
    return (
        f"**The clock saves more than the module, and is paid for by waiting.** Module and clock by least"
        f" energy: {in_percent(both[ENERGY])} energy of jobs, {in_percent(both[ABOVE])} above idle power;"
        f" on top of the module alone {in_percent(more[ENERGY])} and {in_percent(more[ABOVE])}. The mean"
        " wait changes by"
        f" {in_percent(both[WAIT])}. With at most 5 % of slowdown it is {in_percent(bound[ENERGY])} and"
        f" {in_percent(bound[ABOVE])}: the bound rules out slower modules, too. The clock alone:"
        f" {in_percent(clock)} energy of jobs."
    )


def _machine(conducted: Conducted) -> str | None:
    """Where idle nodes stay on: on the same days least energy saves most, though it ends later."""
    runs = same_days(conducted.under(MAIN_POLICY))
    free, bound = (change(runs, SAME_DAYS, one, BASE, by="saver") for one in (BOTH, LOOSE))
    longer, shorter = (against_base(conducted, SYSTEM, one) for one in (BOTH, LOOSE))
    if not free["change_high"] < bound["change_low"] <= bound["change_high"] < 0:
        return None
    waits = [in_percent(against_base(conducted, WAIT, one)) for one in (BOTH, LOOSE)]
    return (
        "**Where idle nodes stay on, least energy saves the machine most, too, on the same days.** All nodes"
        f" until the slowest way has ended: {in_percent(free)} by least energy, at {waits[0]} mean wait;"
        f" {in_percent(bound)} with at most 20 % of slowdown, at {waits[1]}. Counted to its own last end it"
        f" is {in_percent(longer)} and {in_percent(shorter)}, as by least energy the last job of a workload"
        " that stops ends later."
    )


def same_days(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with what all nodes take (MWh) until the slowest way to save has ended, by seed.

    What a node takes when idle it takes until then.
    """
    some = runs[runs["saver"].isin((BASE, BOTH, BOUND, LOOSE, CLOCK, MODULE))]
    idle_mw = (some[SYSTEM] - some[ABOVE]) / some["completion_h"]
    last = some.groupby("seed")["completion_h"].transform("max")
    return some.assign(**{SAME_DAYS: some[ABOVE] + idle_mw * last})


def _off(conducted: Conducted) -> str | None:
    """Switching idle nodes off saves most of what they draw, and the choice of module adds to it."""
    alone, both = f"off after {TIMEOUTS[0]} min", f"{MODULE}, off after {TIMEOUTS[0]} min"
    system = [against_base(conducted, SYSTEM, one) for one in (alone, both)]
    more = against_base(conducted, SYSTEM, both, baseline=alone)
    if not all(row["change_high"] < 0 for row in (*system, more)):
        return None
    waits = [in_percent(against_base(conducted, WAIT, one)) for one in (alone, both)]
    return (
        f"**Switching idle nodes off takes most off the bill of the whole machine.** {TIMEOUTS[0]} minutes"
        " after their last job, booted in time for the plans of the scheduler:"
        f" {in_percent(system[0])} energy of all nodes, {waits[0]} mean wait; with the module of least"
        f" energy {in_percent(system[1])} and {waits[1]}."
    )


def _squares(conducted: Conducted) -> str | None:
    """The DEEP-EST objective and EDP run at turbo on these nodes: time is saved, at the price of energy."""
    time = against_base(conducted, RESPONSE, "sum of squares")
    above = against_base(conducted, ABOVE, "sum of squares")
    energy = against_base(conducted, ENERGY, "sum of squares")
    if not (time["change_high"] < 0 and above["change_low"] > 0 and energy["change_low"] > 0):
        return None
    least, most = (f"{100 * share:.0f}" for share in idle_shares())
    return (
        "**By these watts the sum of squares of the DEEP-EST policy buys time with energy**, as does energy ×"
        f" time. In these power profiles idle watts are {least} to {most} % of a busy node's, so that to be"
        f" done soon weighs more: mean response {in_percent(time)}, energy of jobs {in_percent(energy)},"
        f" energy above idle power {in_percent(above)}."
    )


def _caps(conducted: Conducted) -> str | None:
    """A cap is never exceeded; it costs time, and lower clocks save energy, not time."""
    runs = conducted.under(MAIN_POLICY)
    if conducted.runs["above_cap_s"].any():
        return None
    low = f"cap {CAPS[-1]} kW, "
    wait, slow = (against_base(conducted, RESPONSE, low + how) for how in ("waiting", "lower clocks, too"))
    peak = with_interval(mean(runs[runs["saver"] == BASE], "peak_kw"), " kW")
    energy = against_base(conducted, ENERGY, low + "lower clocks, too")
    quicker = against_base(conducted, RESPONSE, low + "lower clocks, too", baseline=low + "waiting")
    if not (wait["change_low"] > 0 and slow["change_low"] > 0 and energy["change_high"] < 0):
        return None
    if quicker["change_high"] < 0:
        return None
    return (
        f"**A cap holds at every instant, and costs time; lower clocks under it save energy, not time.** As"
        f" asked the jobs peak at {peak}. Under {CAPS[-1]} kW the mean response changes by"
        f" {in_percent(wait)} if jobs wait for power and by {in_percent(slow)} if they may also start at"
        f" lower clocks, which take {in_percent(energy)} energy of jobs."
    )


def _shifts(conducted: Conducted) -> str | None:
    """Shifting saves a little of the price and costs hours."""
    first, last = (f"shift up to {hours} h" for hours in (SHIFTS[0], SHIFTS[-1]))
    prices = [against_base(conducted, "price", one) for one in (first, last)]
    waits = [against_base(conducted, WAIT, one) for one in (first, last)]
    if not (all(row["change_high"] < 0 for row in prices) and all(row["change_low"] > 0 for row in waits)):
        return None
    runs = conducted.under(MAIN_POLICY)
    hours = [with_interval(mean(runs[runs["saver"] == one], "wait_h"), " h") for one in (BASE, first, last)]
    return (
        f"**Cheap hours cost more waiting than they save money here.** Jobs shifted by at most {SHIFTS[0]} h"
        " pay"
        f" {in_percent(prices[0])} per kWh, by at most {SHIFTS[-1]} h {in_percent(prices[1])}; the mean wait"
        " is"
        f" {hours[1]} and {hours[2]} instead of {hours[0]}. They all begin in the same cheap hours, and a"
        " machine that"
        " is mostly busy has no room for them then."
    )
