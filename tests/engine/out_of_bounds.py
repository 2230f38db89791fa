"""A kernel that takes any index, right and wrong. Run as a program, it says how each use of one ended.

A process of its own: where indices are not checked, a wrong one may end it.
"""

from __future__ import annotations

from typing import Any

from scheduler_sim import Simulation, System, Workload
from scheduler_sim.engine.core.jit import entry, part

USES = {
    "a field is read": lambda core: len(core.jobs),
    "a field is written": lambda core: len(core.jobs),
    "a number is read": lambda core: len(core.queue.waiting),
    "a number is written": lambda core: len(core.queue.waiting),
    "a row of a table": lambda core: core.releases.shape[0],
    "a place in a row": lambda core: core.releases.shape[1],
    "a place in a row that has a name": lambda core: core.releases.shape[1],
}
"""Ways to use an index into an array of the core, and how many places there are."""


@part
def use(core: Any, way: int, at: int) -> int:
    """Use an index, in a function that is only ever linked into others."""
    if way == 0:
        return core.jobs[at].state
    if way == 1:
        core.jobs[at].state = 0
    if way == 2:
        return core.queue.waiting[at]
    if way == 3:
        core.queue.waiting[at] = 0
    if way == 4:
        return core.releases[at][0].row
    if way == 5:
        return core.releases[0, at].row
    if way == 6:
        plan = core.releases[0]
        return plan[at].row
    return 0


@entry
def planted(core: Any, way: int, at: int) -> int:
    """Use an index as the engine's loop does."""
    return use(core, way, at)


def main() -> None:
    """Print how each use of the first and the last index ended, and of those before and behind them."""
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 0], run_time=[5, 5])
    core = Simulation(System.homogeneous(4), jobs, "easy")._core
    for way, (name, places) in enumerate(USES.items()):
        for at in (0, places(core) - 1, -1, places(core)):
            try:
                planted(core, way, at)
            except IndexError:
                print(f"{name}: {at} of {places(core)}: IndexError")
            else:
                print(f"{name}: {at} of {places(core)}: fine")


if __name__ == "__main__":
    main()
