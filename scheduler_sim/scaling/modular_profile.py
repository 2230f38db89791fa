"""A modular application: components with profiles of their own, and where each of them runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from scheduler_sim.config.problem import one_of
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.modular import Coupled, coupled
from scheduler_sim.scaling.profile import Profile, Reference


@dataclass(frozen=True)
class Part:
    """A component: how it scales, the run that is known, and where it runs now."""

    profile: Profile
    reference: Reference
    module: str
    nodes: int

    def time(self) -> float:
        """Return its own run time where it runs now, s."""
        return self.profile.run_time(self.nodes, self.module, self.reference)

    def processes(self) -> float:
        """Return its processes where it runs now."""
        return float(self.profile.counts(self.nodes, self.module)["processes"])


@dataclass(frozen=True)
class ModularProfile:
    """Components that run together, ``concurrent`` or ``staged``, and s of exchange between them."""

    app: str
    coupling: str
    exchange: float
    parts: Mapping[str, Part]

    def coupled(self) -> Coupled:
        """Return time, efficiency and load balance of the whole, as 0-d arrays."""
        parts = self.parts.values()
        return coupled(
            np.array([part.time() for part in parts]),
            np.array([part.processes() for part in parts]),
            np.array([float(part.profile.efficiency(part.nodes, part.module)) for part in parts]),
            self.coupling,
            self.exchange,
        )

    def part(self, name: str) -> Part:
        """Return a component. InputError if there is none of this name."""
        if name not in self.parts:
            raise InputError(f"{self.app}: component: found {name!r}; {one_of(list(self.parts), name)}")
        return self.parts[name]

    def moved(self, component: str, module: str, nodes: int | None = None) -> ModularProfile:
        """Run a component on another module, on as many nodes unless told."""
        part = self.part(component)
        part.profile.counts(1, module)  # an unknown module is an error here
        return self._with(component, replace(part, module=module, nodes=nodes or part.nodes))

    def with_profile(self, component: str, profile: Profile) -> ModularProfile:
        """Give a component another profile, such as one of the edits of its own."""
        return self._with(component, replace(self.part(component), profile=profile))

    def _with(self, component: str, part: Part) -> ModularProfile:
        return replace(self, parts={**self.parts, component: part})
