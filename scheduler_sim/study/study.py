"""A study: a grid of runs that can be carried out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from scheduler_sim.study.carry import here
from scheduler_sim.study.checks import SEED, levels
from scheduler_sim.study.conduct import Conducted, conduct
from scheduler_sim.study.grid import Grid
from scheduler_sim.study.keys import spelt
from scheduler_sim.study.processes import local


@dataclass(frozen=True)
class Study(Grid):
    """A checked study. Build one with :meth:`from_yaml`, or with :meth:`of` from the same keys."""

    def _repr_html_(self) -> str:
        """Show in a notebook what is crossed, compared with what; names are escaped."""
        shown = {factor: ", ".join(names) for factor, names in levels(self.keys).items() if factor != SEED}
        seeds = self.keys.seeds
        shown["seeds"] = f"{len(seeds)} ({min(seeds)} to {max(seeds)})" if len(seeds) > 1 else str(seeds[0])
        shown["compared with"] = (
            ", ".join(f"{k} {spelt(v)}" for k, v in self.keys.baseline.items()) or "nothing"
        )
        rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in shown.items())
        return f"<table><caption>Study: {escape(self.name)}</caption><tbody>{rows}</tbody></table>"

    def conduct(self, directory: str | Path, workers: int = 1, *, force: bool = False) -> Conducted:
        """Carry out the runs missing in the directory, with some processes; return index and comparison.

        With more than one worker a script must be guarded by ``if __name__ == "__main__":``, because the
        processes import it again. A directory that contains anything but a study is refused without
        ``force``.
        """
        return conduct(self, directory, here if workers == 1 else local(workers), force=force)
