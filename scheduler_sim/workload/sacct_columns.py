"""The columns of a ``sacct`` dump as numbers: each text read once, each error with its line and column."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from scheduler_sim.config.problem import MOST_LISTED, listed
from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload import sacct_text
from scheduler_sim.workload.sacct_lines import Dump, het_job
from scheduler_sim.workload.sacct_rows import INNER, OWN

#: Columns that are read, by their names in the field list of sacct; all others are passed over.
READ = (
    "JobID", "JobIDRaw", "JobName", "User", "Group", "Account", "QOS", "Partition", "State", "Submit",
    "Eligible", "Start", "End", "Elapsed", "ElapsedRaw", "Timelimit", "TimelimitRaw", "AllocNodes", "NNodes",
    "ReqNodes", "AllocCPUS", "NCPUS", "ReqCPUS", "AllocTRES", "ReqTRES", "ReqMem", "ExitCode", "Constraints",
    "Licenses", "Dependency", "Restarts", "AllocGRES", "ReqGRES", "SubmitLine",
    "Reservation", "ConsumedEnergyRaw", "ConsumedEnergy", "AveCPUFreq",
)  # fmt: skip

#: How the texts of those that are no names, ids or times are read.
READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        ("ElapsedRaw", "AllocNodes", "NNodes", "ReqNodes", "AllocCPUS", "NCPUS", "ReqCPUS", "Restarts"),
        sacct_text.count,
    ),
    **dict.fromkeys(("Timelimit", "TimelimitRaw"), sacct_text.time_limit),
    **dict.fromkeys(("AllocTRES", "ReqTRES"), sacct_text.tres),
    **dict.fromkeys(("AllocGRES", "ReqGRES"), sacct_text.gres),
    **dict.fromkeys(("ConsumedEnergyRaw", "ConsumedEnergy"), sacct_text.joules),
    "AveCPUFreq": sacct_text.khz,
    "SubmitLine": sacct_text.options,
    "State": sacct_text.state,
    "Elapsed": sacct_text.duration,
    "ReqMem": sacct_text.memory,
    "ExitCode": sacct_text.exit_code,
    "Dependency": sacct_text.dependency,
}

_IDS, _TIMES = ("JobID", "JobIDRaw"), ("Submit", "Eligible", "Start", "End")
_NAMES = ("JobID", "JobName", "User")
"""What people choose, so that it may be *none*."""
_SPELLED = {name.lower(): name for name in READ}
_TASK = r"_(?:(?P<task>[0-9]{1,15})|\[(?P<rest>[^\]]*)\]?)"
_JOB_ID = rf"^(?P<job>[0-9]{{1,15}})(?:{_TASK})?(?:\+(?P<offset>[0-9]{{1,6}}))?$"
_ISO = (
    r"^(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,9})?"
    r" ?(?P<zone>Z|(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-5][0-9]))?$"
)
_SAYS_NOTHING = r"^(?i:unknown|none|n/a|\(null\)|null|none assigned|invalid|not_set)?$"
_TIMES_ALLOWED = (
    "YYYY-MM-DDThh:mm:ss, also with an offset such as +01:00, seconds since 1970, Unknown or None;"
    " SLURM_TIME_FORMAT=%s before sacct prints seconds since 1970"
)


class Columns:
    """The fields of the jobs of a dump, by sacct's own names (any case).

    Parameters
    ----------
    dump : rows that are whole; name : the file, for messages

    Attributes
    ----------
    local : whether times without a zone have been read
    """

    def __init__(self, dump: Dump, name: str) -> None:
        self.name, self.numbers = name, dump.numbers
        self._cuts = not dump.separator
        self.local = False
        self._within = {
            mark: real for mark, real in ((INNER, "|"), (OWN, dump.separator)) if mark.encode() in dump.rows
        }
        wanted = [column for column in dump.columns if column in _SPELLED]
        self._table = arrow_csv.read_csv(
            io.BytesIO(_as_utf8(dump.rows)),
            read_options=arrow_csv.ReadOptions(column_names=dump.columns, block_size=1 << 24),
            parse_options=arrow_csv.ParseOptions(delimiter="|", quote_char=False, ignore_empty_lines=False),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
            ),
        ).combine_chunks()

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, column: str) -> bool:
        return column.lower() in self._table.column_names

    def texts(self, column: str) -> TextColumn | str:
        """Return a column as texts, the empty text where it says nothing, or the dump does not have it."""
        if column not in self:
            return ""
        codes, words = self._encoded(column)
        silent = sacct_text.is_null if column in _NAMES else sacct_text.says_nothing
        return TextColumn(codes, ["" if silent(word) else word for word in words])

    def mapped(self, column: str) -> tuple[list[Any], np.ndarray]:
        """Return what each different text of a column says, and which of them each row has."""
        codes, words = self._encoded(column)
        try:
            return [READERS[column](word) for word in words], codes
        except TraceError:
            raise next(self._mistakes_in(column)) from None

    def read_by(self, column: str, reader: Callable[[str], int]) -> np.ndarray:
        """Return int64[rows] of what another reader makes of a column's texts, -1 if the dump lacks it."""
        if column not in self:
            return np.full(len(self), -1, dtype=np.int64)
        codes, words = self._encoded(column)
        numbers: np.ndarray = np.array([reader(word) for word in words], dtype=np.int64)[codes]
        return numbers

    def numbers_of(self, column: str) -> np.ndarray:
        """Return int64[rows] of what the texts of a column say, -1 if the dump lacks it."""
        if column not in self:
            return np.full(len(self), -1, dtype=np.int64)
        values, codes = self.mapped(column)
        numbers: np.ndarray = np.array(values, dtype=np.int64)[codes]
        return numbers

    def times(self, column: str) -> np.ndarray:
        """Return int64[rows], s since 1970 by the clock that sacct printed; -1 = Unknown, None or no column.

        A whole number is Unix time, and one with an offset from UTC becomes that. Local times have no zone:
        every day counts as 24 hours.
        """
        if column not in self:
            return np.full(len(self), -1, dtype=np.int64)
        text = self._text(column)
        silent = compute.match_substring_regex(text, _SAYS_NOTHING)
        parts = compute.extract_regex(text, _ISO)
        iso, unix = parts.is_valid(), compute.match_substring_regex(text, "^[0-9]{1,12}$")
        wrong = ~(_array(silent) | _array(iso) | _array(unix))
        if wrong.any():
            raise self._not_a_time(column, np.flatnonzero(wrong))
        zone = compute.fill_null(parts.field("zone"), "Z")
        self.local |= bool(compute.any(compute.and_(iso, compute.equal(zone, ""))).as_py())
        local = compute.binary_join_element_wise(parts.field("day"), parts.field("time"), "T")
        local = compute.if_else(iso, local, None)
        try:
            seconds = local.cast(pa.timestamp("s")).cast(pa.int64())
        except pa.ArrowInvalid:
            raise self._not_a_time(column, _those_that_fail(local)) from None
        number = compute.if_else(unix, text, None).cast(pa.int64())
        values = compute.fill_null(compute.coalesce(seconds, number), -1).to_numpy(zero_copy_only=False)
        values = np.where(_array(iso), values - _offset(parts), values)
        return np.where((values == 0) & _array(unix), -1, values)  # Slurm's "no time" as a number

    def job_ids(self, column: str) -> dict[str, np.ndarray]:
        """Return ``job``, ``task`` and ``offset`` (int64, -1 = none), and ``rest``: what stands in ``[]``."""
        text = self._text(column)
        parts = compute.extract_regex(text, _JOB_ID)
        if parts.null_count:
            rows = np.flatnonzero(~_array(parts.is_valid()))
            raise self.error("not a job id", column, rows, "123, 123_4, 123_[5-9%2] or 123+0")
        number = {name: _integers(parts.field(name)) for name in ("job", "task", "offset")}
        return {**number, "rest": np.asarray(parts.field("rest").to_pandas(), dtype=object)}

    def without(self, rows: np.ndarray) -> Columns:
        """Return the dump without some rows (int64[n])."""
        kept = np.delete(np.arange(len(self)), rows)
        made = copy(self)
        made.numbers = self.numbers[kept]
        made._table = self._table.take(pa.array(kept)).combine_chunks()
        return made

    def het_jobs(self, rows: np.ndarray) -> set[int]:
        """Return the heterogeneous jobs that some rows (int64[n]) are of."""
        if "JobID" not in self:
            return set()
        ids = self._text("JobID").take(pa.array(rows, pa.int64())).to_pylist()
        jobs = (het_job([word.encode()]) for word in ids)
        return {job for job in jobs if job is not None}

    def het_rows(self, jobs: set[int]) -> np.ndarray:
        """Return the rows (int64[n]) of some heterogeneous jobs."""
        if not jobs or "JobID" not in self:
            return np.zeros(0, dtype=np.int64)
        ids = self._text("JobID").to_pylist()
        return np.array(
            [row for row, word in enumerate(ids) if het_job([word.encode()]) in jobs], dtype=np.int64
        )

    def faults(self) -> Iterator[TraceError]:
        """Yield an error for each text of a column that cannot be read, with all rows that have it."""
        for column in READ:
            if column in self:
                yield from self._mistakes_in(column)

    def mistakes(self) -> TraceError | None:
        """Return an error of all that cannot be read, by line: each text of a column once, of ids and
        times the first; None if all can be read."""
        known = (column for column in READ if column in self)
        wrong = [error for column in known for error in islice(self._mistakes_in(column), MOST_LISTED)]
        if not wrong:
            return None
        wrong.sort(key=lambda error: error.line or 0)
        wrong[0].args = ("\n".join(listed(map(str, wrong))),)
        return wrong[0]

    def _mistakes_in(self, column: str) -> Iterator[TraceError]:
        if column in READERS:
            codes, words = self._encoded(column)
            for code, word in enumerate(words):
                try:
                    READERS[column](word)
                except TraceError as error:
                    yield self.error(error.message, column, np.flatnonzero(codes == code), error.allowed)
        elif column in (*_IDS, *_TIMES):
            try:
                self.job_ids(column) if column in _IDS else self.times(column)
            except TraceError as error:
                yield error

    def error(self, message: str, column: str, rows: np.ndarray | int, allowed: str | None) -> TraceError:
        """Return the error for one field of some rows, which tells of the first."""
        rows = np.atleast_1d(rows)
        row = int(rows[0])
        found, name = self._text(column)[row].as_py(), _SPELLED[column.lower()]
        if self._cuts and found.endswith("+"):
            message = "cut to the width of the column"
            allowed = f"the whole of it: sacct --parsable2, or {name}%40 in --format"
        error = TraceError(
            message,
            file=self.name,
            line=int(self.numbers[row]),
            field=name,
            found=found,
            allowed=allowed,
        )
        error.rows = rows
        return error

    def _not_a_time(self, column: str, rows: np.ndarray) -> TraceError:
        return self.error("not a time", column, rows, _TIMES_ALLOWED)

    def _text(self, column: str) -> pa.StringArray:
        chunks = self._table.column(column.lower())
        texts = chunks.chunk(0) if chunks.num_chunks else pa.array([], pa.string())
        for mark, real in self._within.items():
            texts = compute.replace_substring(texts, mark, real)
        return texts

    def _encoded(self, column: str) -> tuple[np.ndarray, list[str]]:
        encoded = self._text(column).dictionary_encode()
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()


def _array(values: Any) -> np.ndarray:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)


def _offset(parts: pa.StructArray) -> np.ndarray:
    """Return how far each time is ahead of UTC, int64[rows], s; 0 where it does not say."""
    hours, minutes = (
        _integers(compute.if_else(compute.equal(part, ""), "0", part))
        for part in (compute.fill_null(parts.field(name), "0") for name in ("hours", "minutes"))
    )
    west = _array(compute.equal(compute.fill_null(parts.field("sign"), ""), "-"))
    ahead: np.ndarray = (hours * 60 + minutes) * 60
    return np.where(west, -ahead, ahead)


def _integers(texts: pa.StringArray) -> np.ndarray:
    said = compute.if_else(compute.not_equal(texts, ""), texts, "-1")
    return np.asarray(said.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _those_that_fail(texts: pa.StringArray) -> np.ndarray:
    """Return the rows that are no date: int64[n]; each text is tried once."""
    encoded = texts.dictionary_encode()
    words = encoded.dictionary
    wrong = [i for i in range(len(words)) if not _is_date(words[i : i + 1])] if len(words) else []
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.isin(codes, wrong))


def _is_date(text: pa.StringArray) -> bool:
    try:
        text.cast(pa.timestamp("s"))
    except pa.ArrowInvalid:
        return False
    return True


def _as_utf8(rows: bytes) -> bytes:
    """Return text that is UTF-8; any other is taken for Latin-1, which any bytes are."""
    try:
        rows.decode("utf-8")
    except UnicodeDecodeError:
        return rows.decode("latin-1").encode("utf-8")
    return rows
