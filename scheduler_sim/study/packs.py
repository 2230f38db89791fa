"""The packs of a study: which run is in which, and results on their way into one.

What is in a pack depends on the runs alone, never on who was faster: a batch of runs, in the order of
the study, is cut where so many components have come together. So the same study gives the same packs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import is_regular
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.output.whole import TEMPORARY
from scheduler_sim.result.packed import (
    MEMBERS,
    PACK_FILES,
    PACK_NAME,
    PACKS,
    Member,
    Pack,
    packs_in,
    write_pack,
)
from scheduler_sim.result.result import Result
from scheduler_sim.result.store import has_its_end, spelt
from scheduler_sim.result.table import rows_of
from scheduler_sim.study.measuring import measured
from scheduler_sim.study.place import clear_away, remove_if_ours
from scheduler_sim.study.run import DIGITS, Run, digest

FULL = 100_000
"""Components in a pack from which on it is sealed: a large run has one of its own."""


class Kept(NamedTuple):
    """Where a run is, and by which trim and slices it is measured there."""

    pack: str
    measured: str


class Packs:
    """All packs in the directory of a study."""

    def __init__(self, study: Path) -> None:
        self.study, self.place = study, study / PACKS
        self.kept: Mapping[str, Kept] = {}

    def look(self) -> None:
        """Find out which runs there are."""
        self.kept = {run_id: Kept(pack, by) for pack, run_id, by in self.rows("measured_by")}

    def pack(self, name: str) -> Pack:
        """Return a pack by its name."""
        return Pack(self.place / name)

    def rows(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Yield pack, id, and columns of ``runs.parquet``, of each run, from the first pack that has it."""
        seen: set[str] = set()
        for pack in packs_in(self.study):
            for run_id, *row in zip(*_columns_if_whole(pack, *names), strict=True):
                if run_id not in seen:
                    seen.add(run_id)
                    yield pack.place.name, run_id, *row

    def is_measured(self, run: Run) -> bool:
        """Tell whether a run in a pack has its measures, of the components that count, by its slices."""
        return run.id in self.kept and self.kept[run.id].measured == measured_by(run)

    def clear_leftovers(self) -> list[str]:
        """Remove packs that are not whole; return the names of what is no pack, or holds what none does."""
        if not os.path.isdir(self.place):
            return []
        return [path.name for path in sorted(self.place.iterdir()) if not self._belongs(path)]

    def _belongs(self, path: Path) -> bool:
        if path.is_symlink() or not os.path.isdir(path):
            return False
        if re.fullmatch(TEMPORARY, path.name):
            return remove_if_ours(path, PACK_FILES)
        if not PACK_NAME.fullmatch(path.name):
            return False
        clear_away(path, PACK_FILES)
        return _is_whole(Pack(path)) or remove_if_ours(path, PACK_FILES)


def _is_whole(pack: Pack) -> bool:
    """Tell whether every file of a pack has its end, and the table of its runs can be read."""
    return bool(_columns_if_whole(pack))


def _columns_if_whole(pack: Pack, *names: str) -> list[list[Any]]:
    """Return the ids of a pack's runs, and columns of their table; nothing of a pack that is not whole."""
    if not all(has_its_end(pack.place / name) for name in PACK_FILES):
        return []
    try:
        found = pack.columns(*dict.fromkeys(("id", "measured_by", *names)))
    except InputError:
        return []
    return [found[name] for name in ("id", *names)]


def measured_by(run: Run) -> str:
    """Say by which trim and slices a run is measured."""
    return spelt({"trim": run.trim.to_dict(), "slices": run.slices})


class Filling:
    """Results on their way into packs, or measures on their way into the pack that has the results.

    Parameters
    ----------
    packs : of the study. into : name of the pack whose runs are measured anew; empty for new runs.
    """

    def __init__(self, packs: Packs, into: str = "") -> None:
        self._packs, self._into = packs, into
        self._members: list[Member] = []
        self._components = 0

    def __len__(self) -> int:
        return len(self._members)

    @property
    def is_full(self) -> bool:
        """Whether it is time to seal it."""
        return self._components >= FULL

    def add(self, run: Run, result: Result) -> None:
        """Take in the result of a run, and measure it."""
        member = Member.of(run.id, result, {})  # its tables before anything asks for them as DataFrames
        measures = spelt(measured(result, run.trim, run.slices))
        kept = {"measures": measures, "measured_by": measured_by(run)}
        self._members.append(replace(member, kept=kept))
        self._components += rows_of(member.components)

    def seal(self) -> None:
        """Write what has come together: a pack for each kind of tables, in the order of the runs."""
        members, self._members, self._components = self._members, [], 0
        if self._into:
            self._packs.pack(self._into).rewrite({one.run_id: one.kept for one in members})
            return
        for further in sorted({member.further for member in members}):
            self._write([member for member in members if member.further == further])

    def _write(self, members: list[Member]) -> None:
        ids = [member.run_id for member in members]
        place = self._packs.place / digest(ids)[:DIGITS]
        try:
            write_pack(place, members)
        except OSError as error:
            raise cannot_write(f"results to {self._packs.study}", error, self._packs.study) from error
        if not is_regular(place / MEMBERS) or Pack(place).columns("id")["id"] != ids:
            raise InputError(f"{place} is no pack of this study and is left alone")
