"""The tables that sacctmgr and sshare print with ``-P``: a header, and a row a line, bars between columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError
from scheduler_sim.system.slurm_conf.lines import Pair

MOST_BYTES = 200_000_000
CLUSTER = "CLUSTER: "
"""With -M sshare names the cluster before the header."""


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes
    ----------
    place : ``file:line``.
    cells : what stands in each column that is not empty, blanks at the left kept; by its header in small
        letters without blanks.
    headers : the headers as they were printed, by the same keys.
    """

    place: str
    cells: dict[str, str]
    headers: dict[str, str]

    def text(self, column: str) -> str:
        """What stands in a column, without blanks around it; nothing where it is not printed."""
        return self.cells.get(column, "").strip()

    def pair(self, column: str) -> Pair:
        """The same with its header and place, as the readers of values take it."""
        return Pair(self.headers[column], self.text(column), self.place)


def read_table(path: str | Path, command: str, needed: Collection[str], problems: list[str]) -> Iterator[Row]:
    """Yield the rows of a table with any columns in any order.

    Parameters
    ----------
    path : the file, plain or packed by gzip.
    command : what prints such a table, for messages.
    needed : headers of columns that have to be there.
    problems : lines with too few or too many columns are added, with file and line.

    Raises
    ------
    ConfigError : for files that cannot be read, and without a header.
    """
    lines = enumerate(read_text(Path(path), f"what {command} prints", MOST_BYTES).splitlines(), 1)
    says = ((n, line) for n, line in lines if line.strip() and not line.startswith(CLUSTER))
    number, first = next(says, (1, ""))
    printed = [name.strip() for name in first.removesuffix("|").split("|")]
    keys = [key_of(name) for name in printed]
    if missing := [name for name in needed if key_of(name) not in keys]:
        raise ConfigError(
            f"{path}:{number}: found {first[:60]!r}; allowed: the header that {command} prints,"
            f" with {missing[0]}"
        )
    if again := [name for name, key in zip(printed, keys, strict=True) if keys.count(key) > 1]:
        raise ConfigError(f"{path}:{number}: found the column {again[0]!r} twice; allowed: each once")
    headers = dict(zip(keys, printed, strict=True))
    for number, line in lines:
        if not line.strip():
            continue
        cells = line.split("|")
        if len(cells) == len(keys) + 1 and not cells[-1]:  # -p, in place of -P
            cells.pop()
        if len(cells) != len(keys):
            problems.append(
                f"{path}:{number}: found {len(cells)} columns; allowed: {len(keys)}, as in the header"
            )
            continue
        there = {key: cell for key, cell in zip(keys, cells, strict=True) if cell.strip()}
        yield Row(f"{path}:{number}", there, headers)


def key_of(header: str) -> str:
    """A header in small letters without blanks: sacctmgr prints ``Def QOS`` for DefaultQOS."""
    return "".join(header.lower().split())
