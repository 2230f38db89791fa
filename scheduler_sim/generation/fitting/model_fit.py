"""Learning the parameters of Cirne's model from a trace, with intervals, tests and reservations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.fitting.cycle_fit import fit_arrivals
from scheduler_sim.generation.fitting.estimates import Estimate, wilson_interval
from scheduler_sim.generation.fitting.learnt import Learnt
from scheduler_sim.generation.fitting.notes import notes_of
from scheduler_sim.generation.fitting.page import fit_text
from scheduler_sim.generation.fitting.records import FEWEST, Records, records_of
from scheduler_sim.generation.fitting.size_fit import fit_correlation, fit_sizes
from scheduler_sim.generation.fitting.tests_of_fit import LawTest, tests_of
from scheduler_sim.generation.fitting.time_fit import ALL_OF_IT, fit_accuracy, fit_durations
from scheduler_sim.generation.law import law_curves
from scheduler_sim.generation.times import Accuracy, Cancellations, LogUniform
from scheduler_sim.streams import stream
from scheduler_sim.workload.curves import TraceCurves
from scheduler_sim.workload.table import Workload


class Fit(Learnt):
    """A model learnt from a trace: as a recipe, as a page of text, as the curves of a trace."""

    def recipe(self, jobs: int | None = None) -> dict[str, Any]:
        """Return a recipe that generates such a trace, of as many jobs unless told otherwise.

        Numbers have 6 significant digits.
        """
        model, cycle = self.model, self.model.arrivals.cycle
        arrivals = {
            "process": model.arrivals.process,
            "hourly": [_rounded(rate) for rate in cycle.hourly],
        }
        if cycle.weekly:
            arrivals["weekly"] = [_rounded(weight) for weight in cycle.weekly]
        laws: dict[str, Any] = {
            "kind": "cirne",
            "arrivals": arrivals,
            "sizes": _numbers(model.sizes, "slope", "intercept", "power_of_two"),
            "requests": _numbers(model.requests, "slope", "intercept"),
            "accuracy": _numbers(model.accuracy, "shape", "scale"),
            "cancellations": _numbers(model.cancellations, "probability"),
            "size_time_correlation": _rounded(model.size_time_correlation),
        }
        if (self.estimates["parameter"] == "cancellations.lag.slope").any():
            laws["cancellations"]["lag"] = _numbers(model.cancellations.lag, "slope", "intercept")
        module = {
            "name": self.module or "CLUSTER",
            "nodes": self.nodes,
            "jobs": jobs or self.jobs,
            "model": laws,
        }
        return {"name": f"like-{self.name}", "modules": [module]}

    def text(self) -> str:
        """Return the fit as a page of plain text."""
        return fit_text(self)

    def law(self) -> TraceCurves:
        """Return what the model expects of a trace, as the curves that are drawn of traces."""
        return law_curves(self.model, self.nodes, f"fit to {self.name}")


def fit(workload: Workload, nodes: int | None = None, module: str | None = None, seed: int = 0) -> Fit:
    """Learn the parameters of :class:`Cirne` from a trace.

    Parameters
    ----------
    workload : the trace: what is simulated of it, and jobs cancelled before they ran
    nodes : of the machine or module; None = as the header says, else the largest size
    module : only jobs that name this partition first; None = all
    seed : of the resampling behind the intervals of the requests, and of a trace drawn to compare means

    Where more than half of the jobs give no time limit of their own, the requests law is
    that of the run times, as the simulation takes them for limits, and every job uses all of it.

    Raises
    ------
    InputError
        for an unknown module, fewer than 30 jobs, jobs all submitted at once, or nodes out of range.
    """
    records = records_of(workload, nodes, module)
    size = np.minimum(records.size, records.nodes)
    sizes, found = fit_sizes(size, records.nodes)
    limit = records.limit[records.timed]
    requests, more = fit_durations(limit, stream(seed, "fit/requests"))
    accuracy, used = _accuracy(records)
    cancellations, cancelled = _cancellations(records, seed)
    correlation = fit_correlation(size[records.timed], limit, sizes, records.nodes)
    cycle = fit_arrivals(records)
    model = Cirne(
        arrivals=cycle.arrivals,
        sizes=sizes,
        requests=requests,
        accuracy=accuracy,
        cancellations=cancellations,
        size_time_correlation=correlation.value,
    )
    drawn = model.draw(records.jobs, records.nodes, lambda purpose: stream(seed, f"fit/drawn/{purpose}"))
    return Fit(
        name=records.name,
        module=module,
        model=model,
        nodes=records.nodes,
        jobs=records.jobs,
        estimates=pd.DataFrame(
            [*found, *more, *used, *cancelled, correlation, *cycle.estimates], columns=Estimate._fields
        ),
        tests=pd.DataFrame(tests_of(model, records, cycle), columns=LawTest._fields),
        notes=notes_of(records, model, cycle, drawn),
    )


def _accuracy(records: Records) -> tuple[Accuracy, list[Estimate]]:
    if not records.requested:
        return ALL_OF_IT, []
    return fit_accuracy(records.run_time[records.stated], records.limit[records.stated])


def _cancellations(records: Records, seed: int) -> tuple[Cancellations, list[Estimate]]:
    """Return the law of jobs cancelled before they ran; of their lags where enough are known."""
    probability = records.cancelled / records.jobs
    low, high = wilson_interval(records.cancelled, records.jobs)
    found = [Estimate("cancellations.probability", probability, low, high)]
    lag: LogUniform = Cancellations().lag
    if len(records.lags) >= FEWEST:
        lag, more = fit_durations(records.lags, stream(seed, "fit/lags"), "cancellations.lag")
        found += more
    return Cancellations(probability, lag), found


def _numbers(law: object, *names: str) -> dict[str, float]:
    return {name: _rounded(getattr(law, name)) for name in names}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
