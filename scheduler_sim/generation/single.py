"""A single-module trace: what every workload model draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

Streams = Callable[[str], np.random.Generator]
"""Gives the random stream of a purpose; each purpose is asked for once."""


class SingleTrace(NamedTuple):
    """Rigid jobs of one module in order of submission, int64 arrays of one length.

    ``submit_time`` (s from midnight of day 0), ``nodes``, ``time_limit`` and ``run_time`` (s, at
    least 1, the run within the limit), ``cancel_lag`` (s from submission to its cancellation; −1
    where the job is not cancelled).
    """

    submit_time: np.ndarray
    nodes: np.ndarray
    time_limit: np.ndarray
    run_time: np.ndarray
    cancel_lag: np.ndarray

    @property
    def node_seconds(self) -> np.ndarray:
        """Work of each job; a cancelled one does none."""
        return np.where(self.cancel_lag < 0, self.nodes * self.run_time, 0)


class Model(Protocol):
    """A workload model with its parameters."""

    def draw(self, jobs: int, nodes: int, streams: Streams) -> SingleTrace:
        """Draw a number of jobs for a module of some nodes."""
