"""Slurm's fair share: associations, their decaying usage, Fair Tree and the classic formula.

An association is the root, an account, or a user in an account. The rules are those of Slurm 22.05
(``priority_multifactor.c``, ``fair_tree.c``, ``assoc_mgr.c``). Every PriorityCalcPeriod it does, in this
order: ``reset`` if due, ``account_usage`` (classic), ``decay``, ``charge`` what runs, ``rank_fair_tree``.

Known and kept: Slurm documents that tied sibling accounts are ranked as one. Its code (14.11 to
24.11) ranks them one after the other, and the first user of the next shares the last one's rank.
Slurm computes in extended precision and this in doubles: factors agree to about 15 digits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints, Table, table
from scheduler_sim.engine.rules.slurm.state import Assoc, Sorted

FAIR_TREE, CLASSIC, DEPTH_OBLIVIOUS = 0, 1, 2
"""PriorityFlags: none, NO_FAIR_TREE, and NO_FAIR_TREE with DEPTH_OBLIVIOUS."""

PARENT = -1
"""Shares of an association that counts as a part of its parent (``FairShare=parent``)."""

ROOT = 0
UNKNOWN = -1.0  # effective usage of a user that was not asked for since the last recalculation
APART = -1.0  # level of an account with its parent's shares: behind all others
LEAST_DECAY = 2.2250738585072014e-308  # DBL_MIN
EMPHASIS = 5.0  # of DEPTH_OBLIVIOUS, fixed in Slurm


def association_table(
    parent: NDArray[np.int64], user: NDArray[np.bool_], shares: NDArray[np.int64]
) -> tuple[Table[Assoc], Table[Sorted]]:
    """Return the associations without any usage, and the order in which groups are kept.

    Parameters
    ----------
    parent : [a] rows, each above its children; the root is row 0, with parent -1
    user : [a], False for accounts
    shares : [a], at least 0, or PARENT; the root's do not matter

    Returns
    -------
    assoc : ASSOC[a]; order : SORTED[a], for ``rank_fair_tree``
    """
    assoc = table(Assoc, len(parent))
    assoc["parent"], assoc["user"], assoc["shares"] = parent, user, shares
    assoc["group"], assoc["factor"] = -1, 1.0
    assoc["effective"] = np.where(user, UNKNOWN, 0.0)
    assoc[ROOT].effective = assoc[ROOT].norm_shares = 1.0
    assoc[ROOT].shares = 1
    for row in range(1, len(assoc)):
        above = assoc[assoc[row].parent]
        own = above.shares != PARENT
        assoc[row].group = assoc[row].parent if own else above.group
    groups, counts = np.asarray(assoc["group"][1:]), np.asarray(assoc["shares"][1:])
    level_shares = np.bincount(groups, weights=np.maximum(counts, 0), minlength=len(assoc))
    for row in range(1, len(assoc)):
        group = assoc[row].group
        total = assoc[row].level_shares = int(level_shares[group])
        part_of_group = 1.0 if assoc[row].shares == PARENT else assoc[row].shares / total if total else 0.0
        assoc[row].part = part_of_group
        assoc[row].norm_shares = part_of_group * assoc[group].norm_shares
    order = table(Sorted, len(assoc))
    order["row"] = np.argsort(assoc["group"], kind="stable")
    ends = np.searchsorted(np.sort(groups), np.arange(len(assoc)), side="right") + 1
    assoc["first"], assoc["last"] = np.concatenate(([1], ends[:-1])), ends
    return assoc, order


def decay_rate(half_life: float) -> float:
    """What is left of usage after a second, with PriorityDecayHalfLife in s; 0 = no decay.

    Slurm's 1 - 0.693 / half-life, the first terms of the exponential.
    """
    return 1 - 0.693 / half_life if half_life > 0 else 1.0


def reset_times(period: str, first: int, last: int) -> Ints:
    """Return when PriorityUsageResetPeriod ends: at midnight, of a Sunday, of the first day of a month, ...

    Usage is reset at the first recalculation from then on.

    Parameters
    ----------
    period : DAILY, WEEKLY, MONTHLY, QUARTERLY, YEARLY; NONE and NOW (at the start) never end
    first, last : s of the clock on the wall, as if since 1970 in its zone

    Returns
    -------
    int64[r], later than ``first``, up to ``last``
    """
    unit, step = _PERIODS.get(period, ("D", 0))
    if not step:
        return np.empty(0, dtype=np.int64)
    begin, end = np.array([first, last], dtype="M8[s]").astype(f"M8[{unit}]").astype(np.int64)
    shift = 3 if period == "WEEKLY" else 0  # 1970 began three days before a Sunday
    begin -= (begin - shift) % step
    counts = np.arange(begin, end + 1, step).astype(f"M8[{unit}]")
    times = counts.astype("M8[s]").astype(np.int64)
    return times[times > first]


_PERIODS = {
    "DAILY": ("D", 1),
    "WEEKLY": ("D", 7),
    "MONTHLY": ("M", 1),
    "QUARTERLY": ("M", 3),
    "YEARLY": ("Y", 1),
}


@part
def decay_over(rate: float, seconds: float) -> float:
    """What is left of usage after ``seconds``, at ``decay_rate`` a second; never nothing."""
    left: float = rate**seconds
    return max(left, LEAST_DECAY)


@part
def faded(seconds: float, rate: float) -> float:
    """Usage of one processor for ``seconds``, all decayed as if it were the oldest."""
    each: float = seconds * rate**seconds
    return each


@part
def charge(assoc: Table[Assoc], row: int, amount: float) -> None:
    """Add usage to an association and to all above it."""
    while row >= 0:
        assoc[row].usage += amount
        row = assoc[row].parent


@part
def decay(assoc: Table[Assoc], factor: float) -> None:
    """Let all usage fade."""
    for row in range(len(assoc)):
        assoc[row].before = assoc[row].usage
        assoc[row].usage *= factor


@part
def usage_stands(assoc: Table[Assoc]) -> bool:
    """Whether what was charged since the last ``decay`` is what that took away, to the last bit."""
    for row in range(len(assoc)):
        if assoc[row].usage != assoc[row].before:
            return False
    return True


@part
def reset(assoc: Table[Assoc]) -> None:
    """Forget all usage."""
    for row in range(len(assoc)):
        assoc[row].usage = 0.0


@part
def fair_share(assoc: Table[Assoc], row: int, algorithm: int, damping: float) -> float:
    """Fair share factor of jobs of user ``row``; ``damping``: FairShareDampeningFactor.

    Fair Tree's is that of the last ranking. The classic one is computed when it is first
    asked for after ``account_usage``, and then stays.
    """
    if algorithm == FAIR_TREE:
        return assoc[row].factor
    if assoc[row].shares == PARENT:
        row = assoc[row].group
    if assoc[row].effective == UNKNOWN:
        _set_effective(assoc, row, algorithm)
    shares = assoc[row].norm_shares
    return math.exp2(-assoc[row].effective / shares / damping) if shares > 0.0 else 0.0


@part
def account_usage(assoc: Table[Assoc], algorithm: int) -> None:
    """Classic: effective usage of every account, from the top down; that of users is to be computed anew."""
    for row in range(1, len(assoc)):
        if assoc[row].user:
            assoc[row].effective = UNKNOWN
        else:
            _set_effective(assoc, row, algorithm)


@part
def _set_effective(assoc: Table[Assoc], row: int, algorithm: int) -> None:
    """Usage of an association, mixed with that of the accounts it belongs to."""
    here = assoc[row]
    group = assoc[here.group]
    usage = _norm_usage(assoc, row)
    if here.group == ROOT:
        here.effective = usage
    elif here.shares == PARENT:
        here.effective = group.effective
    elif algorithm == DEPTH_OBLIVIOUS:
        here.effective = _oblivious(assoc, row, usage)
    elif here.level_shares == 0:
        here.effective = group.effective
    else:
        here.effective = usage + (group.effective - usage) * (here.shares / here.level_shares)


@part
def _norm_usage(assoc: Table[Assoc], row: int) -> float:
    """Usage as part of all there was."""
    total = assoc[ROOT].usage
    return assoc[row].usage / total if total > 0.0 else 0.0


@part
def _oblivious(assoc: Table[Assoc], row: int, usage: float) -> float:
    """The group's usage over shares, times the own in it, to a power below 1 where the two disagree."""
    here = assoc[row]
    group = assoc[here.group]
    if here.norm_shares == 0.0 or group.norm_shares == 0.0 or group.effective == 0.0 or usage == 0.0:
        return usage
    siblings = 0.0
    for other in range(1, len(assoc)):
        if assoc[other].group == here.group and assoc[other].shares != PARENT:
            siblings += _norm_usage(assoc, other)
    above = group.effective / group.norm_shares
    own = usage / here.norm_shares / (siblings / group.norm_shares)
    power = 1.0
    if math.log(above) * math.log(own) < 0.0:
        apart = EMPHASIS * math.log(above)
        power = 1.0 / (1.0 + apart * apart)
    usage_factor: float = above * own**power * here.norm_shares
    return usage_factor


@part
def rank_fair_tree(assoc: Table[Assoc], order: Table[Sorted]) -> None:
    """Fair Tree: users ranked by the first ancestors that differ; the factor is rank over number of users.

    Walks the tree depth first, siblings with more shares than usage first. ``order`` keeps
    the groups as they were sorted last time.
    """
    users = 0
    for i in range(1, len(order)):
        users += assoc[order[i].row].user
        order[i].level = _level(assoc, order[i].row)
    for row in range(len(assoc)):
        if assoc[row].last - assoc[row].first > 1:
            _sort_group(assoc, order, assoc[row].first, assoc[row].last)
    rank = left = users
    row = ROOT
    assoc[ROOT].place, assoc[ROOT].tied = assoc[ROOT].first, 0
    while row >= 0:
        here = assoc[row]
        place, last, tied = here.place, here.last, here.tied == 1
        row = here.group  # but for an account on the way
        while place < last:
            child = order[place].row
            if place > here.first:
                tied = order[place - 1].level == order[place].level
            place += 1
            if assoc[child].user:
                if not tied:
                    rank = left
                left -= 1
                assoc[child].factor = rank / users
            else:
                here.place = place
                assoc[child].place, assoc[child].tied = assoc[child].first, int(tied)
                row = child
                break


@part
def _level(assoc: Table[Assoc], row: int) -> float:
    """Shares over usage, both as parts of the group's."""
    here = assoc[row]
    total = assoc[here.group].usage
    here.effective = here.usage / total if total > 0.0 else 0.0
    if here.shares == PARENT:
        return math.inf if here.user else APART
    if here.shares == 0:
        return 0.0
    return here.part / here.effective if here.effective > 0.0 else math.inf


@part
def _goes_before(assoc: Table[Assoc], row: int, level: float, other: Sorted) -> bool:
    """Larger level, then users before accounts, then as written."""
    if level != other.level:
        return level > other.level
    if assoc[row].user != assoc[other.row].user:
        return assoc[row].user > assoc[other.row].user
    return row < other.row


@part
def _sort_group(assoc: Table[Assoc], order: Table[Sorted], first: int, last: int) -> None:
    """By insertion, as a group is nearly in order from one ranking to the next; else Shell's sort."""
    if _inserted(assoc, order, first, last, 1, 4 * (last - first)):
        return
    gap = (last - first) // 2
    while gap > 0:
        _inserted(assoc, order, first, last, gap, (last - first) * (last - first))
        gap //= 2


@part
def _inserted(assoc: Table[Assoc], order: Table[Sorted], first: int, last: int, gap: int, most: int) -> bool:
    """Sort those that are ``gap`` apart; False if that would take more than ``most`` moves."""
    for i in range(first + gap, last):
        row, level = order[i].row, order[i].level
        j = i
        while j - gap >= first and _goes_before(assoc, row, level, order[j - gap]):
            order[j].row, order[j].level = order[j - gap].row, order[j - gap].level
            j -= gap
            most -= 1
        order[j].row, order[j].level = row, level
        if most < 0:
            return False
    return True
