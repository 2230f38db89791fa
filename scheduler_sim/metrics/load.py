"""The load that is offered to each module, and what there is to say of one beyond what it can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.result.columns import TOTAL


def offered_load(run: Run) -> dict[str, float | None]:
    """Return node-seconds of those that ran over nodes × span of their submissions, by module and ``total``.

    The span, s, is that of all modules together; None where all is submitted at one instant.
    """
    submit, modules = run.jobs.submit, run.modules
    if not len(submit):
        return dict.fromkeys((*modules, TOTAL))
    span = int(submit.max() - submit.min())
    return {
        **{name: ratio(run.work[name], modules[name] * span) for name in modules},
        TOTAL: ratio(sum(run.work.values()), sum(modules.values()) * span),
    }


def overloads(load: Mapping[str, float | None]) -> Iterator[str]:
    """Yield a warning for each module that is offered more than it can carry."""
    for name, value in load.items():
        if name != TOTAL and value is not None and value > 1:
            yield (
                f"the offered load on module {name} is {value:.2f}: more work than its nodes could do while"
                " it was submitted, so waits grow with the length of the trace"
            )
