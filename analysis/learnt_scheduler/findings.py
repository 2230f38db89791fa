"""What can be concluded: sentences that stand on the page only where the runs bear them out."""

from __future__ import annotations

from typing import Any

from analysis.common.markdown import listed
from analysis.common.numbers import change, in_percent, mean, number
from analysis.learnt_scheduler.agents import AGENTS
from analysis.learnt_scheduler.cases import GENERATED, PLAIN, RECORDED, TRACES
from analysis.learnt_scheduler.conduct import SCHEDULERS, Conducted

SJF = "SJF"
"""With which the others are compared in numbers: the best of the plain ones for this measure."""


def findings(conducted: Conducted) -> list[str]:
    """Return the sentences that hold: on all agents, on each, and on who waits longest."""
    told = [_elsewhere(conducted), *(_agent(conducted, agent) for agent in AGENTS), _longest(conducted)]
    return [sentence for sentence in told if sentence is not None]


def against(conducted: Conducted, measure: str, scheduler: str, baseline: str, trace: str) -> dict[Any, Any]:
    """Return how a measure changes from one scheduler to another, paired by trace."""
    return change(conducted.on(trace), measure, scheduler, baseline, by="scheduler")


def side(row: dict[Any, Any]) -> int:
    """Say whether a change is less (−1) or more (1) than chance alone makes, or neither (0)."""
    return -1 if row["change_high"] < 0 else 1 if row["change_low"] > 0 else 0


def _elsewhere(conducted: Conducted) -> str | None:
    """Whether anything that was learnt is of use on traces of another kind."""
    if any(trace in RECORDED for agent in AGENTS for trace in _on(conducted, agent, SJF, -1)):
        return None
    better = [agent for agent in AGENTS if GENERATED in _on(conducted, agent, SJF, -1)]
    here = f", though {listed(better)} did on {GENERATED} as those of the training" if better else ""
    return (
        f"**What was learnt on generated traces did not beat {SJF} on recorded ones**{here}. This is a"
        " test of transfer, with one training of some minutes: it says nothing of schedulers that learn from"
        " the trace itself. They were trained for the mean logarithm of bounded slowdowns, and are compared"
        " by their mean."
    )


def _agent(conducted: Conducted, agent: str) -> str:
    """Where slowdowns are less under what was learnt, and what becomes of waits, for which nobody trained."""
    less = {base: _on(conducted, agent, base, -1) for base in PLAIN}
    more = {base: _on(conducted, agent, base, 1) for base in PLAIN}
    told = [f"under {base} on {listed(traces)}" for base, traces in less.items() if traces]
    worse = [f"under {base} on {listed(traces)}" for base, traces in more.items() if traces]
    head = f"is less than {listed(told)}" if told else "is less than under none of the others"
    also = f", and more than {listed(worse)}" if worse else ""
    changes = [
        listed(
            [f"{in_percent(against(conducted, measure, agent, SJF, trace))} on {trace}" for trace in TRACES]
        )
        for measure in ("slowdown", "wait_h")
    ]
    return (
        f"**{agent[0].upper()}{agent[1:]}.** Mean bounded slowdown {head}{also}. Against {SJF} it changes by"
        f" {changes[0]}; the mean wait by {changes[1]}."
    )


def _on(conducted: Conducted, agent: str, base: str, wanted: int) -> list[str]:
    """Return the traces on which slowdowns are less (−1), or more (1), than under another scheduler."""
    return [trace for trace in TRACES if side(against(conducted, "slowdown", agent, base, trace)) == wanted]


def _longest(conducted: Conducted) -> str:
    """What it costs: who waits longest."""
    told = []
    for trace in TRACES:
        runs = conducted.on(trace)
        waits = [number(mean(runs[runs["scheduler"] == name], "longest_wait_h").value) for name in SCHEDULERS]
        told.append(f"{', '.join(waits)} h on {trace}")
    return (
        f"**Who waits longest.** The longest wait of a trace is on average, under {listed(SCHEDULERS)}:"
        f" {listed(told)}."
    )
