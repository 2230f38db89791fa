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
from scheduler_sim.scaling.parameters import CLOCK, PROCESSES, SIZE
from scheduler_sim.scaling.profile_keys import MOST_NODES, ProvenanceKeys
from scheduler_sim.scaling.tree import Counts, Tree


class Reference(NamedTuple):
    """A run that is known: seconds, nodes, module, clock (kHz, None = nominal), size (None = the usual)."""

    time: float
    nodes: int
    module: str
    khz: int | None = None
    size: float | None = None


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
    beta, nominal_khz : share of the time that scales with the clock, and its clock; 0 for no reaction, and
        for a model that depends on the clock itself
    size : of the problem in its usual runs, for a model that depends on it; None = each run states its own
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
    size: float | None = None
    sizes: Sizes = field(default=Sizes())
    time_factor: float = 1.0
    measured: Profile | None = None
    provenance: ProvenanceKeys = field(default=ProvenanceKeys())
    share: float | None = None

    @property
    def depends_on(self) -> tuple[str, ...]:
        """What a model of times depends on; of a tree of efficiencies processes alone are said."""
        return self.model.inputs if isinstance(self.model, Curve) else (PROCESSES,)

    def counts(
        self, nodes: ArrayLike, module: str, size: ArrayLike | None = None, khz: ArrayLike | None = None
    ) -> Counts:
        """Return processes, nodes, ranks, threads, clock (kHz) and, where known, problem size, float64.

        Raises InputError for a module it cannot run on.
        """
        if module not in self.speeds:
            raise InputError(f"{self.app}: module: found {module!r}; {one_of(list(self.speeds), module)}")
        n = np.asarray(nodes, dtype=np.float64)
        ranks = n * (
            self.ranks_per_node if isinstance(self.ranks_per_node, int) else self.ranks_per_node[module]
        )
        threads = np.full(n.shape, float(self.threads))
        counts = {"processes": ranks * threads, "nodes": n, "ranks": ranks, "threads": threads}
        clock = self.nominal_khz if khz is None else khz
        for name, value in ((SIZE, self.size if size is None else size), (CLOCK, clock)):
            if value is not None:
                counts[name] = np.asarray(value, dtype=np.float64)
        return counts

    def relative_time(
        self, nodes: ArrayLike, module: str, size: ArrayLike | None = None, khz: ArrayLike | None = None
    ) -> Floats:
        """Return run times up to a factor common to all sizes and modules, float64.

        strong: 1 / (P GE(P)), weak: 1 / GE(P), over the speed of the module; a model of times as it is.

        Parameters
        ----------
        size, khz : of the problem, and of the processors, for a model that depends on them; None = the usual

        Raises InputError for a module it cannot run on, and where nobody says the size of the problem.
        """
        counts = self.counts(nodes, module, size, khz)
        p = counts[PROCESSES]
        if isinstance(self.model, Curve):
            if SIZE in self.model.inputs and SIZE not in counts:
                raise InputError(
                    f"{self.app}: found no size of the problem; allowed: a number from 1, as size"
                )
            time = self.model.at(counts)
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
        self,
        nodes: ArrayLike,
        module: str,
        reference: Reference,
        khz: int | None = None,
        size: float | None = None,
    ) -> Floats:
        """Return seconds on so many nodes of a module, at a clock, for a size of the problem, float64.

        The size is the reference's where it is not stated.

        At the reference itself that is its time to the bit, unless the profile has what-ifs.
        Raises InputError for modules it cannot run on, and times or nodes that cannot be.
        """
        if not (np.isfinite(reference.time) and reference.time > 0):
            raise InputError(f"reference: found {reference.time:g} s; allowed: a number above 0")
        known = self.measured or self
        size = reference.size if size is None else size
        here = self.relative_time(nodes, module, size, khz) * self.slowdown(khz)
        there = known.relative_time(reference.nodes, reference.module, reference.size, reference.khz)
        there = there * known.slowdown(reference.khz)
        same = (
            (np.asarray(nodes) == reference.nodes)
            & (module == reference.module)
            & (khz == reference.khz)
            & (size == reference.size)
            & (self.measured is None)
        )
        return np.where(same, reference.time, reference.time * (here / there))

    def run_time(
        self,
        nodes: int,
        module: str,
        reference: Reference,
        khz: int | None = None,
        size: float | None = None,
    ) -> float:
        """Return the run time at one size, s."""
        return float(self.run_times(nodes, module, reference, khz, size))

    def band(
        self,
        nodes: ArrayLike,
        module: str,
        size: ArrayLike | None = None,
        khz: ArrayLike | None = None,
        level: float = 0.9,
    ) -> tuple[Floats, Floats]:
        """Return both ends within which this share of what the profile holds to be possible lies, over its
        run time; 1 where it holds one curve.

        Raises InputError as ``relative_time``.
        """
        if not isinstance(self.model, Curve):
            return np.ones(np.shape(nodes)), np.ones(np.shape(nodes))
        counts = self.counts(nodes, module, size, khz)
        middle = self.model.at(counts)
        low, high = self.model.band(counts, level)
        return low / middle, high / middle

    def efficiency(
        self, nodes: ArrayLike, module: str, size: float | None = None, khz: int | None = None
    ) -> Floats:
        """Return the global efficiency; for a model of times, relative to its smallest size."""
        if not isinstance(self.model, Curve):
            return self.model.values(self.counts(nodes, module))
        base = self.sizes.least
        n = np.asarray(nodes, dtype=np.float64)
        ratio = self.relative_time(base, module, size, khz) / self.relative_time(n, module, size, khz)
        return ratio * base / n if self.scaling == "strong" else ratio

    def factors(self, nodes: ArrayLike, module: str) -> dict[tuple[str, ...], Floats]:
        """Return every node of the tree of efficiencies by its path; empty for a model of times."""
        if isinstance(self.model, Curve):
            return {}
        return dict(self.model.walk(self.counts(nodes, module)))

    def n_opt(self, module: str, most: int, size: float | None = None) -> int:
        """Return the smallest of the sizes with the least run time, up to ``most`` nodes."""
        sizes = self._sizes(module, most)
        return int(sizes[np.argmin(self.relative_time(sizes, module, size))])

    def n_at_efficiency(self, floor: float, module: str, most: int, size: float | None = None) -> int | None:
        """Return the largest size with at least this efficiency, None if there is none."""
        sizes = self._sizes(module, most)
        enough = sizes[self.efficiency(sizes, module, size) >= floor]
        return int(enough[-1]) if len(enough) else None

    def offered(self, module: str, most: int, size: float | None = None) -> Ints:
        """Return the sizes worth offering to a scheduler, int64, rising.

        Those with an efficiency of at least the floor, up to the one with the least run time. Of a weak
        scaling application none: on other nodes it would be another problem.
        """
        if self.scaling == "weak" or module not in self.speeds:
            return np.empty(0, dtype=np.int64)
        sizes = self.sizes.up_to(most)
        if not len(sizes):
            return sizes
        best = sizes[np.argmin(self.relative_time(sizes, module, size))]
        enough = self.efficiency(sizes, module, size) >= self.sizes.floor
        sizes_offered: Ints = sizes[enough & (sizes <= best)]
        return sizes_offered

    def check(self, nodes: int, module: str, size: float | None = None, khz: int | None = None) -> list[str]:
        """Say what speaks against a prediction there: far from what was fitted, never checked."""
        counts = self.counts(nodes, module, size, khz)
        p = float(counts[PROCESSES])
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
        for name, (least, most) in self.provenance.others.items():
            value = float(counts.get(name, np.array(least)))
            if not least <= value <= most:
                said.append(
                    f"{self.app}: {name} {value:g} is outside the {least:g} to {most:g} that were fitted"
                )
        return said

    def _sizes(self, module: str, most: int) -> Ints:
        sizes = self.sizes.up_to(most)
        if not len(sizes):
            raise InputError(f"{self.app}: none of its sizes is within {most} nodes of {module}")
        return sizes
