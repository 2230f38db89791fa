"""Sites in a study: a slurm.conf, or the folder of a site with its workload, in place of a system file."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.site import known_reservations, read_folder, read_site, with_site, without_topology
from scheduler_sim.study.keys import StudyKeys
from scheduler_sim.system.site_folder import SiteFolder
from scheduler_sim.system.slurm_conf.site import Site
from scheduler_sim.system.system import System

DEFAULT_POLICY = "slurm"


@dataclass(frozen=True)
class StudySite:
    """What a site says; ``folder`` is None of a slurm.conf alone."""

    site: Site
    folder: SiteFolder | None

    @property
    def system(self) -> System:
        """Its nodes and partitions."""
        return self.site.system

    def with_keys(self, policy: Policy, settings: Collection[str]) -> Policy:
        """Return a policy with the site's keys where neither its file nor a setting says otherwise."""
        return without_topology(with_site(policy, self.site, settings), self.site, settings)[0]

    def with_outages(self, system: System, policy: Policy) -> System:
        """Return a system with when nodes of the site are out of service, or reserved."""
        if self.folder is None:
            return system
        reservations, _ = known_reservations(policy, self.folder)
        return replace(
            system,
            events=(*system.events, *self.folder.events),
            reservations=(*system.reservations, *reservations),
        )


def site_at(path: Path) -> StudySite | None:
    """Read a slurm.conf, or the folder of a site; None of any other file."""
    if os.path.isdir(path):
        folder = read_folder(str(path))
        return StudySite(folder.site, folder)
    site = read_site(str(path))
    return None if site is None else StudySite(site, None)


def with_own_workloads(keys: StudyKeys, folder: Path) -> StudyKeys:
    """Return the keys of a study of sites' folders, with what it leaves out: workloads and a policy.

    Each folder then runs its own workload alone, by default under Slurm's schedulers.
    """
    folders = {name: Path(where) for name, where in keys.systems.items() if isinstance(where, str) and where}
    if len(folders) < len(keys.systems) or not all(os.path.isdir(folder / one) for one in folders.values()):
        return keys
    changes: dict[str, Any] = {} if keys.policies else {"policies": {DEFAULT_POLICY: DEFAULT_POLICY}}
    if not keys.workloads:
        found = {name: read_folder(str(folder / one)).workload.name for name, one in folders.items()}
        changes["workloads"] = {name: {"trace": str(folders[name] / file)} for name, file in found.items()}
        others = [
            {"system": [system], "workload": [name for name in found if name != system]}
            for system in (found if len(found) > 1 else ())
        ]
        changes["exclude"] = [*keys.exclude, *others]
    return keys.model_copy(update=changes)
