"""What jobs drew, learnt by user, application and size: the mean power of a node of each group.

A group is within another: all jobs, those of a user, those of them of an application, those of them of a
size. A job whose own group is not known has the power of the nearest one around it that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.csv_texts import csv_texts
from scheduler_sim.errors import TraceError
from scheduler_sim.output.rule import Kind
from scheduler_sim.texts import TextColumn

USER, APPLICATION, NODES, POWER, JOBS = COLUMNS = ("user", "application", "nodes", "power_w", "jobs")
LEVELS = ("all", "user", "application", "size")
"""Of what group a power is, from the outermost in; of an application and a size those of one user."""

MOST_W = 10**9
MOST_COUNT = 2**53


@dataclass(frozen=True, eq=False)
class Learnt:
    """The mean power of a node in each group of jobs.

    Attributes
    ----------
    table : ``user``, ``application`` (text, empty: any), ``nodes`` (int64, the most of a size class; 0: any),
        ``power_w`` (of a node, W), ``jobs`` (int64, that the group had). The row of any job is the first.
    """

    table: pd.DataFrame

    @classmethod
    def of(cls, columns: Mapping[str, Any], name: str = "learnt power") -> Learnt:
        """Make one from columns of equal length, by name.

        Raises TraceError that names row (from 1) and field of the first value that cannot stand there.
        """
        try:
            table = pd.DataFrame(dict(columns))
        except ValueError:
            raise TraceError("not columns of one length", file=name) from None
        return _checked(table, name, first_line=1)

    @classmethod
    def from_csv(cls, path: str | Path) -> Learnt:
        """Read one from a CSV file with a header. Raises TraceError, with the line of what is wrong."""
        return _checked(csv_texts(path), path, first_line=2)

    def text(self) -> str:
        """Return it as CSV, powers to the mW."""
        names = (*self.table[USER], *self.table[APPLICATION])
        quoting: Literal[0, 2] = 2 if any("\r" in name for name in names) else 0  # of all texts, or as needed
        rounded = self.table.assign(power_w=self.table[POWER].round(3))
        return rounded.to_csv(index=False, lineterminator="\n", quoting=quoting)

    @cached_property
    def _groups(self) -> dict[tuple[str, str, int], float]:
        keys = zip(*(self.table[name].tolist() for name in (USER, APPLICATION, NODES)), strict=True)
        return dict(zip(keys, self.table[POWER].tolist(), strict=True))

    def predict(self, user: Any, application: Any, nodes: Ints) -> tuple[Floats, Ints]:
        """Return the power of a node under each of n jobs, W, and the place in LEVELS that it is from.

        ``user`` and ``application`` are (n,) text, empty where they are not known.
        """
        (users, names), (kinds, titles) = (_factorised(column) for column in (user, application))
        size = size_class(nodes)
        sizes, classes = pd.factorize(size)
        key = (users * max(len(titles), 1) + kinds) * max(len(classes), 1) + sizes
        job, keys = pd.factorize(key)
        found = []
        for one in keys.tolist():
            rest, of_size = divmod(one, len(classes))
            of_user, of_kind = divmod(rest, len(titles))
            found.append(self._nearest(names[of_user], titles[of_kind], int(classes[of_size])))
        power, level = (np.array(column) for column in zip(*found, strict=True)) if found else ([], [])
        return np.asarray(power, np.float64)[job], np.asarray(level, np.int64)[job]

    def _nearest(self, user: str, application: str, size: int) -> tuple[float, int]:
        around = ((user, application, size), (user, application, 0), (user, "", 0), ("", "", 0))
        group = next(group for group in around if group in self._groups)
        return self._groups[group], level_of(*group)


def application_of(app: Any, name: Any) -> Any:
    """Return what the application of each job is called: as the trace says, else by the job's own name."""
    called = np.asarray(app, dtype=object)
    return np.where(called != "", called, np.asarray(name, dtype=object))


def level_of(user: str, application: str, size: int) -> int:
    """Return the place in LEVELS of a group."""
    return 3 if size else 2 if application else 1 if user else 0


def by_level(levels: Ints) -> dict[str, int]:
    """Return how many jobs have their power from which of LEVELS, the innermost first, of what there is.

    ``levels`` : int64[n], places in LEVELS.
    """
    counts = np.bincount(levels, minlength=len(LEVELS)).tolist()
    return {name: n for name, n in zip(reversed(LEVELS), reversed(counts), strict=True) if n}


def size_class(nodes: Ints) -> Ints:
    """Return the most nodes of the size class of each number: the power of two that is not below it.

    Examples
    --------
    >>> size_class(np.array([1, 2, 3, 4, 5, 4097])).tolist()
    [1, 2, 4, 4, 8, 8192]
    """
    _, exponent = np.frexp(np.maximum(np.asarray(nodes, dtype=np.int64), 1) - 1)
    classes: Ints = np.left_shift(np.int64(1), exponent.astype(np.int64))
    return classes


def _factorised(column: Any) -> tuple[Ints, list[str]]:
    texts = TextColumn.of(column).in_order()
    return np.asarray(texts.codes, dtype=np.int64), texts.categories.tolist()


def _checked(table: pd.DataFrame, file: str | Path, first_line: int) -> Learnt:
    table.columns = pd.Index([str(name).strip() for name in table.columns])
    if sorted(table.columns) != sorted(COLUMNS):
        raise TraceError(
            "other columns than those of learnt power",
            file=file,
            line=1,
            found=", ".join(table.columns)[:200],
            allowed=", ".join(COLUMNS),
        )

    def refuse(wrong: Any, name: str, what: str, allowed: str) -> None:
        if (places := np.flatnonzero(wrong)).size:
            row = int(places[0])
            found = table[name].iloc[row]
            raise TraceError(what, file=file, line=row + first_line, field=name, found=found, allowed=allowed)

    made: dict[str, Any] = {name: table[name].astype(str) for name in (USER, APPLICATION)}
    for name, most in ((NODES, MOST_COUNT), (POWER, MOST_W), (JOBS, MOST_COUNT)):
        texts = table[name].astype(str).str.strip()
        numbers = pd.to_numeric(texts.where(texts != "", "0"), errors="coerce").to_numpy(np.float64)
        wrong = ~((numbers >= 0) & (numbers <= most))
        refuse(wrong, name, "not a number in the allowed range", f"a number from 0 to {most:g}")
        made[name] = numbers
    refuse(made[POWER] <= 0, POWER, "not above 0", "W of a node")
    for name in (NODES, JOBS):
        refuse(made[name] % 1 != 0, name, "not a whole number", "a whole number")
        made[name] = made[name].astype(np.int64)
    odd = (made[NODES] > 0) & (size_class(made[NODES]) != made[NODES])
    refuse(odd, NODES, "not the most nodes of a size class", "a power of two; nothing or 0: any size")
    found = pd.DataFrame({name: made[name] for name in COLUMNS})
    keys = [USER, APPLICATION, NODES]
    refuse(found.duplicated(keys), USER, "a group that occurs twice", "each group once")
    if not ((made[USER] == "") & (made[APPLICATION] == "") & (made[NODES] == 0)).any():
        raise TraceError(
            "no row of all jobs",
            file=file,
            allowed="one row with neither user nor application nor nodes, for jobs of which nothing is known",
        )
    return Learnt(found)


def read_learnt(path: str | Path) -> Learnt:
    """Read what :meth:`Learnt.text` wrote. Raises TraceError for anything that is wrong."""
    return Learnt.from_csv(path)


LEARNT_FILE = Kind.read_by("learnt power", read_learnt)
