"""The lines of a ``sacct`` dump: which column is where, and rows that are whole again.

Whatever stands between the fields of a file, all that follows sees ``|`` between them and ``INNER`` for one
within a text.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.output.rule import head
from scheduler_sim.workload.left_out import JobsLeftOut, LeftOut
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.sacct_header import Header, header_in, split
from scheduler_sim.workload.sacct_json import rows_of_json
from scheduler_sim.workload.sacct_rows import INNER, SEPARATOR, Layout, NoRow
from scheduler_sim.workload.sacct_text import ENDED, UNFINISHED
from scheduler_sim.workload.slurm_json import is_json_of_jobs

AS_IT_IS_READ = (
    "sacct --parsable2"
    " --format=JobID,User,Partition,State,Submit,Start,End,ElapsedRaw,Timelimit,NNodes,NCPUS,ReqTRES"
)
"""The shortest command whose output is of use, as messages give it; the page on sacct has a better one."""

_HET = re.compile(rb"(\d{1,15})\+\d{1,6}$")
_ID = re.compile(rb"\d+(?:_\d+|_\[[^\]|]*\]|\+\d+)?(?:\.\w+)?")
_ROW = re.compile(rb'\s*"?(?:' + _ID.pattern + rb')"?(?P<between> *[|^,;:~#@!\t]{1,8}| +)')
_WORDS_OF_STATES = frozenset(word.encode() for word in (*ENDED, *UNFINISHED))
_FEW_FIELDS = 3
_TEXT_LINES = 50
"""So many lines a text may have."""


def is_json(path: str | Path) -> bool:
    """Whether a file begins as what Slurm's commands print of jobs with ``--json``."""
    return os.path.isfile(path) and is_json_of_jobs(head(Path(path)))


def has_header(path: str | Path) -> bool:
    """Whether the first line of a file that is no comment is a header. Errors are left to the reader."""
    try:
        block = next(iter(read_blocks(path)))
    except (TraceError, StopIteration):
        return False
    return _header(block.split(b"\n"))[1] is not None


def is_passed_over(line: bytes) -> bool:
    """Whether a line before the header says nothing of jobs; with -M Slurm names the cluster there."""
    return not line.strip() or line.startswith((b"#", b"CLUSTER: "))


def is_row_of_sacct(line: bytes) -> bool:
    """Whether a line is a row of a dump without a header: a job id first, and a state among the fields."""
    return _fields_of_row(line) is not None


def _fields_of_row(line: bytes) -> tuple[str, int] | None:
    """What stands between the fields of such a row (nothing: they have widths), and how many there are."""
    match = _ROW.match(line) if has_state(line) else None
    if match is None:
        return None
    text, between = line.decode("utf-8", "replace"), match["between"].strip(b" ").decode()
    ways = ((one, len(split(text, one) if one else text.split())) for one in (between, between[:1]))
    return next(((one, count) for one, count in ways if count >= _FEW_FIELDS), None)


def has_state(line: bytes) -> bool:
    """Whether one of the words of a line is a state of a job, whatever stands between fields."""
    return any(word in _WORDS_OF_STATES for word in re.split(rb"[^A-Z_]+", line))


@dataclass
class Dump:
    """A dump as rows that all have one field for each column.

    Parameters
    ----------
    columns : names in small letters, in order; comments : lines before the header
    rows : the rows, each with its line end; numbers : int64[rows], 1-based line of each
    steps : rows of job steps, which are left out; repaired : rows put together again
    unsure : of these, rows in which nothing tells where one text ends and the next begins
    jobs : heterogeneous jobs of which a line is left out that cannot be read
    spelled : the names as they are printed; separator : what stands between fields in the file
    """

    columns: list[str]
    comments: list[bytes]
    rows: bytes = b""
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    steps: int = 0
    repaired: int = 0
    unsure: int = 0
    jobs: JobsLeftOut = field(default_factory=JobsLeftOut)
    spelled: tuple[str, ...] = ()
    separator: str = "|"


def read_dump(
    path: str | Path, name: str, left: LeftOut, called: Mapping[str, str] = MappingProxyType({})
) -> Dump:
    """Read a dump, plain or packed; raises TraceError for rows whose fields are not those of the header.

    Unless such rows are left out. Blank lines, and the header where files were joined, are passed over.
    ``called`` : columns that another command calls otherwise, by its names.
    """
    if is_json(path):
        return dump_of(*rows_of_json(path, name, left))
    blocks = read_blocks(path, left)
    comments, header, line, block = _head(next(blocks), name)
    names = _names(header, name, line)
    dump = Dump(
        [called.get(column, column) for column in names],
        comments,
        spelled=header.names,
        separator=header.separator,
    )
    lines = _Lines(dump, header, name, left)
    first = line + 1 + bool(header.widths)
    for plain in _plain(block, blocks, header):
        first += lines.add(plain, first)
    lines.end()
    if left.total and left.skips and not dump.rows:
        raise left.nothing_left(name)
    if not dump.rows:
        raise TraceError("no records: nothing but a header", file=name, allowed="at least one job")
    return dump


def dump_of(names: Sequence[str], jobs: Mapping[int, list[str]], steps: int = 0) -> Dump:
    """Return jobs that were printed as JSON; the number of a row is its place in the list."""
    rows = "\n".join("|".join(_one_line(word) for word in job) for job in jobs.values()) + "\n"
    dump = Dump([column.lower() for column in names], [], rows.encode("utf-8", "replace"), steps=steps)
    dump.numbers = np.array(list(jobs), dtype=np.int64)
    return dump


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()).replace("|", INNER).replace("\0", "") if text else text


def _head(block: bytes, name: str) -> tuple[list[bytes], Header, int, bytes]:
    """Return the comments, the header and its line, and what is left of the first block."""
    lines = block.split(b"\n")
    place, header = _header(lines)
    if header is not None:
        return lines[:place], header, place + 1, b"\n".join(lines[place + 1 + bool(header.widths) :])
    line = lines[min(place, len(lines) - 1)]
    raise TraceError(
        "no header of sacct",
        file=name,
        line=min(place + 1, len(lines)),
        found=line[:200].decode("utf-8", "backslashreplace"),
        allowed=_how_to_head(line, name)
        if is_row_of_sacct(line)
        else "names of columns between |, JobID or JobIDRaw among them, as sacct --parsable2 prints",
    )


def _how_to_head(line: bytes, name: str) -> str:
    """Say how to make a dump readable that was printed without its header."""
    between, count = _fields_of_row(line) or ("", 0)
    if not between:
        return "sacct without --noheader: the lines under the names tell the widths; or with --parsable2"
    names = between.replace("\t", "\\t").join(("JobID", "JobName", "...\\n"))
    return (
        f"the names of its {count} columns above the rows: (printf '{names}'; cat"
        f" {Path(name).name}) > with_header.txt, names in the order of --format; or sacct without --noheader"
    )


def _header(lines: list[bytes]) -> tuple[int, Header | None]:
    """Return which of the lines is the first that is no comment, and the header if it is one."""
    place = next((i for i, line in enumerate(lines) if not is_passed_over(line)), len(lines))
    if place == len(lines):
        return place, None
    return place, header_in(lines[place], lines[place + 1] if place + 1 < len(lines) else b"")


def _names(header: Header, name: str, line: int) -> list[str]:
    names = [part.lower() for part in header.names]
    if names[-1] == "":  # sacct --parsable ends each line with a separator
        names[-1] = "(end)"
    names = [part or f"({place})" for place, part in enumerate(names, 1)]  # numbers of rows, of programs
    twice = next((column for column in names if names.count(column) > 1), None)
    if twice is not None:
        raise TraceError(f"column {twice} occurs twice", file=name, line=line)
    return names


# -- other separators


def _plain(first: bytes, blocks: Iterator[bytes], header: Header) -> Iterator[bytes]:
    """Yield a file in blocks of as many lines, with ``|`` between fields alone."""
    if header.may_quote:
        text = b"".join((first, *blocks))
        plain, unquoted = _with_bars(text, header), _unquoted(text, header) if b'"' in text else b""
        ways = (unquoted, plain) if text.lstrip().startswith(b'"') else (plain, unquoted)
        yield max(ways, key=lambda rows: _rows_as_wide(rows, header))
        return
    if first:
        yield _with_bars(first, header)
    for block in blocks:
        yield _with_bars(block, header)


def _with_bars(block: bytes, header: Header) -> bytes:
    if header.separator == "|":
        return block
    between, inner = b"\0", INNER.encode()  # no text has a NUL
    if header.separator:
        block = block.replace(header.separator.encode(), between)
        return block.replace(SEPARATOR, inner).replace(between, SEPARATOR)
    lines = block.replace(SEPARATOR, inner).split(b"\n")
    return b"\n".join(_of_widths(line, header) if line.strip() else line for line in lines)


def _of_widths(line: bytes, header: Header) -> bytes:
    """Return the fields of a line that has so many characters for each; the last may be longer."""
    *but_last, last = header.widths
    fields = [line[start:end] for start, end in but_last]
    return SEPARATOR.join(word.strip() for word in (*fields, line[last[0] :]))


def _rows_as_wide(rows: bytes, header: Header) -> int:
    """Return how many rows have as many fields as the header."""
    return sum(row.count(SEPARATOR) + 1 == len(header.names) for row in rows.split(b"\n"))


def _unquoted(text: bytes, header: Header) -> bytes:
    """Return rows without their quotation marks; a text of several lines leaves empty ones behind."""
    reader = csv.reader(io.StringIO(text.decode("utf-8", "surrogateescape")), delimiter=header.separator)
    rows: list[str] = []
    try:
        for words in reader:
            inside = (" ".join(word.splitlines()).replace("|", INNER) for word in words)
            rows.append("|".join(inside))
            rows += [""] * (reader.line_num - len(rows))
    except csv.Error:
        return _with_bars(text, header)
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")


# -- rows


class _Lines:
    """The lines of a dump as they come in; what is a row goes into it, the rest is told or left out."""

    def __init__(self, dump: Dump, header: Header, name: str, left: LeftOut) -> None:
        self.dump, self.header, self.name, self.left = dump, header, name, left
        self.layout = Layout(dump.columns, header.separator)
        self.wrong: list[TraceError] = []
        self._rows: list[bytes] = []
        self._kept: list[bytes] = []
        self._at: list[int] = []
        self._open: list[tuple[int, bytes]] = []
        self._named = dump.columns.index("jobid") if "jobid" in dump.columns else self.layout.job

    def add(self, block: bytes, first: int) -> int:
        """Take in a block whose first line has this number; return how many lines it has."""
        lines = block.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        whole = self._whole(block, len(lines))
        for number, (line, is_whole) in enumerate(zip(lines, whole, strict=True), first):
            if is_whole and b"\r" not in line:
                self._close()
                self._open.append((number, line))
            elif line.strip():
                self._odd(number, line.removesuffix(b"\r"))
        self._rows.append(b"".join(line + b"\n" for line in self._kept))
        self._kept.clear()
        return len(lines)

    def end(self) -> None:
        """Take in what is still open; raises TraceError for lines that are no rows and not left out."""
        self._close()
        self.dump.rows = b"".join((*self._rows, *(line + b"\n" for line in self._kept)))
        self.dump.numbers = np.array(self._at, dtype=np.int64)
        if self.wrong and not self.left.skips:
            self.wrong.sort(key=lambda error: error.line or 0)
            raise self._of_all(self.wrong[0])

    def _whole(self, block: bytes, count: int) -> list[bool]:
        """Return of each line whether it has a field for each column."""
        data = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))[:count]
        before = np.searchsorted(np.flatnonzero(data == SEPARATOR[0]), ends)
        whole: list[bool] = (np.diff(before, prepend=0) + 1 == len(self.dump.columns)).tolist()
        return whole

    def _odd(self, number: int, line: bytes) -> None:
        """Take in a line of another number of fields: it goes with the one before, or begins a row."""
        if line.count(SEPARATOR) + 1 == len(self.dump.columns) or self.layout.begins(line):
            self._close()
        self._open.append((number, line))
        if len(self._open) > _TEXT_LINES:
            self._close()

    def _close(self) -> None:
        """Make a row of the lines that are open, which may be the lines of one text."""
        lines, self._open = self._open, []
        if not lines:
            return
        (number, line), more = lines[0], lines[1:]
        is_whole = line.count(SEPARATOR) + 1 == len(self.dump.columns) and b"\r" not in line
        if is_whole and not more:
            self._keep(number, line)
            return
        try:
            text = b"\n".join(part.strip() for _, part in lines)
            row = self.layout.row([word.strip(b"\n") for word in text.split(SEPARATOR)])
            if any(b"\r" in part for part in row.fields):
                raise NoRow("a carriage return within the line")
        except NoRow as fault:
            if is_whole:
                self._keep(number, line)
                lines = more
            for number, line in lines:
                self._refuse(number, line, str(fault))
            return
        self.dump.repaired += 1
        self.dump.unsure += bool(row.unsure)
        self._keep(number, SEPARATOR.join(row.fields))

    def _keep(self, number: int, line: bytes) -> None:
        job = self.layout.job
        words = line.split(SEPARATOR, job + 1)
        if b"." in words[job].partition(b"[")[0]:
            self.dump.steps += 1
        elif words[job].strip().lower() != self.dump.columns[job].encode():  # the header once more
            self._kept.append(line)
            self._at.append(number)

    def _refuse(self, number: int, line: bytes, fault: str) -> None:
        fields = line.count(SEPARATOR) + 1
        if fields < len(self.dump.columns):
            fault = "too few fields"
        error = TraceError(
            fault,
            file=self.name,
            line=number,
            found=fields,
            allowed=f"{len(self.dump.columns)}, as the header has",
        )
        self.wrong.append(error)
        if self.left.skips:
            self.left.add(error)
            self.dump.jobs.add(het_job(line.split(SEPARATOR)[self._named : self._named + 1]))

    def _of_all(self, first: TraceError) -> TraceError:
        """Return the error of all lines that are no rows, which tells of the first."""
        count, jobs = len(self.wrong), len(self._at)
        lines = f"{count:,} such line{'s' * (count > 1)} beside {jobs:,} row{'s' * (jobs != 1)}"
        return TraceError(
            first.message,
            file=first.file,
            line=first.line,
            found=first.found,
            allowed=f"{first.allowed} ({lines}); --on-error skip leaves them out and counts them",
        )


def het_job(job_id: list[bytes]) -> int | None:
    """Return the heterogeneous job that an id (at most one) is of, None if it is of none."""
    match = _HET.match(job_id[0]) if job_id else None
    return int(match[1]) if match else None
