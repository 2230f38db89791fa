"""Switching idle nodes off: what a simulation is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scheduler_sim.energy.accounting import milli
from scheduler_sim.errors import ConfigError, did_you_mean
from scheduler_sim.system.system import System

if TYPE_CHECKING:
    from scheduler_sim.energy.layer import EnergyLayer
    from scheduler_sim.energy.layer_keys import IdleOffKeys
    from scheduler_sim.energy.profile import PowerProfile
    from scheduler_sim.policy.slurm_keys import SlurmKeys


class Switched(NamedTuple):
    """When the idle nodes of a module are switched off, and how long a node takes, all in whole s.

    Attributes
    ----------
    timeout_s : so long a node is idle before it is switched off; None: it stays on.
    min_awake : idle nodes that are kept on.
    boot_s : from off to idle, at least 1; shutdown_s : from idle to off.
    away_s : so long no job can have a node that is told to shut down, under Slurm (SuspendTimeout).
    draws_mw : what a node draws that is idle, off, boots, and shuts down, mW.
    """

    timeout_s: int | None = None
    min_awake: int = 0
    boot_s: int = 1
    shutdown_s: int = 0
    away_s: int = 0
    draws_mw: tuple[int, int, int, int] = (0, 0, 0, 0)


Switching = tuple[Switched, ...]
"""One of each module, in the order of the system."""


def switching_of(layer: EnergyLayer | None, system: System) -> Switching | None:
    """Return when nodes of each module are switched off; None if none ever is.

    Raises ConfigError for a module that the system does not have, and for nodes that boot in no time;
    InputError for a module without a power profile.
    """
    keys = None if layer is None else layer.idle_off
    if layer is None or keys is None:
        return None
    names = [module.name for module in system.modules]
    for name in keys.modules:
        if name.lower() not in [known.lower() for known in names]:
            allowed = ", ".join(names) + did_you_mean(name, names)
            raise ConfigError(f"energy.idle_off.modules: found {name!r}; allowed: {allowed}")
    found = tuple(_switched(keys, layer.profiles[name], name) for name in names)
    return found if any(one.timeout_s is not None for one in found) else None


def switching_under_slurm(layer: EnergyLayer | None, system: System, keys: SlurmKeys) -> Switching | None:
    """Return when Slurm powers nodes of each module down, by its own keys or by those of the models.

    Without models a boot takes ResumeTimeout, and a shutdown SuspendTimeout.

    Raises ConfigError for both at once, for timeouts that boots or shutdowns take longer than, and as
    :func:`switching_of`.
    """
    found = switching_of(layer, system)
    if keys.SuspendTime is None:
        return found and tuple(
            _within_timeouts(one, keys, module.name)
            for one, module in zip(found, system.modules, strict=True)
        )
    if found is not None:
        raise ConfigError(
            f"policy.slurm.SuspendTime: found {keys.SuspendTime} beside energy.idle_off of the models;"
            " allowed: one of the two"
        )
    made = []
    for module in system.modules:
        one = Switched(keys.SuspendTime, 0, keys.settled("ResumeTimeout"), keys.settled("SuspendTimeout"))
        if layer is not None:
            one = one._replace(**_times(layer.profiles[module.name], module.name))
        made.append(_within_timeouts(one, keys, module.name))
    return tuple(made)


def _within_timeouts(one: Switched, keys: SlurmKeys, module: str) -> Switched:
    """Nodes that boot for longer would be down, and those that shut down for longer given to jobs."""
    for name, allowed, takes, does in (
        ("ResumeTimeout", keys.ResumeTimeout, one.boot_s, "boot"),
        ("SuspendTimeout", keys.SuspendTimeout, one.shutdown_s, "shut down"),
    ):
        if allowed is not None and allowed < takes:
            raise ConfigError(
                f"policy.slurm.{name}: found {allowed}, and nodes of {module} {does} in {takes} s; allowed:"
                f" an integer >= {takes}"
            )
    away = keys.SuspendTimeout
    return one._replace(away_s=max(keys.settled("SuspendTimeout"), one.shutdown_s) if away is None else away)


def _times(profile: PowerProfile, module: str) -> dict[str, Any]:
    """How long a node boots and shuts down, and what it draws. Raises ConfigError for no time."""
    times = {"boot": profile.boot_s}
    if profile.keys.shutdown.energy_j.value > 0:
        times["shutdown"] = profile.shutdown_s
    for key, seconds in times.items():
        if not seconds:
            raise ConfigError(
                f"power profile of {module}: {key}.time_s: found 0; allowed where idle nodes are switched"
                " off: a number > 0"
            )
    draws = milli(np.array(profile.watts), f"power profile of {module}").tolist()
    return {"boot_s": profile.boot_s, "shutdown_s": profile.shutdown_s, "draws_mw": tuple(draws)}


def _switched(keys: IdleOffKeys, profile: PowerProfile, module: str) -> Switched:
    own = next((rule for name, rule in keys.modules.items() if name.lower() == module.lower()), keys)
    if own.timeout_s is None:
        return Switched()
    return Switched(own.timeout_s, own.min_awake, **_times(profile, module))
