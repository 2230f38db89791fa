"""The one table of workload fields: what each column is and where it stands in each format."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Field:
    """One column of the workload table.

    Parameters
    ----------
    name : column name
    dtype : ``int64``, ``float64``, ``int8`` or ``text`` (a pandas categorical of strings)
    unit : unit of the values, empty if they have none
    default : value where the trace says nothing
    swf, mwf : 1-based position in a record of that format, or None
    description : one sentence
    """

    name: str
    dtype: str
    unit: str
    default: int | float | str
    swf: int | None
    mwf: int | None
    description: str

    @property
    def is_text(self) -> bool:
        """Whether the column holds text."""
        return self.dtype == TEXT

    def position(self, file_format: str) -> int | None:
        """Return the 1-based position in ``swf`` or ``mwf`` records, None if there is none."""
        return {"swf": self.swf, "mwf": self.mwf}.get(file_format)

    def place(self, file_format: str) -> str:
        """Return name and position as error messages give them."""
        position = self.position(file_format)
        name = self.name.removeprefix("listed_")
        return name if position is None else f"{position} ({name})"


def _load() -> dict[str, Field]:
    text = files("scheduler_sim.workload").joinpath("fields.csv").read_text(encoding="utf-8")
    return {row["name"]: _field(row) for row in csv.DictReader(text.splitlines())}


def _field(row: dict[str, str]) -> Field:
    kind = {"float64": float, TEXT: str}.get(row["dtype"], int)
    return Field(
        name=row["name"],
        dtype=row["dtype"],
        unit=row["unit"],
        default=kind(row["default"]),
        swf=int(row["swf"]) if row["swf"] else None,
        mwf=int(row["mwf"]) if row["mwf"] else None,
        description=row["description"],
    )


FIELDS: dict[str, Field] = _load()
SWF_FIELDS: tuple[Field, ...] = tuple(
    sorted((f for f in FIELDS.values() if f.swf is not None), key=lambda f: f.swf or 0)
)
MWF_FIELDS: tuple[Field, ...] = tuple(
    sorted((f for f in FIELDS.values() if f.mwf is not None), key=lambda f: f.mwf or 0)
)

#: Why a record of a trace is not simulated, by its code in the column ``skipped``.
SKIP_REASONS: dict[int, str] = {
    1: "cancelled before it ran",
    2: "run time unknown",
    3: "no nodes",
    4: "not ended when the trace was taken",
    5: "the same run once more",
    6: "a partial execution, not a whole job",
    7: "in partitions that the system does not have",
    8: "asking for features in a way that is not possible here",
    9: "asking for generic resources in a way that is not possible here",
    10: "asking for licences in a way that is not possible here",
    11: "of applications of which the models say too little",
    12: "of jobs whose components would start together, which is not possible here",
    13: "with several placements or shared resources, which are not possible here",
    14: "that call the scheduler, which is not possible here",
    15: "whose components would start with a delay, which is not possible here",
    16: "with dependencies that lead round in a circle",
    17: "of jobs of which another component is left out",
}
CANCELLED, NO_RUN_TIME, NO_NODES, NOT_ENDED, SAME_RUN, PARTIAL = range(1, 7)
NO_PARTITION, FEATURES, GENERIC, LICENCES, APPLICATION = range(7, 12)
TOGETHER, SEVERAL, CALLING, DELAYED, IN_A_CIRCLE, WITH_ITS_JOB = range(12, 18)
OF_RUNS = range(NO_PARTITION, WITH_ITS_JOB + 1)
"""Reasons that depend on the system and the policy: the record itself can be read."""
