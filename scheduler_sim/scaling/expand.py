"""Expanding components into run times at the sizes and on the modules that their applications can use.

Components that share application, module, nodes and problem size have the same choices, and run times in
the same proportions; so choices are worked out once for each such kind, and every component takes its kind's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.profile import Profile
from scheduler_sim.scaling.rounding import ROUNDING

RIGID = -1
"""Number of the profile of a component that runs as its trace says."""

BLOCK = 1 << 12
"""Components expanded at a time, so that what lies between stays in the processor's cache."""


@dataclass(frozen=True)
class Expansion:
    """Ways in which n components may run, one after the other.

    Attributes
    ----------
    first : int64[n + 1]; those of component i are ``first[i] .. first[i + 1] - 1``: its own point in the
        trace first, to the bit, then by module, the own size before the others, those rising
    module : int16[p], number of the module; nodes : int32[p]
    run, limit : int64[p], s, run time and time limit; other than the own point's rounded up, at least 1
    """

    first: Ints
    module: NDArray[np.int16]
    nodes: NDArray[np.int32]
    run: Ints
    limit: Ints


class _Machine(NamedTuple):
    """Modules by name, their nodes, and their clocks, kHz; None = the usual one of each profile."""

    modules: tuple[str, ...]
    most_nodes: tuple[int, ...]
    khz: tuple[int | None, ...]


@dataclass(frozen=True)
class _Choices:
    """The choices of k kinds of component, one after the other; ``ratio`` is over the own run time."""

    first: Ints
    module: NDArray[np.int16]
    nodes: NDArray[np.int32]
    ratio: Floats


def expand(
    profiles: Sequence[Profile],
    modules: Sequence[str],
    most_nodes: Sequence[int],
    *,
    app: Ints,
    module: Ints,
    nodes: Ints,
    run: Ints,
    limit: Ints,
    sizes: Sequence[int] | None = None,
    problem: Floats | None = None,
    khz: Sequence[int] | None = None,
) -> Expansion:
    """Expand components by the profiles of their applications.

    Parameters
    ----------
    profiles : of the applications; modules : names; most_nodes : of each module
    app : int64[n], number of the profile, ``RIGID`` = none: the component runs as the trace says
    module, nodes : int64[n], where the trace has it; nodes >= 1
    run, limit : int64[n], s, as in the trace
    sizes : numbers of nodes to offer where a profile allows them; None = every size that it offers
    problem : float64[n], size of the problem of each, NaN = the usual one of its profile
    khz : clock of each module, for profiles that depend on it; None = the usual one of each profile

    The limit is scaled like the run time, so the user's overestimation stays. The own size is offered on
    the other modules as well: for a weak scaling application it is the only one. A component on a
    module that its application cannot run on is left with its own point.

    Raises InputError for columns of different lengths, numbers that name no profile or module, and
    profiles with what-ifs, whose run times are not those of the trace.
    """
    _check(profiles, modules, app=app, module=module, nodes=nodes, run=run, limit=limit)
    if not len(app):
        nothing = np.empty(0, dtype=np.int64)
        return Expansion(
            np.zeros(1, dtype=np.int64), nothing.astype(np.int16), nothing.astype(np.int32), nothing, nothing
        )
    problem = np.full(len(app), np.nan) if problem is None else problem
    known, of_problem = np.unique(problem, return_inverse=True)
    key = ((app + 1) * len(known) + of_problem) * len(modules) + module
    key = key * (int(nodes.max(initial=0)) + 1) + nodes
    _, example, kind = np.unique(key, return_index=True, return_inverse=True)
    machine = _Machine(tuple(modules), tuple(most_nodes), tuple(khz or [None] * len(modules)))
    choices = _choices(
        profiles, machine, app[example], module[example], nodes[example], sizes, problem[example]
    )

    count = np.diff(choices.first)[kind]
    first = np.concatenate(([0], np.cumsum(count)))
    made = Expansion(
        first,
        np.empty(first[-1], dtype=np.int16),
        np.empty(first[-1], dtype=np.int32),
        np.empty(first[-1], dtype=np.int64),
        np.empty(first[-1], dtype=np.int64),
    )
    for begin in range(0, len(count), BLOCK):
        rows = slice(begin, begin + BLOCK)
        here = slice(first[begin], first[min(begin + BLOCK, len(count))])
        owner = np.repeat(np.arange(len(count[rows])), count[rows])
        place = np.arange(here.start, here.stop) + (choices.first[kind[rows]] - first[:-1][rows])[owner]
        ratio = choices.ratio[place]
        made.module[here], made.nodes[here] = choices.module[place], choices.nodes[place]
        made.run[here] = _scaled(run[rows], owner, ratio)
        made.limit[here] = _scaled(limit[rows], owner, ratio)
    made.run[first[:-1]], made.limit[first[:-1]] = run, limit
    return made


def _scaled(seconds: Ints, owner: Ints, ratio: Floats) -> Floats:
    """Return whole seconds, rounded up: at least 1, and not up for what is rounding of the ratio."""
    scaled = (seconds * (1 - ROUNDING))[owner]
    scaled *= ratio
    whole_nodes: Floats = np.maximum(np.ceil(scaled, out=scaled), 1, out=scaled)
    return whole_nodes


def _choices(
    profiles: Sequence[Profile],
    machine: _Machine,
    app: Ints,
    module: Ints,
    nodes: Ints,
    sizes: Sequence[int] | None,
    problem: Floats,
) -> _Choices:
    """Work out the choices of kinds (app, problem, module, nodes), sorted by these."""
    blocks = []
    for a in np.unique(app):
        for size in np.unique(problem[app == a]):
            own = np.flatnonzero((app == a) & ((problem == size) | (np.isnan(problem) & np.isnan(size))))
            if a == RIGID:
                blocks.append((module[own, None], nodes[own, None], np.ones((len(own), 1))))
            else:
                stated = None if np.isnan(size) else float(size)
                blocks.append(_of_profile(profiles[a], machine, module[own], nodes[own], sizes, stated))
    exists = [np.isfinite(ratio) for _, _, ratio in blocks]
    count = np.concatenate([mask.sum(axis=1) for mask in exists])
    flat = [
        np.concatenate([part[i][mask] for part, mask in zip(blocks, exists, strict=True)]) for i in range(3)
    ]
    return _Choices(
        np.concatenate(([0], np.cumsum(count))).astype(np.int64),
        flat[0].astype(np.int16),
        flat[1].astype(np.int32),
        flat[2],
    )


def _of_profile(
    profile: Profile,
    machine: _Machine,
    module: Ints,
    nodes: Ints,
    sizes: Sequence[int] | None,
    problem: float | None,
) -> tuple[Ints, Ints, Floats]:
    """Return tables [kind, choice] of module, nodes and ratio, the own point first; NaN = not offered."""
    known = np.full(len(nodes), np.nan)
    for m, name in enumerate(machine.modules):
        if name in profile.speeds and (module == m).any():
            known[module == m] = profile.relative_time(nodes[module == m], name, problem, machine.khz[m])
    columns = [(module[:, None], nodes[:, None], np.ones((len(nodes), 1)))]
    for m, name in enumerate(machine.modules):
        if name not in profile.speeds:
            continue
        here, most = module == m, machine.most_nodes[m]
        same = profile.relative_time(nodes, name, problem, machine.khz[m]) / known
        same[here | (nodes > most) | (nodes > profile.sizes.most)] = np.nan
        offered = profile.offered(name, most, problem)
        offered = offered if sizes is None else offered[np.isin(offered, sizes)]
        others = np.empty((len(nodes), 0))
        if len(offered):
            there = profile.relative_time(offered, name, problem, machine.khz[m])
            others = there[None, :] / known[:, None]
            others[offered[None, :] == nodes[:, None]] = np.nan  # the own size stands before them
        table = np.concatenate([same[:, None], others], axis=1)
        size = np.concatenate([nodes[:, None], np.broadcast_to(offered, (len(nodes), len(offered)))], axis=1)
        columns.append((np.full(table.shape, m), size, table))
    modules_, sizes_, ratios = (np.concatenate([part[i] for part in columns], axis=1) for i in range(3))
    return modules_, sizes_, ratios


def _check(profiles: Sequence[Profile], modules: Sequence[str], **columns: Ints) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"expand: found columns of the lengths {lengths}; allowed: all the same")
    for name, least, most in (
        ("app", RIGID, len(profiles) - 1),
        ("module", 0, len(modules) - 1),
        ("nodes", 1, 1 << 31),
    ):
        column = columns[name]
        if len(column) and not (column.min() >= least and column.max() <= most):
            wrong = column[(column < least) | (column > most)][0]
            raise InputError(f"expand: {name}: found {wrong}; allowed: {least} to {most}")
    for profile in profiles:
        if profile.measured is not None:
            raise InputError(f"{profile.app}: found what-ifs; allowed: a profile of what the trace ran")
