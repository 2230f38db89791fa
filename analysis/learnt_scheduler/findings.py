"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, in_percent, mean, number
from analysis.learnt_scheduler.cases import GENERATED, RECORDED, TRACES
from analysis.learnt_scheduler.conduct import LEARNT, SCHEDULERS, Conducted

EASY, SJF, F1 = "EASY", "SJF", "F1"


def findings(conducted: Conducted) -> list[str]:
    """Return a sentence for each question; each says what the runs say."""
    sentences = [_against(conducted, agent, EASY) for agent in LEARNT.values()]
    sentences += [_against(conducted, agent, SJF) for agent in LEARNT.values()]
    return [*sentences, _longest(conducted)]


def against(conducted: Conducted, measure: str, scheduler: str, baseline: str, trace: str) -> dict[Any, Any]:
    """Return how a measure changes from one scheduler to another, paired by trace."""
    return change(conducted.on(trace), measure, scheduler, baseline, by="scheduler")


def side(row: dict[Any, Any]) -> int:
    """Say whether a change is less (−1) or more (1) than chance alone makes, or neither (0)."""
    return -1 if row["change_high"] < 0 else 1 if row["change_low"] > 0 else 0


def _against(conducted: Conducted, agent: str, baseline: str) -> str:
    """Whether bounded slowdowns are smaller under what was learnt, where it was trained and elsewhere."""
    rows = {trace: against(conducted, "slowdown", agent, baseline, trace) for trace in TRACES}
    sides = {trace: side(row) for trace, row in rows.items()}
    words = {-1: "shorter", 0: "no different by more than chance", 1: "longer"}
    told = [f"{words[sides[trace]]} on {trace}: {in_percent(row)}" for trace, row in rows.items()]
    if set(sides.values()) == {-1}:
        head = f"The {agent} beats {baseline} on all three"
    elif sides[GENERATED] == -1 and any(sides[trace] >= 0 for trace in RECORDED):
        head = f"The {agent} beats {baseline} on traces as those of its training, not on all others"
    elif -1 not in sides.values():
        head = f"The {agent} beats {baseline} nowhere"
    else:
        beaten = listed([trace for trace in TRACES if sides[trace] == -1])
        head = f"The {agent} beats {baseline} on {beaten}"
    return f"**{head}.** Slowdowns are {listed(told)}."


def _longest(conducted: Conducted) -> str:
    """What it costs: who waits longest."""
    told = []
    for trace in TRACES:
        runs = conducted.on(trace)
        waits = [number(mean(runs[runs["scheduler"] == name], "longest_wait_h").value) for name in SCHEDULERS]
        told.append(f"{', '.join(waits)} h on {trace}")
    return (
        f"**Somebody waits longer.** The longest wait of a trace is on average, under {listed(SCHEDULERS)}:"
        f" {listed(told)}."
    )
