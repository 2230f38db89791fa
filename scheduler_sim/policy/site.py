"""A site's slurm.conf, or its whole folder, as a policy knows it: its keys, checked, and its reservations."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scheduler_sim.errors import ConfigError

if TYPE_CHECKING:
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.policy.slurm_keys import SlurmKeys
    from scheduler_sim.system.reservations import ReservationKeys
    from scheduler_sim.system.site_folder import SiteFolder
    from scheduler_sim.system.slurm_conf.site import Site
    from scheduler_sim.system.system import System


def read_site(path: str) -> Site | None:
    """Read a slurm.conf with the policy keys that are modelled; None for any other file."""
    from scheduler_sim.system.read_system import is_slurm_conf

    if not is_slurm_conf(path):
        return None
    from scheduler_sim.policy.slurm_keys import SlurmKeys
    from scheduler_sim.system.slurm_conf.site import read_slurm_conf

    return read_slurm_conf(path, modelled=SlurmKeys.model_fields)


def read_machine(path: str | Path, policy: Policy) -> System:
    """Read a system file; of a slurm.conf only the machine, and warn of its keys that policy slurm lacks."""
    site = read_site(str(path)) if policy.backfill == "slurm" else None
    if site is None:
        from scheduler_sim.system.read_system import read_system

        return read_system(path)
    from scheduler_sim.system.slurm_conf.site import BY_DEFAULT

    stated = {name for name, place in site.places.items() if place != BY_DEFAULT}
    left = sorted(stated - policy.slurm.model_fields_set)
    if left:
        named = ", ".join(left[:3]) + ", ..." * (len(left) > 3)
        warnings.warn(
            f"{path}: only its machine is taken; policy slurm goes without {len(left)} of its keys ({named});"
            " with them: scheduler-sim run, or slurm=read_slurm_conf(...).policy in the policy",
            UserWarning,
            stacklevel=4,
        )
    return site.system


def read_folder(path: str) -> SiteFolder:
    """Read the folder of a site with the policy keys that are modelled, checked."""
    from scheduler_sim.policy.limits import FLAGS, AssociationLimits, QosKeys
    from scheduler_sim.policy.shares import UserKeys
    from scheduler_sim.policy.slurm_keys import SlurmKeys
    from scheduler_sim.system.site_folder import read_site_folder
    from scheduler_sim.system.slurm_dumps.modelled import Modelled

    modelled = Modelled(
        policy=SlurmKeys.model_fields,
        qos=QosKeys.model_fields,
        users=UserKeys.model_fields,
        limits=AssociationLimits.model_fields,
        flags=FLAGS,
    )
    folder = read_site_folder(Path(path), modelled)
    slurm_keys(folder.site.policy, folder.site.places)
    return folder


def with_site(policy: Policy, site: Site, settings: Collection[str]) -> Policy:
    """Return the policy with the site's keys where neither its file nor a setting says otherwise.

    A policy without Slurm's passes is left as it is. Raises ConfigError, with the line of the
    slurm.conf, for values that mean nothing.
    """
    if policy.backfill != "slurm":
        return policy
    stated = {name: getattr(policy.slurm, name) for name in policy.slurm.model_fields_set}
    later = {key.removeprefix("policy.").removeprefix("slurm.") for key in settings}
    merged = {**{name: value for name, value in site.policy.items() if name not in later}, **stated}
    return policy.model_copy(update={"slurm": slurm_keys(merged, site.places)})


def without_topology(policy: Policy, site: Site, settings: Collection[str]) -> tuple[Policy, str]:
    """Return the policy as it is, or one that does not look at the site's topology, and why.

    Where jobs are suspended a topology is not modelled. One that a policy file or a setting asks
    for by name stays, and is refused.
    """
    looks = site.system.topology is not None and "TopologyPlugin" in site.policy
    gangs = policy.backfill == "slurm" and policy.slurm.gangs
    if not gangs or not looks or "policy.slurm.TopologyPlugin" in settings:
        return policy, ""
    slurm = policy.slurm.model_copy(update={"TopologyPlugin": "topology/none"})
    found = f"PreemptMode {policy.slurm.PreemptMode}"
    told = f"TopologyPlugin is left out: with {found} the topology is not modelled; any free nodes are used"
    return policy.model_copy(update={"slurm": slurm}), told


def slurm_keys(written: Mapping[str, Any], places: Mapping[str, str]) -> SlurmKeys:
    """Return keys of policy slurm, checked. Raises ConfigError with the place of each that means nothing."""
    from scheduler_sim.config.keys import check_keys
    from scheduler_sim.config.problem import listed
    from scheduler_sim.policy.slurm_keys import SlurmKeys, contradictions

    keys, problems = check_keys(SlurmKeys, dict(written))
    problems.extend(contradictions(dict(written)))
    if problems or keys is None:
        named = ((places.get(str(problem.where[0]), "policy.slurm"), problem) for problem in problems)
        raise ConfigError(listed(f"{place}: {problem}" for place, problem in named))
    return keys


def known_reservations(policy: Policy, folder: SiteFolder) -> tuple[Sequence[ReservationKeys], str]:
    """Return the reservations of a site that the policy knows, and what it does not know, in words."""
    if policy.backfill == "slurm":
        return folder.reservations, ""
    from scheduler_sim.system.reservations import FLAGS_OF_SLURM

    counted = not any(folder.site.system.told_apart)
    known = [one for one in folder.reservations if counted and not {*one.flags} & {*FLAGS_OF_SLURM}]
    left = len(folder.reservations) - len(known)
    of = f"{left} of {len(folder.reservations)} reservations are ignored under {policy.name}"
    flags = f"{', '.join(FLAGS_OF_SLURM[:-1])} or {FLAGS_OF_SLURM[-1]}"
    why = f"{of}, which supports only reservations of whole nodes without {flags}"
    return known, why if left else ""
