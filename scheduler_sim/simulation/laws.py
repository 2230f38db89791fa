"""What no run may do, whatever its rules: count fewer nodes than none, or never leave an instant."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from scheduler_sim.engine.core import laws
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.system.system import System

MOST_PASSES = 10_000_000
"""Passes at one instant, beside those that jobs can ask for: who needs more will never be done."""

WORDS = {
    laws.PARTS_IN_USE: ("shared_nodes", "cores, memory or GPUs in use of"),
    laws.PARTS_FREE: ("shared_nodes", "free memory or GPUs of"),
    laws.NODE_JOBS: ("shared_nodes", "jobs of"),
    laws.SUBMITTED_JOBS: ("resource_limits", "submitted jobs at the counter of limits"),
    laws.LIMITED_JOBS: ("resource_limits", "running jobs at the counter of limits"),
    laws.LIMITED_AMOUNT: ("resource_limits", "of a resource in use at the counter of limits"),
    laws.ARRAY_TASKS: ("slurm", "running tasks of the array"),
    laws.NODES_OFF: ("power_saving", "nodes switched off of"),
    laws.NODES_BOOTING: ("power_saving", "booting nodes of"),
    laws.NODES_STOPPING: ("power_saving", "nodes that shut down of"),
    laws.START_LOOKED_FOR: ("slurm", "as the next start (s) to try of the component in row"),
}
"""Of each law of the core the rule that keeps it, and what it is about, in the words of an error."""

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
    """Return what to raise where the core has stopped as a law was broken: which one, whose, and when."""
    now, found = int(core.clock.now), f"{_found(core, system)}; please report it, with the inputs"
    who = WORDS[int(core.clock.law)][0] if core.clock.law != laws.KEPT else "pools"
    law = "counts are never below 0"
    if core.clock.law == laws.START_LOOKED_FOR:
        law = "a search for a start advances"
    return SchedulerSimError(f"rule {who} broke the law that {law} at {now} s: {found}")


def _found(core: FullCore, system: System) -> str:
    """What is below 0, or who is looked for."""
    law, of = int(core.clock.law), int(core.clock.law_of)
    if law != laws.KEPT:
        return f"found {int(core.clock.law_count)} {WORDS[law][1]} {_whose(core, system, law, of)}"
    for module, it in zip(system.modules, cast(Any, core.pools), strict=False):
        for name, words in COUNTED.items():
            if it[name] < 0:
                return f"found {int(it[name])} {words} of module {module.name}"
    resources = [*(one.name for one in system.resources), "power budget"]
    for it, name in zip(cast(Any, core.pools)[len(system.modules) :], resources, strict=False):
        if it["busy"] < 0:
            return f"found {int(it['busy'])} in use of the shared resource {name}"
    return "found no count below 0"


def _whose(core: FullCore, system: System, law: int, of: int) -> str:
    """The name of what has such a number."""
    if law in (laws.PARTS_IN_USE, laws.PARTS_FREE, laws.NODE_JOBS):
        module = int(core.shared_nodes.node[of].module)
        node = of - int(core.shared_nodes.module[module].begin)
        return f"module {system.modules[module].name}, node {node}"
    if law in (laws.NODES_OFF, laws.NODES_BOOTING, laws.NODES_STOPPING):
        return f"module {system.modules[of].name}"
    return f"number {of}"


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
