"""What the sections of the page have in common: how they are asked, and how they write a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KTH = ROOT.parent / "shared" / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz"
KTH_NODES = 100


@dataclass(frozen=True)
class Asked:
    """What a section is to measure.

    Attributes
    ----------
    quick : small cases, once each: that it works, not how fast.
    peers : install the simulators that PyPI has; cqsim : a checkout of CQSim.
    trace : KTH-SP2, cleaned; without it what needs it is left out, and said to be.
    """

    quick: bool = False
    peers: bool = False
    cqsim: Path | None = None
    trace: Path = KTH

    @property
    def has_trace(self) -> bool:
        """Whether there is a recorded trace."""
        return self.trace.exists()


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; columns that begin with a word in ``<`` are flush left.

    Raises
    ------
    ValueError : a row has not as many cells as there are columns.
    """
    rows = list(rows)
    if any(len(row) != len(columns) for row in rows):
        raise ValueError(f"rows of {sorted({len(row) for row in rows})} cells for {len(columns)} columns")
    rule = "|".join("---" if name.startswith("<") else "--:" for name in columns)
    return "\n".join([_line([name.removeprefix("<") for name in columns]), f"|{rule}|", *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def named(trace: Path | str) -> str:
    """Name of a recorded trace as tables have it: ``KTH-SP2`` of ``KTH-SP2-1996-2.1-cln.swf.gz``."""
    return "KTH-SP2" if Path(trace).name == KTH.name else Path(trace).name


def without_trace(asked: Asked) -> str:
    """Say that the recorded trace is not there, and nothing if it is."""
    return "" if asked.has_trace else f"\n\nLeft out: {asked.trace.name} is not beside the checkout."
