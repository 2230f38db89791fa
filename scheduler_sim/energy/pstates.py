"""The clock frequencies a node can have: integers in kHz, ascending, turbo as one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError


@dataclass(frozen=True, eq=False)
class PStates:
    """The P-states of a node; a state is its place in this list, never a float.

    Attributes
    ----------
    khz : (k,) int64, what each state is called, ascending (kHz).
    effective_khz : (k,) int64, the clock a node really has in it; differs from ``khz`` for turbo alone.
    turbo : whether the highest state is turbo.
    """

    khz: Ints
    effective_khz: Ints
    turbo: bool = False

    @classmethod
    def of(cls, khz: Sequence[int] | Ints, turbo_khz: int | None = None, effective_khz: int = 0) -> PStates:
        """Make P-states from frequencies in any order, turbo among them or beside them.

        Raises InputError where there are none, one is not above 0, or turbo is not the highest.
        """
        states = np.unique(np.asarray(khz, dtype=np.int64))
        if turbo_khz is not None:
            states = np.unique(np.append(states, turbo_khz))
            if turbo_khz != states[-1]:
                raise InputError(f"turbo: found {turbo_khz} kHz; allowed: above {states[-1]} kHz")
        if not len(states) or states[0] <= 0:
            raise InputError("P-states: allowed: at least one frequency above 0 kHz")
        effective = states.copy()
        if turbo_khz is not None and effective_khz:
            effective[-1] = effective_khz
        return cls(states, effective, turbo_khz is not None)

    def __len__(self) -> int:
        return len(self.khz)

    def index(self, khz: int | Sequence[int] | Ints) -> Ints:
        """Return the states of some frequencies (kHz), in their shape.

        Raises InputError for a frequency that is no P-state.
        """
        wanted = np.asarray(khz, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.khz, wanted), len(self) - 1)
        strange = np.unique(wanted[self.khz[place] != wanted])
        if len(strange):
            raise InputError(f"P-state: found {strange[0]} kHz; allowed: {self.words()} kHz")
        return place.astype(np.int64)

    def words(self) -> str:
        """List the frequencies, the middle left out where there are many."""
        texts = [str(khz) for khz in self.khz]
        return ", ".join(texts if len(texts) <= 8 else [*texts[:3], "...", *texts[-3:]])

    def slower(self, reference_khz: Ints, targets: Ints) -> Floats:
        """Return f0 / f of effective clocks: (n,) references and (t,) targets to (n, t)."""
        base = self.effective_khz[self.index(reference_khz)].astype(np.float64)
        return base[:, None] / self.effective_khz[self.index(targets)]
