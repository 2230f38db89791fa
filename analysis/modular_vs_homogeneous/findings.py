"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, in_percent, mean, with_interval
from analysis.modular_vs_homogeneous import identity
from analysis.modular_vs_homogeneous.cases import (
    CM,
    DAM,
    ESB,
    MAIN_POLICY,
    MOD,
    PART_MAIN,
    PREFERRED,
    READINGS,
    SLOWER,
    SPEED,
)
from analysis.modular_vs_homogeneous.claims import CLAIMS, find, ratio_text
from analysis.modular_vs_homogeneous.conduct import Conducted
from analysis.modular_vs_homogeneous.mixes import Mixes

Finding = Callable[[Conducted, Mixes | None], str | None]


def findings(conducted: Conducted, mixes: Mixes | None) -> list[str]:
    """Return the sentences that hold, the question of the study first."""
    asked: list[Finding] = [_static, _choosing, _reading, _conflict, _best_mix]
    return [sentence for ask in asked if (sentence := ask(conducted, mixes)) is not None]


def _static(conducted: Conducted, _: Mixes | None) -> str | None:
    """With static preferred modules the modular system waits longer than CM and DAM, under each policy.

    In both readings; than ESB for certain in the first alone.
    """
    for policy in conducted.setup.policies:
        first = (against(conducted, policy, SLOWER, other)["change_low"] > 0 for other in (CM, DAM, ESB))
        second = (against(conducted, policy, SPEED, other)["change_low"] > 0 for other in (CM, DAM))
        if not (all(first) and all(second)):
            return None
    in_speed = {policy: against(conducted, policy, SPEED, ESB) for policy in conducted.setup.policies}
    less = [name for name, row in in_speed.items() if row["change_high"] < 0]
    open_ = [name for name, row in in_speed.items() if row["change_low"] < 0 < row["change_high"]]
    runs = conducted.part(PART_MAIN, MAIN_POLICY, SLOWER)
    modular = runs[(runs["system"] == MOD) & (runs["strategy"] == PREFERRED)]
    dam, esb = (find(runs, claim).ratio for claim in CLAIMS[1:3])
    return (
        "**Not as D2.3 built and ran it.** Where every job goes to the module on which it is"
        " fastest, the modular"
        f" system waits longer than HOM1-CM and HOM2-DAM, under {listed(conducted.setup.policies)}, in both"
        " readings of ratios below 1; than HOM3-ESB only if they mean “slower”"
        + (f" (as speeds it waits less under {listed(less)}" if less else " (")
        + (f", and no longer for certain under {listed(open_)})" if open_ else ")")
        + f". Under {MAIN_POLICY}, as “slower”, D2.3's ratios, 17.8 against DAM and 5.4 against ESB, come out"
        f" as {ratio_text(dam)} and {ratio_text(esb)}. Its 50 CM nodes get 1.57 times the load a node that"
        " the 165 of HOM1-CM get, which is more than they can do, so that their queue grows until jobs stop"
        f" coming: {with_interval(mean(modular, 'wait_h'), ' h')} is the mean wait of 3,000 jobs, and no"
        " property of the machine. Its 115 ESB nodes get 0.17 times that load."
    )


def against(
    conducted: Conducted, policy: str, reading: str, other: str, strategy: str = PREFERRED
) -> dict[Any, Any]:
    """Return how the mean wait of the modular system differs from another's, paired by seed."""
    runs = conducted.part(PART_MAIN, policy, reading)
    own = runs[(runs["system"] != MOD) | (runs["strategy"] == strategy)]
    return change(own, "wait_h", MOD, other, by="system")


def _choosing(conducted: Conducted, _: Mixes | None) -> str | None:
    """With a choice among modules it is the best of the four, in the reading in which no ESB job crawls."""
    runs = conducted.part(PART_MAIN, MAIN_POLICY, SLOWER)
    own = runs[(runs["system"] != MOD) | (runs["strategy"] == "earliest_end")]
    waits, responses = (own.groupby("system")[measure].mean() for measure in ("wait_h", "response_h"))
    esb = find(runs, CLAIMS[2], "earliest_end").ratio
    if not (waits.idxmin() == MOD and responses.idxmin() == MOD and esb.low > 1):
        return None
    dam = find(runs, CLAIMS[1], "earliest_end").ratio
    modular = own[own["system"] == MOD]
    return (
        "**Yes, if the scheduler may choose and ratios below 1 mean “slower”.** The same machine with"
        " `placement: earliest_end` then waits"
        f" {with_interval(mean(modular, 'wait_h'), ' h')}: {ratio_text(dam)} times less than DAM and"
        f" {ratio_text(esb)} times less than ESB.{_as_speeds(conducted)} What D2.3"
        " gives to the"
        " modular system is what the choice of module gives, which its evaluation left out (section 3.3)."
    )


def _as_speeds(conducted: Conducted) -> str:
    """Say what is left of it in the other reading."""
    runs = conducted.part(PART_MAIN, MAIN_POLICY, SPEED)
    own = runs[(runs["system"] == MOD) & (runs["strategy"] == "earliest_end")]
    rows = {name: against(conducted, MAIN_POLICY, SPEED, name, "earliest_end") for name in (CM, DAM)}
    told = " and ".join(f"{in_percent(row)} against {name}" for name, row in rows.items())
    return (
        f" Read as speeds, as D2.3's own figures have it (below), it waits"
        f" {with_interval(mean(own, 'wait_h'), ' h')}: {told}."
    )


def _reading(conducted: Conducted, _: Mixes | None) -> str | None:
    """What the published ratios say of each other."""
    shares = identity.by_shares()
    implied = identity.implied(shares[DAM]).esb
    slower, speed = (identity.of_seeds(conducted.part(PART_MAIN, reading=reading)) for reading in READINGS)
    if not (slower.within == 0 and speed.within > 0):
        return None
    return (
        "**D2.3's own figures, if they belong together, say how it read its Table 7: as speeds.** A"
        " response is a wait and a"
        " run, so that the"
        f" five ratios tell how long jobs ran on the ESB: {implied.value:.2f} times as long as on the"
        " modular system"
        f" ({implied.low:.2f} to {implied.high:.2f} by rounding). Read as speeds Table 7 gives"
        f" {shares[SPEED]:.2f}, as “slower” {shares[SLOWER]:.2f}; of {speed.seeds} workloads"
        f" {speed.within} are"
        " within the rounding in the first reading, none in the second."
    )


def _conflict(conducted: Conducted, _: Mixes | None) -> str | None:
    """In that reading ESB waits longer than DAM, so that the claims contradict each other."""
    reversed_by = []
    for policy in conducted.setup.policies:
        ratio = find(conducted.part(PART_MAIN, policy, SPEED), CLAIMS[0]).ratio
        reversed_by.append(ratio.high < 1)
    if not all(reversed_by):
        return None
    ratio = find(conducted.part(PART_MAIN, MAIN_POLICY, SPEED), CLAIMS[0]).ratio
    return (
        "**In that reading DAM waits less than ESB**, not 3.2 times as long: the ratio is"
        f" {ratio_text(ratio)} under {MAIN_POLICY}, and below 1 under"
        f" {listed(conducted.setup.policies)}, as the ESB"
        " nodes get 1.47 times the load of HOM1-CM and the DAM nodes 0.91 times. So no reading gives all five"
        " ratios: the published figures do not follow from the published inputs."
    )


def _best_mix(conducted: Conducted, mixes: Mixes | None) -> str | None:
    """What to buy for 165 units."""
    return None if mixes is None else mixes.sentence()
