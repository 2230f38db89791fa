"""An application's profile: run times at any number of nodes of any module, relative to a run known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Curve
from scheduler_sim.scaling.fitting.fit import FAR
from scheduler_sim.scaling.profile_keys import MOST_NODES, ProvenanceKeys
from scheduler_sim.scaling.tree import Counts, Tree


class Reference(NamedTuple):
    """A run that is known: seconds, nodes, module, and clock (kHz, None = nominal)."""

    time: float
    nodes: int
    module: str
    khz: int | None = None


@dataclass(frozen=True)
class Sizes:
    """Numbers of nodes at which an application may run."""

    least: int = 1
    most: int = MOST_NODES
    only: str | tuple[int, ...] = "any"
    floor: float = 0.5

    def up_to(self, most: int) -> Ints:
        """Return the sizes, int64, rising, up to a number of nodes."""
        top = min(most, self.most)
        if isinstance(self.only, tuple):
            every = np.array(self.only, dtype=np.int64)
        elif self.only == "powers_of_two":
            every = 2 ** np.arange(max(top, 1).bit_length(), dtype=np.int64)
        else:
            every = np.arange(self.least, top + 1, dtype=np.int64)
        return every[(every >= self.least) & (every <= top)]


@dataclass(frozen=True)
class Profile:
    """How an application scales.

    Attributes
    ----------
    app : its name
    scaling : strong or weak
    model : a tree of efficiencies, or a curve of times or work
    ranks_per_node : by module, or one for all
    threads : of a process
    speeds : by module, speed of one process; modules not named cannot run it
    beta, nominal_khz : share of the time that scales with the clock, and its clock; 0 for no reaction
    sizes : at which it may run
    time_factor : what what-ifs leave of the run time, 1 = all
    measured : the profile before what-ifs, which describes runs that are known; None = this one
    provenance : source, range fitted, largest P checked, notes
    share : per cent of the jobs, None = not stated
    """

    app: str
    scaling: str
    model: Tree | Curve
    ranks_per_node: int | Mapping[str, int]
    threads: int
    speeds: Mapping[str, float]
    beta: float = 0.0
    nominal_khz: int = 1
    sizes: Sizes = field(default=Sizes())
    time_factor: float = 1.0
    measured: Profile | None = None
    provenance: ProvenanceKeys = field(default=ProvenanceKeys())
    share: float | None = None

    def counts(self, nodes: ArrayLike, module: str) -> Counts:
        """Return processes, nodes, ranks and threads, float64. InputError for a module it cannot run on."""
        if module not in self.speeds:
            raise InputError(f"{self.app}: module: found {module!r}; {one_of(list(self.speeds), module)}")
        n = np.asarray(nodes, dtype=np.float64)
        ranks = n * (
            self.ranks_per_node if isinstance(self.ranks_per_node, int) else self.ranks_per_node[module]
        )
        threads = np.full(n.shape, float(self.threads))
        return {"processes": ranks * threads, "nodes": n, "ranks": ranks, "threads": threads}

    def relative_time(self, nodes: ArrayLike, module: str) -> Floats:
        """Return run times up to a factor common to all sizes and modules, float64.

        strong: 1 / (P GE(P)), weak: 1 / GE(P), over the speed of the module; a model of times as it is.
        """
        counts = self.counts(nodes, module)
        p = counts["processes"]
        if isinstance(self.model, Curve):
            time = self.model.values(p)
            if self.model.quantity == "work":
                time = time / p
        else:
            time = 1 / self.model.values(counts)
            if self.scaling == "strong":
                time = time / p
        return time * self.time_factor / self.speeds[module]

    def slowdown(self, khz: ArrayLike | None) -> Floats:
        """Return beta nominal / q + 1 − beta, the run time at a clock over that at the nominal one."""
        if khz is None:
            return np.ones(())
        return self.beta * self.nominal_khz / np.asarray(khz, dtype=np.float64) + (1 - self.beta)

    def run_times(
        self, nodes: ArrayLike, module: str, reference: Reference, khz: int | None = None
    ) -> Floats:
        """Return seconds on so many nodes of a module, at a clock, float64.

        At the reference itself that is its time to the bit, unless the profile has what-ifs.
        Raises InputError for modules it cannot run on, and times or nodes that cannot be.
        """
        if not (np.isfinite(reference.time) and reference.time > 0):
            raise InputError(f"reference: found {reference.time:g} s; allowed: a number above 0")
        known = self.measured or self
        here = self.relative_time(nodes, module) * self.slowdown(khz)
        there = known.relative_time(reference.nodes, reference.module) * known.slowdown(reference.khz)
        same = (
            (np.asarray(nodes) == reference.nodes)
            & (module == reference.module)
            & (khz == reference.khz)
            & (self.measured is None)
        )
        return np.where(same, reference.time, reference.time * (here / there))

    def run_time(self, nodes: int, module: str, reference: Reference, khz: int | None = None) -> float:
        """Return the run time at one size, s."""
        return float(self.run_times(nodes, module, reference, khz))

    def efficiency(self, nodes: ArrayLike, module: str) -> Floats:
        """Return the global efficiency; for a model of times, relative to its smallest size."""
        if not isinstance(self.model, Curve):
            return self.model.values(self.counts(nodes, module))
        base = self.sizes.least
        n = np.asarray(nodes, dtype=np.float64)
        ratio = self.relative_time(base, module) / self.relative_time(n, module)
        return ratio * base / n if self.scaling == "strong" else ratio

    def factors(self, nodes: ArrayLike, module: str) -> dict[tuple[str, ...], Floats]:
        """Return every node of the tree of efficiencies by its path; empty for a model of times."""
        if isinstance(self.model, Curve):
            return {}
        return dict(self.model.walk(self.counts(nodes, module)))

    def n_opt(self, module: str, most: int) -> int:
        """Return the smallest of the sizes with the least run time, up to ``most`` nodes."""
        sizes = self._sizes(module, most)
        return int(sizes[np.argmin(self.relative_time(sizes, module))])

    def n_at_efficiency(self, floor: float, module: str, most: int) -> int | None:
        """Return the largest size with at least this efficiency, None if there is none."""
        sizes = self._sizes(module, most)
        enough = sizes[self.efficiency(sizes, module) >= floor]
        return int(enough[-1]) if len(enough) else None

    def offered(self, module: str, most: int) -> Ints:
        """Return the sizes worth offering to a scheduler, int64, rising.

        Those with an efficiency of at least the floor, up to the one with the least run time. Of a weak
        scaling application none: on other nodes it would be another problem.
        """
        if self.scaling == "weak" or module not in self.speeds:
            return np.empty(0, dtype=np.int64)
        sizes = self.sizes.up_to(most)
        if not len(sizes):
            return sizes
        best = sizes[np.argmin(self.relative_time(sizes, module))]
        sizes_offered: Ints = sizes[(self.efficiency(sizes, module) >= self.sizes.floor) & (sizes <= best)]
        return sizes_offered

    def check(self, nodes: int, module: str) -> list[str]:
        """Say what speaks against a prediction there: far from what was fitted, never checked."""
        p = float(self.counts(nodes, module)["processes"])
        fitted, checked = self.provenance.fitted, self.provenance.checked_to
        if not fitted:
            return [f"{self.app}: the profile does not say what was fitted"]
        said = []
        if p > FAR * max(fitted):
            said.append(
                f"{self.app}: {p:g} processes are {p / max(fitted):.3g} times the most that were fitted"
            )
        if p > 2 * max(fitted) and (checked is None or checked < p / 2):
            said.append(f"{self.app}: nothing was measured halfway to {p:g} processes")
        if p < min(fitted):
            said.append(f"{self.app}: {p:g} processes are fewer than the {min(fitted):g} that were fitted")
        return said

    def _sizes(self, module: str, most: int) -> Ints:
        sizes = self.sizes.up_to(most)
        if not len(sizes):
            raise InputError(f"{self.app}: none of its sizes is within {most} nodes of {module}")
        return sizes
