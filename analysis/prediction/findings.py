"""What can be concluded: sentences that stand on the page only where the predictions bear them out."""

from __future__ import annotations

from collections.abc import Callable

from analysis.common.markdown import listed
from analysis.common.numbers import number
from analysis.prediction.cases import TRACES
from analysis.prediction.conduct import Conducted
from analysis.prediction.measures import by_instant, by_job, coverage, error, median_error

Finding = Callable[[Conducted], str | None]
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
    each = listed([f"{share:.0f} % of {TRACES[name].title}" for name, share in good.items()])
    return f"**The band from 10 to 90 % holds** the true start of {each}: about the 80 % that it claims."


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
    parts = []
    for name in TRACES:
        runs = conducted.where(trace=name)
        own, its = error(runs, "start_50").value, error(runs, other).value
        if not (own < its and median_error(runs, "start_50") < median_error(runs, other)):
            return None
        parts.append(f"{number(own)} h against {number(its)} h ({TRACES[name].title})")
    return f"**The median is nearer than {called}** on every trace: {listed(parts)} off, on average."
