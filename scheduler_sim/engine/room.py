"""How much room the tables of a core have, and a core with all its room and nothing in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.slurm import slots
from scheduler_sim.engine.state import (
    ARRAY,
    ARRIVALS,
    BATCH,
    BOOKED,
    CALL,
    CLOCK_SLOTS,
    COMPONENT,
    DUE,
    EDGE,
    END,
    GROUP,
    INF,
    LINES,
    LISTS,
    MEMBER,
    MODULES,
    PLACEMENT,
    POOL,
    RECT,
    RELEASE,
    RULE_SLOTS,
    STEP,
    SWITCH,
    SWITCHED_COLUMNS,
    TERM,
    TIMELINE_COLUMNS,
    UNIT,
    WINDOW,
    Core,
    Words,
)

CACHE_LINE = 64  # bytes


class SlurmSizes(NamedTuple):
    """How much room Slurm's schedulers have; the least of all by default."""

    rows: int = 0
    placements: int = 0
    partitions: int = 0
    users: int = 0
    words: int = 0
    masks: int = 0
    choices: int = 0
    needs: int = 0
    pieces: int = 0
    records: int = 0
    turns: int = 0
    associations: int = 0
    resets: int = 0


class UnitSizes(NamedTuple):
    """How much room units and calls have; none by default."""

    members: int = 0  # as many as rows, or none
    units: int = 0
    crew: int = 0
    rects: int = 0
    calls: int = 0
    booked: int = 0


class Sizes(NamedTuple):
    """How much room a core has."""

    rows: int
    placements: int
    modules: int
    pools: int
    nodes: int  # of the widest module
    edges: int
    columns: int
    releases: int  # components running at once, and announced returns of nodes
    profile: int
    timeline: int
    terms: int = 0  # as many as rows, or none
    arrays: int = 0
    groups: int = 0
    events: int = 0  # room for so many more
    slurm: SlurmSizes = SlurmSizes()
    units: UnitSizes = UnitSizes()
    batches: int = 0  # nodes of the widest module, where nodes are switched off


def blank(sizes: Sizes) -> Core:
    """A core with all its room and nothing in it."""
    slurm, units = sizes.slurm, sizes.units
    pools = sizes.pools + (slurm.partitions > 0)  # one for the planned ends in all modules together

    def table(dtype: np.dtype[Any], *shape: int) -> Any:
        return np.zeros(shape, dtype=dtype).view(np.recarray)

    def room(dtype: np.dtype[Any], *shape: int) -> Any:
        return np.empty(shape, dtype=dtype).view(np.recarray)

    core = Core(
        clock=np.zeros(CLOCK_SLOTS, dtype=np.int64),
        rules=np.zeros(RULE_SLOTS, dtype=np.int64),
        comp=table(COMPONENT, sizes.rows),
        place=table(PLACEMENT, sizes.placements),
        demand=np.zeros((sizes.placements, sizes.pools - sizes.modules), dtype=np.int64),
        edge=table(EDGE, sizes.edges),
        term=no_terms(sizes.terms),
        group=table(GROUP, sizes.groups),
        array=table(ARRAY, sizes.arrays),
        lists=np.empty((LISTS, sizes.rows + 1), dtype=np.int64),
        columns=np.zeros((sizes.columns, sizes.rows)),
        keys=np.empty(sizes.rows + 1),
        heap=room(
            END,
            sizes.releases
            + 1
            + 2 * sizes.edges
            + 2 * slurm.rows
            + units.members
            + units.calls
            + sizes.terms
            + sizes.events,
        ),
        pool=table(POOL, pools),
        release=room(RELEASE, pools, sizes.releases),
        profile=room(STEP, pools, sizes.profile),
        short=np.zeros((sizes.modules, sizes.nodes + 2), dtype=np.int64),
        timeline=np.empty((sizes.timeline, _timeline_columns(sizes)), dtype=np.int64),
        switch=table(SWITCH, sizes.pools if sizes.batches else 0),
        batch=room(BATCH, sizes.modules, LINES, sizes.batches),
        window=table(WINDOW, sizes.modules, LINES),
        unit=table(UNIT, units.units),
        crew=np.zeros(units.crew, dtype=np.int64),
        rect=table(RECT, units.rects),
        member=table(MEMBER, units.members),
        call=table(CALL, units.calls),
        booked=table(BOOKED, units.booked),
        slurm=np.zeros(slots.SLURM_SLOTS, dtype=np.int64),
        partition=table(slots.PARTITION, slurm.partitions),
        way=table(slots.WAY, slurm.placements),
        job=table(slots.JOB, slurm.rows),
        counter=table(slots.COUNTER, slurm.users, 1 + slurm.partitions),
        masks=words(slurm.masks, slurm.words),
        choice=table(slots.CHOICE, slurm.choices),
        need=table(slots.NEED, slurm.needs),
        sets=words(slots.NODE_SETS, slurm.words),
        piece=table(slots.PIECE, slurm.pieces),
        record=table(slots.RECORD, slurm.records + 1),
        space=words(slots.SPAN_ROWS + slurm.records, slurm.words),
        span=table(slots.SPAN, slots.SPANS_AT_MOST + 1),
        front=table(slots.FRONT, slots.FRONTS),
        listed=room(slots.LISTED, slots.SPAN_ROWS + slurm.records),
        mark=table(slots.MARK, slots.SPAN_ROWS + slurm.records),
        gain=np.zeros((slots.SPAN_ROWS + slurm.records, slurm.partitions), dtype=np.int64),
        note=table(slots.NOTE, slots.SPAN_ROWS + slurm.records, slurm.partitions, slots.NOTES),
        node_in=np.zeros(64 * slurm.words, dtype=np.int32),
        seat_of=np.zeros(64 * slurm.words, dtype=np.int32),
        moved=np.zeros(64, dtype=np.int32),
        back=np.zeros((sizes.modules, slurm.pieces + 1), dtype=np.int64),
        seats_of=words(slurm.masks, slurm.words),
        seated_at=np.zeros(slurm.masks, dtype=np.int64),
        spots=np.zeros(slurm.words, dtype=np.int64),
        run=np.zeros(slurm.words * 32, dtype=np.int64),
        turn=table(slots.TURN, slurm.turns),
        factor=table(slots.FACTORS, slurm.placements),
        assoc=table(slots.ASSOC, slurm.associations),
        order=table(slots.SORTED, slurm.associations),
        weight=np.zeros(slots.WEIGHTS),
        resets=np.full(slurm.resets, INF),
    )
    core.lists[ARRIVALS, : sizes.rows] = np.arange(sizes.rows)
    core.clock[MODULES] = sizes.modules
    core.clock[DUE] = INF
    for name in ("eligible", "start", "end", "placed", "promised"):
        core.comp[name] = -1
    core.comp["promise"] = INF
    for name in ("unit", "whole", "group", "appointment", "known", "planned"):
        core.member[name] = -1
    core.unit["start"] = -1
    core.pool["front"] = -1
    for name in ("written_busy", "written_down", "written_queued", "written_nodes", "written_held"):
        core.pool[name] = -1
    core.pool["release_head"] = core.pool["release_tail"] = sizes.releases // 2
    core.switch["timeout"] = INF
    for name in SWITCHED_COLUMNS:
        core.switch[f"written_{name}"] = -1
    return core


def no_terms(rows: int) -> Any:
    """So many components that are held by their dependencies alone."""
    term = np.zeros(rows, dtype=TERM).view(np.recarray)
    for name in ("begin", "group", "following", "array", "next_task"):
        term[name] = -1
    return term


def _timeline_columns(sizes: Sizes) -> int:
    if sizes.batches:
        return len(TIMELINE_COLUMNS) + 1 + len(SWITCHED_COLUMNS)
    return len(TIMELINE_COLUMNS) + (sizes.units.booked > 0)


def words(rows: int, size: int) -> Words:
    """uint64[rows, size] of zeros that begin with a line of the cache: sets across two of them are slow."""
    line = CACHE_LINE // 8
    memory = np.zeros(rows * size + line, dtype=np.uint64)
    first = -memory.ctypes.data % CACHE_LINE // 8
    return memory[first : first + rows * size].reshape(rows, size)
