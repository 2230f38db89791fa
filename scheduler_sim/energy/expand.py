"""What every component draws and takes at the clocks of a module, from whatever is known of it.

Best first: a signature of its application; the power that its trace states, or else what was learnt of such
jobs, with the physical law; what is typical of the module. Which of them it was is carried along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.clocks import Clocks
from scheduler_sim.energy.gpus import with_idle_gpus
from scheduler_sim.energy.laws import ALPHA, Stall
from scheduler_sim.energy.model import Model, Projection
from scheduler_sim.energy.points import KHZ, POWER, WORKLOAD, Points
from scheduler_sim.energy.profile import PowerProfile
from scheduler_sim.errors import InputError

ORIGINS = ("signature", "reference power", "typical", "learnt", "measured")
"""Where the power of a component comes from; what was measured of the very job is replayed, not projected."""

SIGNATURE, REFERENCE, TYPICAL, LEARNT, MEASURED = range(len(ORIGINS))


@dataclass(frozen=True, eq=False)
class Expanded:
    """Power and run time of n components at k of the clocks of a module.

    Attributes
    ----------
    khz, gpu_khz : (k,) int64, P-state and clock of the GPUs, kHz, as :class:`Clocks` has them.
    power_w : (n, k), mean power of a node, W; NaN where a signature's model has no coefficients for the pair,
        and beside other clocks of GPUs that are not used.
    time_factor : (n, k), run time in units of that at the module's reference clocks; NaN likewise.
    origin : (n,) int8, place in :data:`ORIGINS`.
    """

    khz: Ints
    gpu_khz: Ints
    power_w: Floats
    time_factor: Floats
    origin: np.ndarray


def expand(
    profile: PowerProfile,
    app: np.ndarray,
    *,
    hint: np.ndarray | None = None,
    reference_w: Floats | None = None,
    learnt_w: Floats | None = None,
    signatures: Points | None = None,
    which: Sequence[int] | Ints | None = None,
) -> Expanded:
    """Project components to clocks of a module.

    Powers stay between those of an idle node and of the busiest, and no time falls as the clock falls.

    Parameters
    ----------
    profile : the module's.
    app : (n,) text, the application of each component as signatures call it, in any case; empty where it is
        not known.
    hint : (n,) text, such as cpu_intensive: ``hints`` of the profile say how far time then follows the clock.
    reference_w : (n,) power of a node at the reference frequency that a trace states, W; NaN or ≤ 0: none.
    learnt_w : (n,) the same as it was learnt of other jobs, where the trace states none; ≤ 0: it was not.
    signatures : of applications on this module, one each.
    which : places among its :class:`Clocks`; by default all. Where clocks are not chosen, the reference is
        enough.

    Raises
    ------
    InputError : two signatures of one application; a signature at a frequency that is no P-state, without
        coefficients back to the reference frequency, or without the counters that the module's model uses;
        GPUs that draw more than their node, or that the profile does not have.
    """
    app = np.asarray(app, dtype=object)
    clocks = Clocks.of(profile, signatures)
    places = np.arange(len(clocks.khz)) if which is None else np.asarray(which, dtype=np.int64)
    shape = len(app), len(places)
    origin = np.full(len(app), TYPICAL, np.int8)
    made = Expanded(clocks.khz[places], clocks.gpu_khz[places], np.empty(shape), np.empty(shape), origin)
    known = np.full(len(app), -1)
    if signatures is not None and len(signatures):
        known = _place_of(app, signatures)
        table = _from_signatures(profile, signatures, clocks)
        rows = known >= 0
        place = np.ix_(known[rows], places)
        made.power_w[rows], made.time_factor[rows] = table.power_w[place], table.time_factor[place]
        made.origin[rows] = SIGNATURE
    others = np.flatnonzero(known < 0)
    _physical(profile, made, others, hint, learnt_w, reference_w)
    made.power_w[np.ix_(others, made.gpu_khz != clocks.gpu_khz[clocks.reference])] = np.nan
    return made


def _place_of(app: np.ndarray, signatures: Points) -> np.ndarray:
    names = pd.Index(signatures.table[WORKLOAD].str.lower())
    if names.has_duplicates:
        twice = signatures.table[WORKLOAD].to_numpy()[names.duplicated()][0]
        raise InputError(
            f"signatures: application {twice} has several; allowed: one a module and application, whose names"
            " differ in more than case"
        )
    return names.get_indexer(pd.Index([name.lower() for name in app], dtype=object))


def _from_signatures(profile: PowerProfile, signatures: Points, clocks: Clocks) -> Projection:
    """Project each signature once, to all clocks, times in units of those at the reference."""
    states = profile.pstates
    try:
        signatures = profile.metered(signatures)
        cpu, gpus = with_idle_gpus(profile, signatures, clocks)
        made = profile.model.project(cpu)
    except InputError as error:
        raise InputError(f"signatures on {profile.name}: {error}") from None
    back = profile.model.project(cpu, profile.reference_khz).time_factor
    own = profile.model.pstates.index(states.khz)
    scaled = Projection(states.khz, made.power_w[:, own], made.time_factor[:, own] / back)
    scaled = scaled.within(profile.idle_w, profile.peak_w).never_faster_when_slower()
    return scaled if gpus is None else scaled.beside(gpus).within(profile.idle_w, profile.peak_w)


def _physical(
    profile: PowerProfile,
    made: Expanded,
    rows: Ints,
    hint: np.ndarray | None,
    learnt_w: Floats | None,
    reference_w: Floats | None,
) -> None:
    """Fill in components without a signature."""
    watts = np.full(len(rows), profile.typical_w)
    for origin, given in ((LEARNT, learnt_w), (REFERENCE, reference_w)):
        if given is not None:
            stated = np.asarray(given, np.float64)[rows]
            states_one = stated > 0
            watts[states_one] = np.clip(stated[states_one], profile.idle_w, profile.peak_w)
            made.origin[rows[states_one]] = origin
    alpha = np.full(len(rows), profile.keys.sensitivity.value)
    if hint is not None:
        words = np.asarray(hint, dtype=object)[rows]
        for word, figure in profile.keys.hints.items():
            alpha[words == word] = figure.value
    table = pd.DataFrame({WORKLOAD: "any", KHZ: profile.reference_khz, POWER: watts, ALPHA: alpha})
    model = Model("physical", profile.pstates, profile.physical.power, Stall.of_column(profile.pstates))
    projected = model.project(Points(table), made.khz).within(profile.idle_w, profile.peak_w)
    made.power_w[rows], made.time_factor[rows] = projected.power_w, projected.time_factor
