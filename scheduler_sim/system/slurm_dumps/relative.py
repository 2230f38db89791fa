"""QOS with the flag Relative, since Slurm 23.11: amounts of resources are percentages of what there is.

Of the nodes of a partition whose QOS it is, else of all; rounded down, and never more than all of it
(assoc_mgr.c 5806, 7004 of 26.05.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.system import System

RELATIVE = "relative"
NO_TOTAL = "a percentage of something of which it is not known here how much there is: no limit"
KB_PER_MB = 1024


def made_absolute(qos: Mapping[str, Any], system: System, place: str, notes: Notes) -> dict[str, Any]:
    """Return QOS, as ``policy.slurm.qos``, with amounts in place of percentages."""
    return {
        name: _absolute(name, form, system, place, notes) if _is_relative(form) else form
        for name, form in qos.items()
    }


def _is_relative(form: Any) -> bool:
    return isinstance(form, dict) and any(flag.lower() == RELATIVE for flag in form.get("Flags", ()))


def _absolute(name: str, form: Mapping[str, Any], system: System, place: str, notes: Notes) -> dict[str, Any]:
    """One of them, without the flag."""
    pair = Pair("Flags", f"Relative of {name}", place)
    totals, made = _totals(_sets_of(name, system), system), dict[str, Any]()
    for key, value in form.items():
        if key == "Flags":
            made[key] = [flag for flag in value if flag.lower() != RELATIVE]
        elif isinstance(value, dict):
            for resource in value.keys() - totals.keys():
                notes.ignore(pair, NO_TOTAL, key=key, value=f"{resource}={value[resource]}")
            known = {resource: most for resource, most in value.items() if resource in totals}
            made[key] = {one: min(percent, 100) * totals[one] // 100 for one, percent in known.items()}
        else:
            made[key] = value
    return {key: value for key, value in made.items() if value not in ([], {})}


def _sets_of(name: str, system: System) -> list[NodeSet]:
    """The nodes of the partition whose QOS it is, else all."""
    for one in system.partitions:
        if str(one.slurm.get("QOS", "")).lower() == name:
            sets = system.module(one.module).sets
            return [there for there in sets if not one.node_sets or there.name in one.node_sets]
    return [one for module in system.modules for one in module.sets]


def _totals(sets: Iterable[NodeSet], system: System) -> dict[str, int]:
    """How much there is of each resource, as limits name it."""
    totals = {f"license/{one.name}": one.amount for one in system.resources}
    for one in sets:
        each = {"node": 1, "cpu": one.processors, "mem": one.memory_kb // KB_PER_MB, "gres/gpu": one.gpus}
        each |= {f"gres/{name}": amount for name, amount in one.gres.items()}
        for resource, amount in each.items():
            totals[resource] = totals.get(resource, 0) + int(amount) * one.nodes
    return totals
