"""What no run may do, whatever its rules: count fewer nodes than none, or never leave an instant."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from scheduler_sim.engine.engine import FullCore
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.system.system import System

MOST_PASSES = 10_000_000
"""Passes at one instant, beside those that jobs can ask for: who needs more will never be done."""

COUNTED = {
    "free": "idle nodes",
    "busy": "busy nodes",
    "down": "nodes out of service",
    "draining": "nodes to leave service as they become idle",
    "queued": "waiting components",
}


class Standing(NamedTuple):
    """Since which step the clock has stood at an instant (s)."""

    now: int
    step: int


def broken_law(core: FullCore, system: System) -> SchedulerSimError:
    """Return what to raise where the core has stopped as a count fell below 0: which one, and when."""
    for module, it in zip(system.modules, cast(Any, core.pools), strict=False):
        for name, words in COUNTED.items():
            if it[name] < 0:
                return SchedulerSimError(
                    f"the run broke the law that counts are never below 0 at {int(core.clock.now)} s:"
                    f" {int(it[name])} {words} of module {module.name}; please report it, with the inputs"
                )
    return SchedulerSimError(f"the run broke a law at {int(core.clock.now)} s; please report it")


def refuse_to_stand_still(core: FullCore, since: Standing) -> Standing:
    """Return since when the clock stands where it does; raises SchedulerSimError if that is for ever."""
    clock = core.clock
    if clock.now != since.now:
        return Standing(int(clock.now), int(clock.steps))
    passes = int(clock.steps) - since.step
    if passes > MOST_PASSES + 100 * int(clock.jobs):
        raise SchedulerSimError(
            f"the clock does not advance: found {passes:,} passes at {since.now} s; a rule or a scheduler"
            " asks for one more in each"
        )
    return since
