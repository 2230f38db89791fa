"""What ``benchmarks list`` prints."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_sim.benchmarking.series import Series
from scheduler_sim.benchmarking.steps import FALSE_ALARMS, FEWEST
from scheduler_sim.report.benchmark_words import changed_words, date_words, level_words, parameter_words
from scheduler_sim.report.wording import count, plain


def list_text(series: Sequence[Series]) -> str:
    """Return every series with its runs, its level, and its steps."""
    lines = []
    for benchmark in dict.fromkeys(one.benchmark for one in series):
        lines.append(plain(benchmark))
        for one in series:
            if one.benchmark != benchmark:
                continue
            level = level_words(one.values[one.since :], one.unit)
            runs = count(len(one.times), "run")
            lines.append(f"  {plain(one.metric)}, {parameter_words(one.parameters)}: {runs}, {level}")
            for step in one.steps:
                lines.append(f"    {date_words(int(one.times[step.at]))}: {changed_words(one, step)}")
    few = sum(not one.looked_at for one in series)
    steps = sum(len(one.steps) for one in series)
    told = f"{count(steps, 'step')} in {len(series) - few:,} series"
    told += f"; of those without a step at most {FALSE_ALARMS:.0%} show one by chance"
    if few:
        told += f"; {few} with fewer than {FEWEST} runs not tested"
    return "\n".join([*lines, "", told])
