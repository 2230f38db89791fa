"""What a rule of the engine reads, in one simulation: of the trace, then of components that come later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.errors import BesideJobs
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.switching import Switching
from scheduler_sim.simulation.units import Units
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn, combined
from scheduler_sim.workload.fields import CALLING, TOGETHER
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.checkpoint import CheckpointKeys
    from scheduler_sim.applications.models import Models
    from scheduler_sim.applications.spread import SpreadKeys

Numbering = dict[tuple[Any, ...], int]

Edge = tuple[int, int, int, int]
"""A component's row, the row it waits for, the kind as a code, s after the start (AFTER)."""


class Run(NamedTuple):
    """What is simulated, by which rules tell what there is to do for them.

    Attributes
    ----------
    amounts : how much there is of each shared resource
    units : components that start by one plan
    calls : row, kind as a code, s after the start; by row and time
    switching : when idle nodes are switched off
    seed : of random draws
    checkpoints : how each type of application writes them; None: it does not
    spreads : how much longer jobs of each type take whose nodes lie apart; None: they do not
    capped : whether the last of the amounts is what all may draw together
    models : of applications and energy
    """

    system: System
    policy: Policy
    amounts: tuple[int, ...]
    units: Units
    calls: list[tuple[int, int, int]]
    switching: Switching | None
    seed: int = 0
    checkpoints: tuple[CheckpointKeys | None, ...] = ()
    spreads: tuple[SpreadKeys | None, ...] = ()
    capped: bool = False
    models: Models | None = None

    def asking(self, what: int) -> Ints:
        """Return the rows of the trace's components that start TOGETHER, are of jobs with some that are
        DELAYED, or are CALLING (codes of ``SKIP_REASONS``)."""
        if what == CALLING:
            return np.unique([row for row, *_ in self.calls]).astype(np.int64)
        units = (one for one in self.units.members if what == TOGETHER or self.units.offset[one].any())
        return np.concatenate([np.zeros(0, dtype=np.int64), *units])

    def refuse(self, what: int, problem: str) -> None:
        """Raise BesideJobs if some components ask for this."""
        if len(self.asking(what)):
            raise BesideJobs(problem, what)


class Jobs(NamedTuple):
    """Components that go into the core together: those of the trace, or what processes submit at an instant.

    Attributes
    ----------
    first : their first row in the core
    where : rows of their placements
    edges : what each waits for; None: it stands in the workload
    needs : where nodes are shared under Slurm, what each placement needs (``slurm_needs.Needs``)
    """

    workload: Workload
    placements: Placements
    first: int = 0
    where: Any = slice(0)
    edges: Sequence[Sequence[Edge]] | None = None
    needs: Any = None

    @property
    def rows(self) -> slice:
        """Their rows in the core."""
        return slice(self.first, self.first + len(self.placements.rows))

    def column(self, name: str) -> np.ndarray:
        """Return a column of numbers of the workload, in the order of the rows."""
        numbers: np.ndarray = self.workload.columns[name][self.placements.in_table]
        return numbers

    def text(self, name: str) -> TextColumn:
        """Return a column of text of the workload, in the order of the rows."""
        texts: TextColumn = self.workload.columns[name][self.placements.in_table]
        return texts


class Numbers:
    """The numbers of one rule.

    Attributes
    ----------
    part : the part of the core in which they stand
    needed : whether the run has the rule, by what has been described; once it has, it keeps it
    """

    part = ""
    needed = False

    def __init__(self, run: Run) -> None:
        self.run = run

    def describe(self, jobs: Jobs) -> Any:
        """Number what components refer to, those of the trace first; what is new gets the next numbers."""

    def room(self, sizes: Sizes) -> Any:
        """Return the room that the part needs in a core of these sizes, for all that has been described."""
        raise NotImplementedError

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what a run begins with; the components of the trace have what every core keeps of them."""
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """Write components; those of the rules before stand there already."""
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write another request of one component; what it was before stands in ``core.jobs``."""
        return core

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Return further columns of the result, of so many components in the order of the core."""
        return {}

    def reads_placements(self, core: FullCore, row: int) -> bool:
        """Whether the placements of a component that does not run are still read."""
        return False


def numbered(known: Numbering, *columns: Any) -> np.ndarray:
    """int64[n]: the number of each combination of values, in order of appearance; ``known`` grows."""
    codes, found = combined(*columns)
    number = np.array([known.setdefault(values, len(known)) for values in found], dtype=np.int64)
    numbers: np.ndarray = number[codes]
    return numbers
