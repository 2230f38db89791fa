"""Where a workload came from, and what a writer needs to give it back as it was."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class TraceSource:
    """Origin of a workload: file, header, comments, and the shape of its records.

    Parameters
    ----------
    format : ``swf``, ``mwf``, ``sacct``, ``parquet``, ``csv``, or ``table`` if built in Python
    name : path of the file that was read, as given by the caller, empty if there is none
    origin : name of the text file that a Parquet file was made of, empty for anything else
    header : lines before the first record, as they came, without line ends
    comments : (row, line) pairs: lines that stand before that row of the table (or, with
        row = number of records, after the last), as they came
    field_count : fields of every record, or int8[records] where they differ
    encoding : of the text in the file, ``utf-8`` or ``latin-1``
    notes : what a person should know about how the file was read
    dependencies_name : the column that dependency ids name, ``component_id`` or ``modular_job_id``
    line_numbers : int64[records], 1-based line of each record, where no rule gives it (sacct)
    partial : whether rows of the file are left out, so that rows no longer tell lines
    """

    format: str = "table"
    name: str = ""
    origin: str = ""
    header: tuple[str, ...] = ()
    comments: tuple[tuple[int, str], ...] = ()
    field_count: int | np.ndarray = 0
    encoding: str = "utf-8"
    notes: tuple[str, ...] = ()
    dependencies_name: str = "component_id"
    line_numbers: np.ndarray | None = None
    partial: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it was read as a table, of which a column map may say what is what."""
        return self.format not in ("table", "swf", "mwf", "sacct", "slurm-sim-events")

    @property
    def processors_are_nodes(self) -> bool:
        """Whether the header of an SWF trace counts as many processors as nodes."""
        nodes = self.header_number("MaxNodes")
        return self.format == "swf" and nodes is not None and nodes == self.header_number("MaxProcs")

    @cached_property
    def _comment_rows(self) -> list[int]:
        return [row for row, _ in self.comments]

    def line_of(self, row: int) -> int | None:
        """Return the 1-based line number of a row of the table, None if the file read is no text."""
        if self.partial or self.origin:
            return None
        if self.line_numbers is not None:
            return int(self.line_numbers[row])
        if self.format not in ("swf", "mwf"):
            return None
        return len(self.header) + bisect_right(self._comment_rows, row) + row + 1

    def lines(self, rows: int) -> np.ndarray:
        """Return the 1-based line numbers of the first ``rows`` rows of a text trace."""
        row = np.arange(rows)
        return len(self.header) + np.searchsorted(self._comment_rows, row, side="right") + row + 1

    def header_number(self, key: str) -> int | None:
        """Return the whole number that a header line ``; key: number`` gives (in MWF ``#``), or None."""
        pattern = re.compile(rf"\s*[;#]\s*{re.escape(key)}\s*:\s*(\d{{1,15}})\b", re.IGNORECASE)
        found = (pattern.match(line) for line in self.header)
        return next((int(match.group(1)) for match in found if match), None)
