"""The load that is offered to each module, and what there is to say of one beyond what it can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.result.columns import TOTAL, numbers


def offered_load(run: Run) -> dict[str, float | None]:
    """Return node-seconds of those that ran over nodes × span of their submissions, by module and ``total``.

    The span, s, is that of all modules together; None where all is submitted at one instant.
    """
    submit, modules = run.jobs.submit, run.modules
    if not len(submit):
        return dict.fromkeys((*modules, TOTAL))
    span = int(submit.max() - submit.min())
    if run.shared:
        return _with_shared(run, span)
    return {
        **{name: ratio(run.work[name], modules[name] * span) for name in modules},
        TOTAL: ratio(sum(run.work.values()), sum(modules.values()) * span),
    }


def _with_shared(run: Run, span: int) -> dict[str, float | None]:
    """Return the load of each module, and of all their nodes, where jobs share those of some."""
    loads = {
        name: _shared_load(run, name, span) if name in run.shared else ratio(run.work[name], nodes * span)
        for name, nodes in run.modules.items()
    }
    offered = sum((loads[name] or 0.0) * nodes for name, nodes in run.modules.items())
    return {**loads, TOTAL: ratio(offered, sum(run.modules.values())) if span else None}


def _shared_load(run: Run, module: str, span: int) -> float | None:
    """Return the largest load of cores, memory and GPUs: what was held × run time over all of it × span."""
    here, seconds = run.in_module(module), run.jobs.run
    loads = [
        ratio(float((numbers(run.components, resource)[run.ran] * seconds)[here].sum()), amount * span)
        for resource, amount in run.shared[module].items()
    ]
    return max((load for load in loads if load is not None), default=None)


def overloads(load: Mapping[str, float | None]) -> Iterator[str]:
    """Yield a warning for each module that is offered more than it can carry."""
    for name, value in load.items():
        if name != TOTAL and value is not None and value > 1:
            yield (
                f"the offered load on module {name} is {value:.2f}: more work than its nodes could do while"
                " it was submitted, so waits grow with the length of the trace"
            )
