"""What Slurm's schedulers keep of a power cap."""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.records import Record, one
from scheduler_sim.engine.core.state import Core


class Budget(Record):
    """The amount."""

    pool: int  # of mW above idle nodes


class PowerBudget(NamedTuple):
    """What all jobs may draw together."""

    at: Budget


class CappedCore(Core):
    """A core under a power cap that Slurm's schedulers plan with."""

    power_budget: PowerBudget


def blank_power_budget(pool: int) -> PowerBudget:
    """Return the part, of an amount that is the last of the shared resources."""
    made = PowerBudget(one(Budget))
    made.at.pool = pool
    return made
