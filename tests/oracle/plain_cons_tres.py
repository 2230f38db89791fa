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
from tests.oracle.plain_cons_tres_needs import AVAILABLE, Needs
from tests.oracle.plain_cons_tres_offers import offer_of
from tests.oracle.plain_cons_tres_records import Share
from tests.oracle.plain_cons_tres_room import Cores, Room, Tenant


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
    for free in _attempts(room, needs, all_cores):
        found = _select(room, needs, free)
        if found is not None:
            return _beside_lower_tiers(room, needs, free, found) if needs.kind == AVAILABLE else found
    return None


def _attempts(room: Room, needs: Needs, all_cores: Cores) -> list[Cores]:
    """Cores that nobody has; where cores may be shared, then those that no job of the same tier has, then
    those beside one row of the partition's jobs after the other, then any if there is an empty row."""
    attempts = [room.without(all_cores, room.tenants)]
    if needs.kind == AVAILABLE:
        attempts.append(room.without(all_cores, _of_tiers(room, needs, lambda tier, own: tier == own)))
        rows = room.rows(needs.part)
        attempts += [room.without(all_cores, row) for row in rows]
        if len(rows) < needs.part.rows:
            attempts.append(all_cores)
    return attempts


def _of_tiers(room: Room, needs: Needs, which) -> list[Tenant]:
    return [tenant for tenant in room.tenants if which(tenant.part.tier, needs.part.tier)]


def _beside_lower_tiers(room: Room, needs: Needs, free: Cores, found: Offers) -> Offers:
    """Without the cores of jobs of lower tiers too, if that works out."""
    lower = _of_tiers(room, needs, lambda tier, own: tier < own)
    better = _select(room, needs, room.without(free, lower)) if lower else None
    return found if better is None else better


def _select(room: Room, needs: Needs, free: Cores) -> Offers | None:
    if needs.whole:
        free = {node: cores for node, cores in free.items() if cores == room.nodes[node].all_cores}
    offers = {node: offer_of(room, needs, node, cores) for node, cores in free.items()}
    offers = {node: offer for node, offer in sorted(offers.items()) if offer is not None}
    lln = room.settings.lln or needs.part.lln
    return choose_nodes(needs, offers, _weights(room, offers), lln, room.settings.whole_sockets)


def _weights(room: Room, offers: Offers) -> Weights:
    """By Weight, then by how many of the GPUs that it asks for are there."""
    return {node: (room.nodes[node].weight, -offer.near_gpus) for node, offer in offers.items()}
