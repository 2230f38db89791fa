"""The workload model of Cirne and Berman, with the changes the DEEP-EST project made and some of ours.

W. Cirne, F. Berman, "A comprehensive model of the supercomputer workload", WWC-4 (2001);
DEEP-EST deliverable D2.3 (2021), section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler_sim.generation.arrivals import Arrivals, Cycle
from scheduler_sim.generation.single import SingleTrace, Streams
from scheduler_sim.generation.sites import SITES
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.generation.times import (
    Accuracy,
    Cancellations,
    LogUniform,
    correlated,
    correlated_quantiles,
)


def cycle_of_site(name: str) -> Cycle:
    """Return the daily cycle of ``anl``, ``ctc``, ``kth`` or ``sdsc``."""
    site = SITES[name]
    return Cycle(reference_nodes=site.nodes, polynomial=site.polynomial)


@dataclass(frozen=True)
class Cirne:
    """Parameters of the model; the defaults are those of the DEEP-EST project.

    Attributes
    ----------
    arrivals, sizes, requests, accuracy, cancellations : the laws.
    load_multiplier : multiplies the arrival rate and the requested times, so that the offered
        load grows with its square.
    reduction_factor : 1, or 2: twice the arrival rate and half the nodes of every parallel job.
    size_time_correlation : Spearman's rank correlation of size and requested time; the
        reference has none.
    """

    arrivals: Arrivals = field(default_factory=lambda: Arrivals(cycle_of_site("anl")))
    sizes: SizeLaw = SizeLaw()
    requests: LogUniform = LogUniform(0.10, -0.75)
    accuracy: Accuracy = Accuracy()
    cancellations: Cancellations = Cancellations()
    load_multiplier: float = 1.0
    reduction_factor: int = 1
    size_time_correlation: float = 0.0

    @property
    def rate_factor(self) -> float:
        """What the load multiplier and the reduction factor make of the arrival rate."""
        return self.load_multiplier * self.reduction_factor

    def draw(self, jobs: int, nodes: int, streams: Streams) -> SingleTrace:
        """Draw jobs for a module of some nodes."""
        where = streams("size").random(jobs)
        size = self.sizes.draw(nodes, self.reduction_factor, where, streams("power_of_two"))
        in_law = correlated(where, self.size_time_correlation, streams("request"))
        limit = self.requests.at(in_law, self.load_multiplier)
        run = self.accuracy.run_times(limit, streams("accuracy"))
        lag = self.cancellations.draw(jobs, streams("cancellation"))
        work = int(np.where(lag < 0, size * run, 0).sum())
        submit = self.arrivals.draw(jobs, nodes, self.rate_factor, work, streams)
        return SingleTrace(submit, size, limit, run, lag)

    def offered_load(self, nodes: int) -> float:
        """Return the load that the laws offer to a machine: work of a day over node-seconds of a day.

        Cancelled jobs do no work.
        """
        if self.arrivals.offered_load is not None:
            return self.arrivals.offered_load
        jobs = self.rate_factor * self.arrivals.cycle.jobs_per_day(nodes)
        worked = 1.0 - self.cancellations.probability
        return jobs * worked * self.mean_work(nodes) / (nodes * 86400.0)

    def mean_work(self, nodes: int) -> float:
        """Return the mean work of a job of the laws, node-seconds, to about 1 in 1,000."""
        if self.size_time_correlation == 0.0:
            pmf = self.sizes.pmf(nodes, self.reduction_factor)
            return float((np.arange(len(pmf)) * pmf).sum()) * self.mean_run_time()
        where = (np.arange(1000) + 0.5) / 1000
        size = self.sizes.mean_at(where, nodes, self.reduction_factor)
        in_law = correlated_quantiles(where, self.size_time_correlation)
        run = np.interp(in_law, *self._run_time_by_request()).mean(axis=1)
        return float((size * run).mean())

    def mean_run_time(self) -> float:
        """Return the mean run time of the laws, s, to about 1 in 10,000 (midpoints of quantiles)."""
        return float(self._run_time_by_request()[1].mean())

    def _run_time_by_request(self) -> tuple[np.ndarray, np.ndarray]:
        """Return quantiles of the requests, and the mean run time of jobs that stand there."""
        points = (np.arange(1000) + 0.5) / 1000
        exact = np.outer(self.requests.at(points, self.load_multiplier), self.accuracy.at(points))
        return points, np.maximum(np.ceil(exact), 1.0).mean(axis=1)
