"""From measured points to a profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Curve, Phases
from scheduler_sim.scaling.fitting import ErrorTable, Fit, Goodness, fit_factor, fit_laws, goodness, validated
from scheduler_sim.scaling.fitting.goodness import FITS_WELL
from scheduler_sim.scaling.fitting.points import Points
from scheduler_sim.scaling.names import FACTORS, HIERARCHY, leaves
from scheduler_sim.scaling.parameters import CLOCK, PROCESSES, SIZE
from scheduler_sim.scaling.profile import Profile
from scheduler_sim.scaling.profile_file import profile_dict, profile_of
from scheduler_sim.scaling.profile_keys import ProvenanceKeys
from scheduler_sim.scaling.rules import RuleCheck, check_rules
from scheduler_sim.scaling.tree import COUNTS, Factor, Group, Tree

AHEAD = (2, 4, 8)
"""Multiples of the largest P measured for which a table predicts."""


@dataclass(frozen=True)
class Learnt:
    """A profile, and how it came about.

    Attributes
    ----------
    profile : of the application
    points : that it was learnt from
    fits, judged : by factor or phase, and how good each is
    validation : fitted without the largest points and held against them; None where not asked for
    broken : product rules that the table does not keep, to its rounding
    notes : what was left out or taken for granted, and the warnings of the fits
    """

    profile: Profile
    points: Points
    fits: Mapping[str, Fit]
    judged: Mapping[str, Goodness]
    validation: ErrorTable | None
    broken: tuple[RuleCheck, ...]
    notes: tuple[str, ...]

    def labels(self) -> dict[str, str]:
        """Return what to call each factor or phase: as the hierarchy does, or the file."""
        times = self.points.times
        return {
            name: FACTORS[name].label if name in FACTORS else times[name].label or name for name in self.fits
        }

    def tree_columns(self) -> tuple[list[float], int]:
        """Return the numbers of processes of a table of efficiencies, and how many of them were measured."""
        every = sorted({float(p) for fit in self.fits.values() for p in fit.processes})
        return [*every, *(every[-1] * times for times in AHEAD)], len(every)

    def tree_rows(self) -> dict[tuple[str, ...], Floats]:
        """Return the efficiencies of the curves at those numbers, by path; empty for a model of times."""
        if isinstance(self.profile.model, Curve):
            return {}
        p = np.array(self.tree_columns()[0])
        return dict(self.profile.model.walk(dict.fromkeys(COUNTS, p)))


def learn(
    points: Points,
    app: str,
    *,
    scaling: str,
    module: str,
    ranks_per_node: int = 1,
    source: str = "",
    reading: str = "auto",
    weights: str = "equal",
    holdout: int = 0,
) -> Learnt:
    """Learn a profile: a tree of the factors measured, else the times of the phases.

    Parameters
    ----------
    points : as read; scaling : strong or weak, of the runs measured
    module, ranks_per_node : where they ran; clock and problem size of the profile are the largest measured
    source : for people; reading, weights : see ``fit_factor``
    holdout : points of the largest P that a second fit does without, and is then held against

    Raises InputError where nothing can be fitted, for names that no profile can have, and for several ranks
    a node where P counts nodes: a profile counts ranks.
    """
    if points.counted == "nodes" and ranks_per_node > 1:
        raise InputError(
            f"ranks per node: found {ranks_per_node} for points counted in nodes; allowed: 1,"
            " or points counted in processes"
        )
    notes = list(points.notes)
    broken: tuple[RuleCheck, ...] = ()
    validation = None
    model: Tree | Curve
    if points.efficiencies:
        names, lost = leaves(set(points.efficiencies))
        for name in lost:
            notes.append(
                f"{FACTORS[name].label} is left out: its parts stand for it, but not all were measured"
            )
        if points.times:
            notes.append("times are left out: the efficiencies were fitted")
        series = points.efficiencies
        fits = {
            name: fit_factor(
                series[name].points[:, 0], series[name].measured, name, reading=reading, weights=weights
            )
            for name in names
        }
        model = _arranged({name: fit.curve for name, fit in fits.items()})
        broken = _broken(points)
        if holdout:
            whole = points.table()
            settings = {name: {"reading": reading, "weights": weights} for name in names}
            validation = validated(whole[["processes", *names]].dropna(), names, holdout, settings)
    elif points.times:
        if holdout:
            raise InputError("holdout: found run times; allowed: for tables of efficiencies")
        fits = {
            s.name: fit_laws(s.points, s.measured, s.name, parameters=s.parameters, scaling=scaling)
            for s in points.times.values()
        }
        curves = {name: fit.curve for name, fit in fits.items()}
        model = next(iter(curves.values())) if len(curves) == 1 else Phases.of(phases=curves)
    else:
        raise InputError("found no points; allowed: efficiencies or times at one number of processes or more")
    notes += [warning for fit in fits.values() for warning in fit.warnings]
    at, others = _fitted_ranges(points)
    judged = {name: goodness(fit) for name, fit in fits.items()}
    doubts = [f"{name}: {how.text(points.counted)}" for name, how in judged.items() if how.word != FITS_WELL]
    provenance = ProvenanceKeys(source=source, fitted=list(at), others=others, notes=[*doubts, *notes])
    clock = others.get(CLOCK)
    profile = Profile(
        app,
        scaling,
        model,
        ranks_per_node,
        1,
        {module: 1.0},
        nominal_khz=1 if clock is None else int(clock[1]),
        size=others[SIZE][1] if SIZE in others else None,
        provenance=provenance,
    )
    _, problems = profile_of(profile_dict(profile))
    if problems:  # a name that no profile can have
        raise InputError("; ".join(map(str, problems)))
    return Learnt(profile, points, fits, judged, validation, broken, tuple(notes))


def _fitted_ranges(points: Points) -> tuple[tuple[float, ...], dict[str, tuple[float, float]]]:
    """Return least and largest P, nothing where there is none, and those of other parameters by name."""
    every = {}
    for place, name in enumerate(points.parameters):
        series = (*points.efficiencies.values(), *points.times.values())
        values = np.concatenate([one.points[:, place] for one in series])
        every[name] = (float(values.min()), float(values.max()))
    return every.pop(PROCESSES, ()), every


def _arranged(curves: Mapping[str, Curve]) -> Tree:
    """Put factors into groups as the hierarchy has them."""

    def group(name: str) -> Tree | None:
        if name in curves:
            return Factor(name, curves[name])
        parts = [part for child in HIERARCHY.get(name, ()) if (part := group(child)) is not None]
        return Group(name, "product", tuple(parts)) if parts else None

    top = group("global")
    if isinstance(top, Group):
        return top
    return Group("global", "product", tuple(Factor(name, curve) for name, curve in curves.items()))


def _broken(points: Points) -> tuple[RuleCheck, ...]:
    if points.decimals is None:
        return ()
    try:
        return tuple(check for check in check_rules(points.table(), points.decimals) if not check.kept)
    except InputError:  # a table without a rule has none to break
        return ()
