"""The result of a run, in memory and as a directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from scheduler_sim.result.columns import COMPONENTS, SWITCHED, timeline_columns
from scheduler_sim.result.store import (
    LOG,
    read_document,
    read_table,
    write_directory,
    write_document,
    write_measured,
    write_table,
)

if TYPE_CHECKING:
    from scheduler_sim.report.plot import Plot


@dataclass
class Result:
    """What a run leaves, and all that reports and checks need.

    Attributes
    ----------
    components : one row a component, in trace order; columns in ``result.columns.COMPONENTS``.
    timeline : one row per module (and ``total``) and instant at which a value changes;
        columns in ``result.columns.timeline_columns``.
    metrics : the numbers of ``metrics.json``, see ``docs/reference/metrics.md``.
    manifest : what was run: version, seed, system, policy, modules (name to nodes),
        inputs with their sha256, counts.
    """

    components: pd.DataFrame
    timeline: pd.DataFrame
    metrics: dict[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)

    def save(self, directory: str | Path, log: str | None = None) -> Path:
        """Write the result as a directory, whole or not at all.

        The same result gives the same bytes; only ``run.log``, which holds ``log``, may hold
        times, hosts and paths. An older result there is replaced.

        Raises
        ------
        InputError : the directory holds something that is not a result.
        SchedulerSimError : the disk is full, or writing is not allowed; nothing has changed there.
        """
        switched = SWITCHED[0].name in self.timeline
        writers: dict[str, Callable[[Path], None]] = {
            "components.parquet": partial(write_table, self.components, COMPONENTS),
            "timeline.parquet": partial(write_table, self.timeline, timeline_columns(switched)),
            "metrics.json": partial(write_measured, self.metrics),
            "manifest.json": partial(write_document, self.manifest),
        }
        if log is not None:
            writers[LOG] = partial(_write_text, log)
        write_directory(Path(directory), writers)
        return Path(directory)

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Read a result directory; raises InputError if it is not one, or not a whole one."""
        directory = Path(directory)
        manifest = read_document(directory / "manifest.json")
        switched = bool((manifest.get("energy") or {}).get("switched"))
        return cls(
            components=read_table(directory / "components.parquet", COMPONENTS),
            timeline=read_table(directory / "timeline.parquet", timeline_columns(switched)),
            metrics=read_document(directory / "metrics.json"),
            manifest=manifest,
        )

    def check(self) -> None:
        """Test every invariant of a schedule; raises InvariantError with the first one broken."""
        from scheduler_sim.result.check import check

        check(self.components, self.timeline, self.metrics, self.manifest)

    @property
    def plot(self) -> Plot:
        """Pictures of this run by name: ``result.plot.gantt()`` and others, see ``report.plot.Plot``."""
        # By name, for a result knows nothing of what is made from it, and Matplotlib must not load with it.
        plot: Plot = import_module("scheduler_sim.report.plot").Plot(self)
        return plot

    def _repr_html_(self) -> str:
        card: str = import_module("scheduler_sim.report.card").card(self)
        return card

    def __repr__(self) -> str:
        modules = ", ".join(self.manifest.get("modules", {}))
        return f"Result({len(self.components)} components on {modules or 'no modules'})"


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
