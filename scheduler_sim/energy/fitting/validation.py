"""Projections of workloads that were not fitted, over seeded splits, pair by pair of frequencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.energy.fitting.errors import errors_by_pair
from scheduler_sim.energy.fitting.grid import Grid
from scheduler_sim.energy.fitting.regression import CONSTANT, PROPORTIONAL, Law, fit_power, fit_time
from scheduler_sim.energy.fitting.selection import fit_selected
from scheduler_sim.energy.points import POWER, TIME, WORKLOAD, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError
from scheduler_sim.streams import stream

SELECTED = "selected"
QUANTITIES = ("power", "time", "energy")
LEAST_WORKLOADS = 4


class Validation(NamedTuple):
    """How well laws project workloads never seen.

    Attributes
    ----------
    projections : each projection: ``split, quantity, law, workload, from_khz, to_khz, measured, projected``
        (W, s or J of a node).
    errors : of each ``split, quantity, law, from_khz, to_khz``: ``workloads, rmse_percent, mape, bias`` (%).
    """

    projections: pd.DataFrame
    errors: pd.DataFrame

    def summary(self, from_khz: int | None = None) -> pd.DataFrame:
        """Return mean errors by quantity and law over splits and pairs, of one reference frequency or all."""
        errors = self.errors if from_khz is None else self.errors[self.errors["from_khz"] == from_khz]
        columns = ["workloads", "rmse_percent", "mape", "bias"]
        return errors.groupby(["quantity", "law"], sort=False, as_index=False)[columns].mean()

    def map(
        self, quantity: str = "power", law: str = SELECTED, measure: str = "rmse_percent"
    ) -> pd.DataFrame:
        """Return a mean error by frequency measured (rows) and projected to (columns), kHz; diagonal 0."""
        rows = self.errors[(self.errors["quantity"] == quantity) & (self.errors["law"] == law)]
        made = rows.pivot_table(index="from_khz", columns="to_khz", values=measure, aggfunc="mean")
        khz = made.index.union(made.columns)
        made = made.reindex(index=khz, columns=khz)
        for at in khz:
            made.loc[at, at] = 0.0
        return made

    def curve(self, quantity: str = "power", measure: str = "rmse_percent") -> pd.DataFrame:
        """Return the mean error over all targets by reference frequency (rows, kHz) and law (columns)."""
        rows = self.errors[self.errors["quantity"] == quantity]
        made = rows.pivot_table(index="from_khz", columns="law", values=measure, aggfunc="mean")
        return made[[law for law in pd.unique(rows["law"]) if law in made]]

    def best_reference(self, quantity: str = "power") -> int:
        """Return the frequency from which the selected law projects best, kHz."""
        curve = self.curve(quantity)[SELECTED]
        return int(curve.index.to_numpy(np.int64)[int(curve.to_numpy().argmin())])


def validate(
    points: Points, laws: Sequence[Law], *, pstates: PStates | None = None, splits: int = 40, seed: int = 0
) -> Validation:
    """Fit laws to some workloads and project the others.

    Points with roles are split by them, once. Others are split in halves by workload, ``splits`` times, drawn
    from the stream ``energy splits``. The law that :mod:`.selection` takes by the workloads fitted, each left
    out in turn, stands in the results as ``selected``; the test half has no part in that.

    Raises InputError for fewer than four workloads, or one frequency alone.
    """
    grid = Grid.of(points, pstates)
    if len(grid) < LEAST_WORKLOADS or len(grid.pstates) < 2:
        found = f"{len(grid)} workloads at {len(grid.pstates)} frequencies"
        raise InputError(f"points: found {found}; allowed: at least {LEAST_WORKLOADS} at 2 or more")
    rows = [
        row
        for split, (fitted, unseen) in enumerate(_splits(grid, splits, seed))
        for row in _project(split, laws, grid.rows(fitted), grid.rows(unseen))
    ]
    projections = _table(rows)
    if not (projections["quantity"] == "power").any():
        raise InputError("points: no two frequencies with enough workloads; allowed: more workloads at each")
    return Validation(projections, errors_by_pair(projections))


def _splits(grid: Grid, splits: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if grid.roles is not None:
        yield np.flatnonzero(grid.roles == "fit"), np.flatnonzero(grid.roles == "test")
        return
    draws = stream(seed, "energy splits")
    order = np.argsort(grid.workloads.astype(str), kind="stable")  # not the order of the file
    half = (len(grid) + 1) // 2
    for _ in range(splits):
        drawn = order[draws.permutation(len(grid))]
        yield np.sort(drawn[:half]), np.sort(drawn[half:])


def _project(split: int, laws: Sequence[Law], fitted: Grid, unseen: Grid) -> Iterator[dict[str, Any]]:
    """Yield columns of projections for every law, and for the selected ones together."""
    khz = fitted.pstates.khz
    power = {law.name: fit_power(law, fitted) for law in laws if law.quantity == "power"}
    timed = TIME in fitted.columns
    time = {law.name: fit_time(law, fitted) for law in laws if law.quantity == "time"} if timed else {}
    chosen, *_ = fit_selected(laws, fitted)
    for reference in range(len(khz)):
        signatures, own = _signatures(unseen, reference)
        if not len(own):
            continue
        selected = chosen.project(signatures)
        made = {("power", name): law.power(signatures, khz) for name, law in power.items()}
        made["power", SELECTED] = selected.power_w
        if timed:
            start = own.columns[TIME][:, [reference]]
            made |= {("time", name): law.factor(signatures, khz) * start for name, law in time.items()}
            made["time", SELECTED] = selected.time_factor * start
            made["energy", SELECTED] = selected.energy_factor * start
            baseline = made.get(("power", CONSTANT.name)), made.get(("time", PROPORTIONAL.name))
            if baseline[0] is not None and baseline[1] is not None:
                made["energy", f"{CONSTANT.name}, {PROPORTIONAL.name}"] = baseline[0] * baseline[1]
        for (quantity, name), projected in made.items():
            yield _columns(split, quantity, name, own, reference, projected)


def _signatures(grid: Grid, reference: int) -> tuple[Points, Grid]:
    own = grid.rows(np.isfinite(grid.columns[POWER][:, reference]))
    columns = {name: values[:, reference] for name, values in own.columns.items()}
    khz = np.full(len(own), grid.pstates.khz[reference])
    table = pd.DataFrame({WORKLOAD: own.workloads, "frequency_khz": khz, **columns})
    return Points(table), own


def _columns(
    split: int, quantity: str, law: str, grid: Grid, reference: int, projected: np.ndarray
) -> dict[str, Any]:
    power = grid.columns[POWER]
    time = grid.columns.get(TIME, power)
    measured = {"power": power, "time": time, "energy": power * time}[quantity]
    known = np.isfinite(measured) & np.isfinite(projected)
    known[:, reference] = False
    row, target = np.nonzero(known)
    return {
        "split": np.full(len(row), split),
        "quantity": np.full(len(row), quantity, dtype=object),
        "law": np.full(len(row), law, dtype=object),
        "workload": grid.workloads[row],
        "from_khz": np.full(len(row), grid.pstates.khz[reference]),
        "to_khz": grid.pstates.khz[target],
        "measured": measured[known],
        "projected": projected[known],
    }


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    if not rows:
        return pd.DataFrame({"quantity": []})
    return pd.DataFrame({name: np.concatenate([row[name] for row in rows]) for name in rows[0]})
