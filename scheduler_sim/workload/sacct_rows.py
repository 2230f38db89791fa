"""Rows of a ``sacct`` dump that are whole again, where a text holds the separator or a line end.

``sacct`` escapes neither. The columns before and behind a text are known by what stands in them, so a row
is read where all columns but texts can be told; else it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

SEPARATOR = b"|"
IDS = ("jobid", "jobidraw")
#: Columns in which people write the separator, or Slurm itself (features joined by *or*).
FREE_TEXT = (
    "jobname", "constraints", "comment", "admincomment", "systemcomment", "submitline", "workdir", "extra",
    "licenses", "stdin", "stdout", "stderr", "container", "wckey", "command", "work_dir",
)  # fmt: skip
#: Of these, what decides where a job runs: no guess is made at it.
_DECIDING = ("constraints", "licenses")
#: Columns that list things with commas between them.
_LISTS = ("reqtres", "alloctres", "allocgres", "reqgres", "nodelist", "dependency", "flags", "jobid")
INNER, OWN = "\x1f", "\x1e"
"""Until the columns are apart (ASCII's separators): a ``|`` within a text, another separator of the file."""

_NAME, _COUNT = rb"\S*", rb"(\d+(\.\d+)?[KMGTP]?)?"
_TIME = (
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?|\d+"
    rb"|(?i:unknown|none|n/a|\(null\)|none assigned|invalid))?"
)
_LIMIT = rb"(?i:[\d:.-]+|unlimited|infinite|partition_limit|not_set|invalid|unknown|none|n/a|\(null\))?"
#: What columns look like that hold no free text; a guess at where a separator belongs must leave them so.
_LOOKS: dict[str, re.Pattern[bytes]] = {
    column: re.compile(look)
    for columns, look in {
        IDS: rb"\d+[\d_+.a-z\[\],%-]*",
        ("submit",): _TIME.removesuffix(b"?"),
        ("eligible", "start", "end"): _TIME,
        ("state",): rb"[A-Z_]{6,}.*",
        ("exitcode", "derivedexitcode"): rb"(\d+:\d+)?",
        ("elapsed", "timelimit", "timelimitraw"): _LIMIT,
        ("elapsedraw", "priority", "restarts", "uid", "gid"): rb"\d*",
        ("allocnodes", "nnodes", "reqnodes", "ncpus", "reqcpus", "alloccpus"): _COUNT,
        ("reqmem",): rb"(?i:[\d.]+[KMGTP]?[nc]?|n/a|unknown|\(null\))?",
        ("reqtres", "alloctres"): rb"([^=,\s]+=[^=,\s]+,?)*",
        ("allocgres", "reqgres"): rb"([A-Za-z][\w.:/()-]*|\d+|\(null\))?(,[A-Za-z][\w.:/()-]*)*",
        ("user", "account", "qos", "partition", "group", "reservation", "cluster", "nodelist"): _NAME,
        ("dependency",): rb"[a-z0-9:_+*,?()]*",
    }.items()
    for column in columns
}
_ANYTHING, _ANY_LINES = re.compile(rb".*"), re.compile(rb".*", re.DOTALL)
_COMMAND = re.compile(rb"\s*(?:\S*/)?(?:sbatch|srun|salloc|scrun|sattach)\b.*", re.DOTALL)
_MOST_FIELDS = 400
"""A row of more is none: it would take for ever to see what belongs where."""


class NoRow(Exception):
    """What is wrong with lines that are no row."""


@dataclass(frozen=True)
class Row:
    """A row with one field for each column. ``unsure`` : columns of text that share what is between them."""

    fields: list[bytes]
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The columns of a dump, by their names in small letters, in order, and what stands between them."""

    columns: Sequence[str]
    separator: str = "|"

    @cached_property
    def job(self) -> int:
        """Which column has the number of the job: the first of those that may."""
        return min(self.columns.index(column) for column in IDS if column in self.columns)

    @cached_property
    def _looks(self) -> list[re.Pattern[bytes]]:
        otherwise = dict.fromkeys(FREE_TEXT, _ANY_LINES)
        return [_LOOKS.get(column, otherwise.get(column, _ANYTHING)) for column in self.columns]

    def begins(self, line: bytes) -> bool:
        """Whether a row may begin with a line: all fields before the first text, at least the job's number
        and one more, look as they must."""
        words = line.split(SEPARATOR)
        if len(words) < min(self.job + 2, len(self.columns)):
            return False
        before_texts = next((i for i in range(self.job, len(self.columns)) if self._is_text(i)), None)
        return all(
            look.fullmatch(word) is not None
            for place, (look, word) in enumerate(zip(self._looks[:before_texts], words, strict=False))
            if not self._is_text(place)
        )

    def row(self, words: list[bytes]) -> Row:
        """Return a row of the words between separators. Raises NoRow if they are none, or unsure which."""
        most = len(words) - len(self.columns)
        if most < 0:
            raise NoRow("too few fields")
        if len(words) > _MOST_FIELDS:
            raise NoRow("too many fields")
        for of_commands in (True, False):
            if cuts := self._cuts(words, of_commands):
                return self._joined(words, cuts)
        raise NoRow("too many fields: a text may hold the separator |" if most else "a field looks wrong")

    def _cuts(self, words: list[bytes], of_commands: bool) -> list[list[tuple[int, int]]]:
        """Return from which word to before which each column may reach; none if there is no way at all."""
        count, ends = len(self.columns), [{0}]
        spans: list[list[tuple[int, int]]] = []
        for place in range(count):
            found = []
            last = len(words) - (count - place - 1)
            for start in sorted(ends[-1]):
                if start < last and self._may_be(place, words[start], of_commands):
                    found += [(start, stop) for stop in self._stops(place, words, start, last)]
            spans.append(found)
            ends.append({stop for _, stop in found})
        good = {len(words)}
        for place in reversed(range(count)):
            spans[place] = [span for span in spans[place] if span[1] in good]
            good = {start for start, _ in spans[place]}
        return spans if good == {0} else []

    def _stops(self, place: int, words: list[bytes], start: int, last: int) -> Iterator[int]:
        """Yield before which words a column may end that begins with one."""
        yield start + 1
        if self._is_text(place):
            yield from range(start + 2, last + 1)
        elif self.separator == "," and self.columns[place] in _LISTS:
            for stop in range(start + 2, last + 1):
                if not words[stop - 1] or not self._looks[place].fullmatch(words[stop - 1]):
                    return
                yield stop

    def _is_text(self, place: int) -> bool:
        return self.columns[place] in FREE_TEXT

    def _may_be(self, place: int, word: bytes, of_commands: bool) -> bool:
        if of_commands and self.columns[place] == "submitline":
            return not word or _COMMAND.fullmatch(word) is not None
        return self._looks[place].fullmatch(word) is not None

    def _joined(self, words: list[bytes], cuts: list[list[tuple[int, int]]]) -> Row:
        """Return the row: the command that submitted a job is as long as it may be, other texts are short."""
        inner = (INNER if self.separator == "|" else OWN).encode()
        fields, at, unsure = [], 0, []
        for place, (column, spans) in enumerate(zip(self.columns, cuts, strict=True)):
            ways = {SEPARATOR.join(words[start:stop]) for start, stop in spans}
            if len(ways) > 1:
                if not self._is_text(place) or column in _DECIDING:
                    raise NoRow("too many fields: a text may hold the separator |, and nothing tells which")
                unsure.append(column)
            stops = [stop for start, stop in spans if start == at]
            stop = max(stops) if column == "submitline" else min(stops)
            fields.append(inner.join(words[at:stop]).replace(b"\n", b" "))
            at = stop
        return Row(fields, tuple(unsure))
