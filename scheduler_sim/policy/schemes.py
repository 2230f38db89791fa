"""The one table of backfill schemes: what each is called, which pass it makes, and what it promises.

From it follow the values of ``policy.backfill``, the policies by name, which keys go with which scheme, the
pass that a run compiles, what reports say, and the tables of ``docs/reference/policy.md``. A pass is known by
the name that it has in the engine, which this does not import.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

ALL, AS_ASKED = -1, -2
"""Reservation depth of conservative, every component in the queue; and of a scheduler of one's own."""

PLACEMENTS, UNITS, AHEAD, SWITCHING, SHARED = "placements", "units", "ahead", "switching", "shared"
RESERVED = "reserved"
NEEDS = {
    PLACEMENTS: "with components that have several placements or ask for shared resources",
    UNITS: "with components that start by one plan",
    AHEAD: "under a power cap that changes",
    SWITCHING: "where idle nodes are switched off",
    SHARED: "where jobs share nodes, or a partition covers part of a module",
    RESERVED: "beside advance reservations",
}
"""What a run may need of a pass, besides rigid components on nodes that stay on; in words for errors."""

KeptBack = Literal["", "blocked", "shadow", "plan"]
"""Why a component waits with enough nodes idle, as a result can tell: what stands before it blocks its
module; it would outlast a shadow time; it would run into a reservation. Empty: a result does not tell."""


class Pass(NamedTuple):
    """A pass over the queue, for policies of which the attributes ``only`` have these values."""

    name: str
    handles: frozenset[str]  # of NEEDS
    only: Mapping[str, Any]


class Scheme(NamedTuple):
    """A rule of which components may pass one that cannot start."""

    name: str  # the value of policy.backfill
    policy: str  # the policy of that name, in order of submission; empty: none
    depth: int  # reservations a module: 0, as many as policy.depth says, ALL or AS_ASKED
    passes: tuple[Pass, ...]  # the first that handles what a run needs is made
    keys: tuple[str, ...]  # keys of the policy that mean something here, of those that do not everywhere
    kept_back: KeptBack
    passing: str  # which components may pass one that cannot start
    promise: str  # what one that waits can count on

    @classmethod
    def unknown(cls, name: str) -> Scheme:
        """Return what is known of a scheme that is not in the table, as of a later version."""
        return cls(name, "", 0, (), (), "", "", "")


def _made(name: str, *handles: str, **only: Any) -> Pass:
    return Pass(name, frozenset(handles), only)


_COUNTED = (PLACEMENTS, UNITS, AHEAD, SWITCHING, RESERVED)
_PLANNED = _made("reservation_backfill", *_COUNTED, shadow="dynamic")
_QUICK = _made("fcfs_and_first_fit", PLACEMENTS)
_EASY = _made("easy", AHEAD, reservation_depth=1)
_KEEP = _made("conservative_keep", *_COUNTED, replan="keep")
_SHARED_QUICK = _made("fcfs_and_first_fit", PLACEMENTS, SHARED, passes="instant")
_SHARED_EASY = _made("easy", SHARED, reservation_depth=1, shadow="dynamic", passes="instant")
_SHARED_DEEP = _made("reservations_by_nodes", SHARED, shadow="dynamic", passes="instant")
_SHARED_KEEP = _made("conservative_keep", PLACEMENTS, SHARED, replan="keep", passes="instant")
_SHARED_PLAN = _made("reservation_backfill", PLACEMENTS, SHARED, passes="instant")
_SLURM = _made("slurm", PLACEMENTS, UNITS, AHEAD, SWITCHING, RESERVED)
_SHARED_SLURM = _made("slurm", PLACEMENTS, UNITS, AHEAD, SWITCHING, SHARED, RESERVED)
_OWN = _made("own_scheduler", PLACEMENTS, UNITS, AHEAD, RESERVED)
_SHARED_OWN = _made("own_scheduler", PLACEMENTS, SHARED, passes="instant")

OURS = (
    "order",
    "may_start",
    "placement",
    "overrun_s",
    "passes",
    "delay",
    "het_end",
    "packing",
    "topology",
    "preempt",
)
"""Keys of every scheme but Slurm's, which has parameters of its own for all that."""
DIALECTS = ("extra_rule", "candidate_time", "shadow")

# fmt: off
SCHEMES = (
    Scheme("none", "fcfs", 0, (_QUICK, _PLANNED, _SHARED_QUICK), OURS, "blocked",
           "none: a blocked component blocks its module",
           "nothing behind it starts before it on its module"),
    Scheme("easy", "easy", 1, (_EASY, _PLANNED, _SHARED_EASY, _SHARED_DEEP),
           (*OURS, "depth", "backfill_order", *DIALECTS), "shadow",
           "those that do not delay the first blocked ones", "a start, once it is the first of its module"),
    Scheme("conservative", "conservative", ALL, (_KEEP, _PLANNED, _SHARED_KEEP, _SHARED_PLAN),
           (*OURS, "replan"), "plan",
           "those that delay nothing before them in the queue",
           "a start, from its submission on; `replan` decides whether it may move to a later time"),
    Scheme("first_fit", "", 0, (_QUICK, _PLANNED, _SHARED_QUICK), (*OURS, "backfill_order"), "",
           "all that fit, nothing is reserved", "nothing"),
    Scheme("slurm", "slurm", ALL, (_SLURM, _SHARED_SLURM), ("slurm",), "",
           "those that Slurm's main and backfill schedulers start",
           "what a backfill pass reserves, until the next pass"),
    Scheme("scheduler", "", AS_ASKED, (_OWN, _SHARED_OWN),
           ("scheduler", "parameters", *(key for key in OURS if key not in ("placement", "preempt"))), "",
           "those that `scheduler`, your own class, starts", "what your scheduler decides"),
)
# fmt: on

BY_NAME = {scheme.name: scheme for scheme in SCHEMES}


def handling(need: str) -> str:
    """Name the schemes that can do what a run needs, for an error."""
    return ", ".join(scheme.name for scheme in SCHEMES if any(need in one.handles for one in scheme.passes))


def unable(scheme: Scheme, needs: Collection[str]) -> str:
    """Say, of a scheme without a pass for all of ``needs``, the first that it has none for."""
    for need in needs:
        if not any(need in one.handles for one in scheme.passes):
            return f"policy.backfill: found {scheme.name!r} {NEEDS[need]}; allowed here: {handling(need)}"
    both = [one.name for one in SCHEMES if any(one_pass.handles.issuperset(needs) for one_pass in one.passes)]
    found = ", and ".join(NEEDS[need] for need in needs)
    allowed = ", ".join(both) or "one without the other"
    return f"policy.backfill: found {scheme.name!r} {found}; allowed here: {allowed}"
