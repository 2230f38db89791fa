"""A slurm.conf or a site's folder in place of a system file: what is told of it on a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.cli.terminal import note
from scheduler_sim.policy.site import (
    known_reservations,
    read_folder,
    read_site,
    slurm_keys,
    with_site,
    without_topology,
)

if TYPE_CHECKING:
    from scheduler_sim.policy.policy import Policy
    from scheduler_sim.system.reservations import ReservationKeys
    from scheduler_sim.system.site_folder import SiteFolder
    from scheduler_sim.system.slurm_conf.site import Site

__all__ = [
    "at_site",
    "left_out",
    "read_folder",
    "read_site",
    "reservations_under",
    "slurm_keys",
    "with_site",
    "without_topology",
]


def at_site(
    policy: Policy, settings: Collection[str], system: str, folder: SiteFolder | None, *, quiet: bool
) -> Policy:
    """Let a slurm.conf, or the folder of a site, give the policy the keys that nothing else states."""
    site = read_site(system) if folder is None else folder.site
    if site is None:
        return policy
    if folder is None and (told := left_out(site, system)):
        note(told, quiet=quiet)
    policy, told = without_topology(with_site(policy, site, settings), site, settings)
    if told:
        note(told, quiet=False)
    return policy


def reservations_under(policy: Policy, folder: SiteFolder | None) -> Sequence[ReservationKeys]:
    """Return the reservations of a site that the policy knows; what it does not know is told."""
    if folder is None:
        return ()
    known, why = known_reservations(policy, folder)
    if why:
        note(why, quiet=False)
    return known


def left_out(site: Site, path: str) -> str:
    """Say in a line how much of a slurm.conf counts for nothing; nothing where all counts."""
    if not site.ignored:
        return ""
    matter = sum(one.matters for one in site.ignored)
    settings = "1 setting is" if len(site.ignored) == 1 else f"{len(site.ignored)} settings are"
    named = f"{Path(path).name}: {settings} left out, {matter} of which may matter"
    return f"{named}; scheduler-sim inspect {path} lists them"
