"""Two schedules of one workload, component by component: which wait less, which wait longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.slices import SLICES
from scheduler_sim.report.module_view import ints
from scheduler_sim.result.columns import NEVER

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result


@dataclass(frozen=True)
class ScheduleDiff:
    """What a second schedule changed for each component of the first.

    Attributes
    ----------
    before, after : the results
    components : one row a component, in the order of ``before``; times in seconds, float64, NaN where
        it did not start. Columns: component_id, modular_job_id, user, app, nodes, module (all as
        before), module_after, wait_before, wait_after, wait_difference, end_before, end_after,
        end_difference (after − before: negative is better).
    match : int64[components], row of each in ``after``
    """

    before: Result
    after: Result
    components: pd.DataFrame
    match: np.ndarray

    def by(self, what: str) -> pd.DataFrame:
        """Count winners and losers of each class; a winner waits less after than before.

        Parameters
        ----------
        what : a key of ``metrics.slices.SLICES``, such as ``size``, ``gpus`` or ``user``, as it was before.

        Returns
        -------
        One row a class that has components; columns: components, shorter, same, longer (counts of
        those that ran in both), not_in_both, and, over those that ran in both, in seconds:
        wait_before, wait_after, wait_difference (means), median_difference.

        Raises
        ------
        InputError : ``what`` is no way of slicing.
        """
        if what not in SLICES:
            raise InputError(
                f"slices by {what}; allowed: {', '.join(SLICES)}{did_you_mean(what, list(SLICES))}"
            )
        classes = SLICES[what](self.before.components)
        table = self.components[["wait_before", "wait_after", "wait_difference"]].reset_index(drop=True)
        difference = table["wait_difference"]
        table.loc[difference.isna(), ["wait_before", "wait_after"]] = np.nan
        counts = pd.DataFrame(
            {
                "components": np.ones(len(table), dtype=np.int64),
                "shorter": (difference < 0).astype(np.int64),
                "same": (difference == 0).astype(np.int64),
                "longer": (difference > 0).astype(np.int64),
                "not_in_both": difference.isna().astype(np.int64),
            }
        )
        groups = pd.Series(classes, name=what)
        summed = counts.groupby(groups, observed=True).sum()
        means = table.groupby(groups, observed=True).mean()
        medians = difference.groupby(groups, observed=True).median().rename("median_difference")
        return summed.join(means).join(medians)


def schedule_diff(before: Result, after: Result) -> ScheduleDiff:
    """Compare two schedules of one workload.

    Systems and policies may differ. Components are matched by ``component_id``.

    Raises
    ------
    InputError : the runs do not have the same components, submitted at the same times.
    """
    one, other = before.components, after.components
    match = _match(one, other)
    for column, words in (("submit_time", "is submitted at {} s"), ("modular_job_id", "belongs to job {}")):
        left, right = ints(one, column), ints(other, column)[match]
        if (left != right).any():
            row = int(np.argmax(left != right))
            raise _different(
                f"component {one['component_id'].iloc[row]} {words.format(left[row])} in the first run"
                f" and {words.format(right[row])} in the second"
            )
    times = {"before": one, "after": other.iloc[match]}
    started = {side: _seconds(table, "start_time") for side, table in times.items()}
    ended = {
        side: np.where(np.isnan(started[side]), np.nan, _seconds(table, "end_time"))
        for side, table in times.items()
    }
    submit = ints(one, "submit_time")
    same = ["component_id", "modular_job_id", "user", "app", "nodes", "module"]
    components = one[same].reset_index(drop=True).assign(
        module_after=times["after"]["module"].reset_index(drop=True),
        wait_before=started["before"] - submit,
        wait_after=started["after"] - submit,
        wait_difference=started["after"] - started["before"],
        end_before=ended["before"],
        end_after=ended["after"],
        end_difference=ended["after"] - ended["before"],
    )  # fmt: skip
    return ScheduleDiff(before, after, components, match)


def _match(one: pd.DataFrame, other: pd.DataFrame) -> np.ndarray:
    """Return the row in ``other`` of each component of ``one``."""
    left, right = pd.Index(ints(one, "component_id")), pd.Index(ints(other, "component_id"))
    for side, ids in (("first", left), ("second", right)):
        if not ids.is_unique:
            raise _different(f"component {ids[ids.duplicated()][0]} stands twice in the {side} run")
    for here, there, side in ((left, right, "first"), (right, left, "second")):
        alone = here.difference(there, sort=False)
        if len(alone):
            raise _different(
                f"component {alone[0]} is in the {side} run only"
                + (f", as are {len(alone) - 1:,} more" if len(alone) > 1 else "")
            )
    return right.get_indexer(left)


def _different(found: str) -> InputError:
    return InputError(f"these are not two schedules of one workload: {found}")


def _seconds(table: pd.DataFrame, column: str) -> np.ndarray:
    values = ints(table, column)
    return np.where(values == NEVER, np.nan, values)
