"""Lower bounds on starts: where no try of a job can succeed, as none did of a job that asks for no more.

At no time between two were enough nodes able of those that no reservation holds from then on, for the limit
of the job that found it. During a pass the plan only fills up, and nodes are only taken. So there are not
enough for a job that asks for as many nodes, as much of each, for as long: its tries between the two fail, if
what has to be free at a try reaches as far as the other's limit does from any start of that try.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import next_try
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import goes_by_able
from scheduler_sim.engine.rules.slurm.cons_tres.state import BOUNDS, Bound, ConsTresCore
from scheduler_sim.engine.rules.slurm.node_space import next_attempt, record_of


@part
def forget_bounds(core: ConsTresCore) -> None:
    """A pass begins, or nodes have come free: nothing is known of starts."""
    core.cons_tres.bounding.size = 0


@question
def is_clear(core: ConsTresCore, placement: int) -> bool:
    """Whether no reservation of an operator is in the way of a job, wherever it is planned."""
    return True


@question
def may_make_room(core: ConsTresCore, placement: int) -> bool:
    """Whether others may have to go for a job."""
    return False


@part
def goes_by_bounds(core: ConsTresCore, placement: int) -> bool:
    """Whether lower bounds hold for a job: nothing but too few able nodes makes its tries fail."""
    way, at = core.slurm.way[placement], core.cons_tres.bounding
    at.clear = is_clear(core, placement)
    if not core.cons_tres.rules.bounds or not at.clear:
        return False
    any_of_them = way.mask == core.slurm.partition[way.partition].members
    return bool(any_of_them and goes_by_able(core, placement) and not may_make_room(core, placement))


@part
def _note_bound(core: ConsTresCore, since: int, start: int) -> None:
    """From ``since`` to before ``start`` too few nodes were able at any time for the job that is tried."""
    at, new = core.cons_tres.bounding, core.cons_tres.bound[BOUNDS]
    new.since, new.start = since, start
    for i in range(at.size):
        if _says_no_less(core, core.cons_tres.bound[i], new):
            return
    kept = 0
    for i in range(at.size):
        if not _says_no_less(core, new, core.cons_tres.bound[i]):
            _copy(core.cons_tres.bound[kept], core.cons_tres.bound[i])
            kept += 1
    if kept == BOUNDS:
        kept = _shortest(core)
        if core.cons_tres.bound[kept].start - core.cons_tres.bound[kept].since > start - since:
            return
    else:
        at.size = kept + 1
    _copy(core.cons_tres.bound[kept], new)


@part
def note_try(core: ConsTresCore, placement: int, since: int, start: int, later: int) -> int:
    """A placement was tried from ``start`` to ``later``; returns since when no time had enough nodes.

    Up to there none had from ``since`` on. Without a later try what is gained behind the limit is not known.
    """
    enough = core.cons_tres.bounding.enough
    if enough == INF and later < INF:
        return since
    if start > since:
        end = max(start, min(enough, start + core.placements[placement].limit))
        _note_bound(core, since, end)
    return later


@part
def _says_no_less(core: ConsTresCore, one: Bound, other: Bound) -> bool:
    """Whether a bound makes another one useless."""
    return one.since <= other.since and other.start <= one.start and _asks_no_more(core, one, other)


@part
def _copy(target: Bound, source: Bound) -> None:
    target.since, target.start, target.limit = source.since, source.start, source.limit
    target.nodes, target.level = source.nodes, source.level


@part
def _shortest(core: ConsTresCore) -> int:
    """The bound that is of least use."""
    found, least = 0, INF
    for i in range(BOUNDS):
        length = core.cons_tres.bound[i].start - core.cons_tres.bound[i].since
        if length < least:
            found, least = i, length
    return found


@part
def _asks_no_more(core: ConsTresCore, one: Bound, other: Bound) -> bool:
    """Whether one asks for no more nodes, no more of each, for no longer, and is alike in all else."""
    if one.limit > other.limit or one.nodes > other.nodes:
        return False
    if one.level == other.level:
        return True
    less, more = core.cons_tres.level[one.level], core.cons_tres.level[other.level]
    return bool(
        less.family == more.family
        and less.cpus <= more.cpus
        and less.node_cpus <= more.node_cpus
        and less.tasks <= more.tasks
        and less.memory <= more.memory
    )


@part
def find_bounds(core: ConsTresCore, placement: int) -> None:
    """A job is about to be tried: list the bounds that hold for it."""
    at = core.cons_tres.bounding
    own = core.cons_tres.bound[BOUNDS]
    own.limit = core.placements[placement].limit
    number = core.cons_tres.asked[placement].need
    own.nodes, own.level = core.cons_tres.need[number].min_nodes, core.cons_tres.need[number].level
    at.held = 0
    for i in range(at.size):
        one = core.cons_tres.bound[i]
        if _asks_no_more(core, one, own):
            _copy(core.cons_tres.holds[at.held], one)
            at.held += 1


@part
def first_unbounded(core: ConsTresCore, placement: int, start: int, record: int) -> tuple[int, int]:
    """The first try from ``start`` on, which lies in ``record``, that may succeed, and its record."""
    limit = core.placements[placement].limit
    while core.cons_tres.bounding.held > 0:
        following = next_attempt(core, placement, record, start)
        later = next_try(core, placement, start, following)
        if later == INF or not _fails(core, start, later, limit):
            break
        start, record = later, record_of(core, later, following)
    return start, record


@part
def _fails(core: ConsTresCore, start: int, later: int, limit: int) -> bool:
    """Whether a bound says that a try from a start up to a later one fails."""
    for i in range(core.cons_tres.bounding.held):
        one = core.cons_tres.holds[i]
        if one.since <= start and later < one.start and start + limit >= later + one.limit:
            return True
    return False
