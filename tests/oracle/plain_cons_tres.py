"""Slurm's select/cons_tres (22.05) as a slow, plain model: whether a job fits, where, and with what shares.

The rules were read in the source (src/plugins/select/cons_common and cons_tres) and checked on recordings of
a running Slurm. `fits` is `_job_test`, `place` what a real start makes of it.

Node sets by features, powered-down nodes, preemption and reserved cores are left out. So is that a test of a
job with GRES marks nodes by how many GPUs they have, and that jobs without, tested by backfill before the
next start or submission, still see those marks as different weights.
"""

from __future__ import annotations

from tests.oracle.plain_cons_tres_choice import Offers, Weights, choose_nodes
from tests.oracle.plain_cons_tres_deal import deal
from tests.oracle.plain_cons_tres_needs import AVAILABLE, ONE_ROW, Needs
from tests.oracle.plain_cons_tres_offers import offer_of
from tests.oracle.plain_cons_tres_records import Share
from tests.oracle.plain_cons_tres_room import Cores, Room
from tests.oracle.plain_cons_tres_rows import Tenant


def place(room: Room, needs: Needs, usable: set[int]) -> dict[int, Share] | None:
    """The shares with which the job would start now, on some of the usable nodes."""
    offers = fits(room, needs, usable)
    return None if offers is None else deal(room, needs, offers)


def fits(room: Room, needs: Needs, usable: set[int]) -> Offers | None:
    """The nodes it would take, and the CPUs that are meant to be taken of them."""
    candidates = {node for node in usable if room.may_use(needs, node)}
    all_cores = room.all_cores(candidates)
    if _select(room, needs, all_cores) is None:
        return None  # not even with all cores free
    found = _select(room, needs, room.without(all_cores, room.tenants))
    if found is None and (needs.kind == AVAILABLE or (room.settings.gang and needs.kind == ONE_ROW)):
        if room.settings.by_tier:
            all_cores = room.without(all_cores, [one for one in room.tenants if _is_above(room, one, needs)])
        found = _beside_other_tiers(room, needs, all_cores) or _in_a_row(room, needs, all_cores)
    return found


def _is_above(room: Room, tenant: Tenant, needs: Needs) -> bool:
    """Whether it makes no way for the job: by its tier, or as its partition is OFF."""
    return tenant.part.tier > needs.part.tier or tenant.part.name in room.settings.off


def _beside_other_tiers(room: Room, needs: Needs, all_cores: Cores) -> Offers | None:
    """On cores that no job of the same tier has; nor jobs of lower tiers, partition by partition, as far as
    that works out."""
    free = room.without(all_cores, [one for one in room.tenants if one.part.tier == needs.part.tier])
    found = _select(room, needs, free)
    if found is None:
        return None
    lower = {id(one.part): one.part for one in room.tenants if one.part.tier < needs.part.tier}
    for part in sorted(lower.values(), key=lambda part: (-part.tier, part.place)):
        free = room.without(free, [one for one in room.tenants if one.part is part])
        better = _select(room, needs, free)
        if better is None:
            return found
        found = better
    return found


def _in_a_row(room: Room, needs: Needs, all_cores: Cores) -> Offers | None:
    """Beside one row of the partition's jobs after the other, whoever of other partitions has the cores."""
    for row in room.rows(needs.part):
        found = _select(room, needs, room.without(all_cores, row))
        if found is not None or not row:
            return found
    return None


def _select(room: Room, needs: Needs, free: Cores) -> Offers | None:
    if needs.whole:
        free = {node: cores for node, cores in free.items() if cores == room.nodes[node].all_cores}
    offers = {node: offer_of(room, needs, node, cores) for node, cores in free.items()}
    offers = {node: offer for node, offer in sorted(offers.items()) if offer is not None}
    lln = room.settings.lln or needs.part.lln
    return choose_nodes(needs, offers, _weights(room, offers), lln, room.settings.whole_sockets)


def _weights(room: Room, offers: Offers) -> Weights:
    """Some last; by Weight, unless it is off, then by how many of the GPUs that it asks for are there."""
    return {
        node: (
            node in room.asleep,
            node in room.last,
            room.nodes[node].weight * (node not in room.asleep),
            -offer.near_gpus,
        )
        for node, offer in offers.items()
    }
