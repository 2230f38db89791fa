"""The rules that have numbers, in the order in which these are written."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from scheduler_sim.simulation.rules.numbers import Numbers, Run

RULES = {
    "dependencies": "dependencies.Dependencies",
    "slurm": "slurm.schedulers.Schedulers",
    "preemption": "slurm.preemption.Preemption",
    "gang": "slurm.gang.Gang",
    "slurm_power_saving": "slurm.power_saving.SlurmPowerSaving",
    "power_budget": "slurm.power_cap.SlurmPowerCap",
    "outages": "slurm.outages.NamedOutages",
    "topology": "slurm.topology.SwitchTopology",
    "named_nodes": "slurm.topology.NamedNodes",
    "shared_nodes": "shared_nodes.SharedNodes",
    "cons_tres": "slurm.cons_tres.ConsTres",
    "rows": "slurm.rows.Rows",
    "time_slices": "slurm.time_slices.TimeSlices",
    "reservations": "slurm.reservations.Reservations",
    "running_reserved": "slurm.running_reserved.RunningReserved",
    "node_weights": "slurm.node_weights.NodeWeights",
    "resource_limits": "slurm.resource_limits.ResourceLimits",
    "leaves": "leaves.Leaves",
    "spread": "spread.Spread",
    "devices": "devices.Devices",
    "shadow": "shared_nodes.Shadow",
    "node_plan": "shared_nodes.NodePlan",
    "coscheduling": "coscheduling.Coscheduling",
    "calls": "calls.Calls",
    "holds": "holds.Holds",
    "single_events": "dialects.SingleEvents",
    "second_order": "dialects.SecondOrder",
    "own_scheduler": "own_scheduler.OwnScheduler",
    "vetoes": "vetoes.Vetoes",
    "placement_ranks": "placement_ranks.PlacementRanks",
    "checkpoints": "checkpoints.Checkpoints",
    "holes": "holes.Holes",
    "making_room": "making_room.MakingRoom",
    "grace": "making_room.Grace",
    "suspending": "suspending.Suspending",
    "slowing": "slowing.Slowing",
    "power_saving": "power_saving.PowerSaving",
}
"""Parts of the core, and what writes their numbers; each looks at what those before it have written."""


OF_OTHERS = (
    *("holes", "suspending", "leaves", "single_events", "second_order", "own_scheduler", "vetoes"),
    *("placement_ranks", "power_saving"),
)
OF_SLURM = (
    *("slurm", "gang", "preemption", "slurm_power_saving", "power_budget", "outages", "topology"),
    *("named_nodes", "cons_tres", "rows", "time_slices", "reservations", "running_reserved"),
    *("node_weights", "resource_limits"),
)


def rules_of(run: Run) -> Iterator[Numbers]:
    """Yield what writes the numbers of a run: of every rule that it has or may come to have.

    Slurm's are many files, for runs under that policy alone; some are for all runs but these.
    """
    for part, home in RULES.items():
        if part not in (OF_OTHERS if run.policy.backfill == "slurm" else OF_SLURM):
            file, _, name = home.rpartition(".")
            rule: type[Numbers] = getattr(import_module(f"{__package__}.{file}"), name)
            yield rule(run)
