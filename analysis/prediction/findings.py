"""What can be concluded: sentences that stand on the page only where the predictions bear them out."""

from __future__ import annotations

from collections.abc import Callable

from analysis.common.markdown import listed
from analysis.common.numbers import in_units, number
from analysis.prediction.cases import TRACES
from analysis.prediction.conduct import Conducted
from analysis.prediction.measures import (
    by_instant,
    by_job,
    coverage,
    error,
    median_error,
    nearer,
    started_by,
)

Finding = Callable[[Conducted], str | None]
SEEN_BEFORE = ("curie",)
"""Traces whose held-out part was looked at while predictions were changed: nothing is claimed of them."""

AIM = (75.0, 85.0)
"""What a band from 10 to 90 % should cover (%)."""


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold."""
    asked: list[Finding] = [_covers, _misses, _limits, _last_wait]
    return [sentence for ask in asked if (sentence := ask(conducted)) is not None]


def _shares(conducted: Conducted) -> dict[str, float]:
    return {name: coverage(conducted.where(trace=name)).value for name in TRACES}


def _covers(conducted: Conducted) -> str | None:
    """Where the band is as right as it says."""
    good = {name: share for name, share in _shares(conducted).items() if AIM[0] <= share <= AIM[1]}
    if not good:
        return None
    claimed = {name: share for name, share in good.items() if name not in SEEN_BEFORE}
    each = listed([f"{share:.0f} % of {TRACES[name].title}" for name, share in claimed.items()])
    late = listed(
        [f"{started_by(conducted.where(trace=name)).value:.0f} % of {TRACES[name].title}" for name in claimed]
    )
    left = [f"{share:.0f} % of {TRACES[name].title}" for name, share in good.items() if name in SEEN_BEFORE]
    beside = f" Of days that were looked at during the work it holds {listed(left)}: no claim."
    beside = beside if left else ""
    return (
        f"**The band from 10 to 90 % holds** the start in the simulated schedule of {each}: about the 80 %"
        f" that it claims. By its late end have started {late}, of 90 % claimed.{beside} True starts are this"
        " simulator's own, under the very policy that the predictor is given: this tests what is drawn of run"
        " times and arrivals, not whether a real scheduler does what the simulated one does."
    )


def _misses(conducted: Conducted) -> str | None:
    """Where it is not."""
    bad = {name: share for name, share in _shares(conducted).items() if not AIM[0] <= share <= AIM[1]}
    if not bad:
        return None
    each = listed(
        [
            f"{share:.0f} % of {TRACES[name].title}"
            f" ({by_instant(conducted.where(trace=name)):.0f} % where all instants count the same,"
            f" {by_job(conducted.where(trace=name)):.0f} % where all jobs do)"
            for name, share in bad.items()
        ]
    )
    return f"**It is not right everywhere**: it holds {each}, not {AIM[0]:.0f} to {AIM[1]:.0f}."


def _limits(conducted: Conducted) -> str | None:
    """How much nearer the median is than a plan that knows limits alone."""
    return _nearer(conducted, "by_limits", "the plan by limits")


def _last_wait(conducted: Conducted) -> str | None:
    """... and than the last wait of a like job."""
    return _nearer(conducted, "last_wait", "the last wait of a like job")


def _nearer(conducted: Conducted, other: str, called: str) -> str | None:
    sure, open_ = [], []
    for name in TRACES:
        runs = conducted.where(trace=name)
        own, its = error(runs, "start_50").value, error(runs, other).value
        if not (own < its and median_error(runs, "start_50") < median_error(runs, other)):
            return None
        by = nearer(runs, other)
        told = f"{number(own)} h against {number(its)} h ({TRACES[name].title}"
        (sure if by.low > 0 else open_).append(f"{told}, nearer by {in_units(by, ' h')})")
    if not sure:
        return None
    rest = f"; it may be chance on the others, {listed(open_)}" if open_ else ""
    where = "on every trace" if not open_ else f"on {len(sure)} of {len(sure) + len(open_)} traces"
    return f"**The median is nearer than {called}** {where}: {listed(sure)} off, on average{rest}."
