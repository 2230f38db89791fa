"""The best mix for D2.3's budget: a search in each reading of Table 7, and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.common.markdown import table
from analysis.common.numbers import number
from analysis.modular_vs_homogeneous.cases import READINGS, ROOT, SLOWER, SPEED
from scheduler_sim import Study
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.study.search import search

STUDY = ROOT / "configs" / "studies" / "best-mix.yaml"
TABLES, SETUP = "mixes-{}.csv", "mixes.json"
STEPS = {SLOWER: 5, SPEED: 10}
"""Nodes by which mixes differ: where jobs crawl on the ESB queues are long, and searches slow."""

METRIC, STRATEGY = "wait_time_mean", "policy.placement"
HOUR = 3600.0
SHOWN = 5
PURE = ({"CM": 165}, {"DAM": 66}, {"ESB": 165}, {"CM": 50, "ESB": 115})
"""The systems of D2.3."""


@dataclass(frozen=True)
class Mixes:
    """What the searches found, by reading: the table of each search, and its seeds, loss and confidence."""

    tables: dict[str, pd.DataFrame]
    said_of: dict[str, dict[str, Any]]

    def panels(self) -> dict[str, pd.DataFrame]:
        """Return the first search's table for each strategy, by the title of its panel."""
        found = self.tables[SLOWER]
        return {
            f"{strategy.replace('_', ' ')}, {SLOWER}": own.assign(value=own[METRIC] / HOUR)
            for strategy, own in found[found["state"] != "infeasible"].groupby(STRATEGY, sort=False)
        }

    def said(self) -> dict[str, object]:
        """Say what was searched."""
        first = self.said_of[SLOWER]
        return {
            "candidates": f"{len(self.tables[SLOWER]):,}",
            "infeasible": f"{(self.tables[SLOWER]['state'] == 'infeasible').sum():,}",
            "search_seeds": first["seeds"],
            "simulations": f"{self.tables[SLOWER]['seeds'].sum():,}",
        }

    def sentence(self) -> str:
        """Say what to buy, and with which mix static preferred modules would do."""
        parts = []
        for reading, found in self.tables.items():
            best = found[found["state"] == "winner"].iloc[0]
            left = int(found["state"].isin(("left", "winner")).sum())
            parts.append(
                f"read as “{reading}” {best['system']} with `{best[STRATEGY]}`,"
                f" {number(best[METRIC] / HOUR)} h"
                f" mean wait ({self._surety(reading, left)})"
            )
        fixed = self.tables[SLOWER]
        fixed = fixed[(fixed[STRATEGY] == "preferred") & (fixed["nodes_CM"] > 0) & (fixed["nodes_ESB"] > 0)]
        best = fixed.loc[fixed[METRIC].idxmin()]
        return (
            f"**What to buy for 165 units, by mean wait alone**: {'; '.join(parts)}. Even with static"
            " preferred modules a modular system"
            f" can be good: {best['system']} then waits {number(best[METRIC] / HOUR)} h. It was"
            " D2.3's split of the"
            " money that does not suit its own jobs: as they run there, four fifths of the work prefers CM."
        )

    def _surety(self, reading: str, left: int) -> str:
        loss, best = self.said_of[reading]["loss"], self.tables[reading][METRIC].iloc[0]
        others = "no other" if left == 1 else f"{left - 1} others"
        return f"95 %: {others} may be better, none by more than {100 * loss / best:.0f} %"

    def table_text(self) -> str:
        """Write the best mixes, and D2.3's systems, of each search."""
        rows = []
        for reading, found in self.tables.items():
            ranked = found[found["state"] != "infeasible"].sort_values(METRIC, kind="stable")
            pure = ranked[[_is_of_d23(row) for _, row in ranked.iterrows()]]
            shown = pd.concat([ranked.head(SHOWN), pure]).drop_duplicates(["system", STRATEGY])
            rows += [
                (
                    reading,
                    str(row["system"]),
                    row[STRATEGY].replace("_", " "),
                    number(row[METRIC] / HOUR),
                    _interval(row),
                    f"{row['seeds']}",
                    str(row["state"]),
                )
                for _, row in shown.iterrows()
            ]
        header = (
            "reading",
            "mix",
            "strategy",
            "mean wait (h)",
            "above the best (h, simultaneous 95 %)",
            "seeds",
            "state",
        )
        return table(header, rows)


def _nodes(row: Any) -> dict[str, int]:
    return {name: int(row[f"nodes_{name}"]) for name in ("CM", "DAM", "ESB") if row[f"nodes_{name}"]}


def _is_of_d23(row: Any) -> bool:
    """Whether it is a system of D2.3; where there is one module strategies have nothing to choose."""
    return _nodes(row) in PURE and (len(_nodes(row)) > 1 or row[STRATEGY] == "preferred")


def _interval(row: Any) -> str:
    if row["state"] == "winner":
        return "–"
    value, low, high = (row[name] / HOUR for name in ("above", "above_low", "above_high"))
    return f"{value:.3g} ({low:.3g} to {high:.3g})".replace("-", "−")


def conduct(folder: Path, workers: int, progress: Callable[[int, int], None] | None = None) -> None:
    """Search in each reading, and write the tables into ``folder``; evaluations are kept in ``.search``."""
    said = {}
    for reading in READINGS:
        keys = read_yaml(STUDY).data
        place = STUDY.parent
        keys |= {
            "systems": [str(place / keys["systems"][0])],
            "workloads": {
                name: {"recipe": str(place / one["recipe"])} for name, one in keys["workloads"].items()
            },
            "models": str(place / keys["models"]),
        }
        keys["search"] = {**keys["search"], "step": STEPS[reading]}
        keys["parameters"] = {**keys["parameters"], "models.applications.below_one": [reading]}
        found = search(Study.of(**keys), folder / ".search" / reading, workers, progress)
        said[reading] = {"seeds": found.seeds, "loss": found.loss, "confidence": found.confidence}
        found.table.to_csv(
            folder / TABLES.format(reading), index=False, float_format="%.6g", lineterminator="\n"
        )
    (folder / SETUP).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> Mixes | None:
    """Read what :func:`conduct` wrote, None if it is not there."""
    if not (folder / SETUP).is_file():
        return None
    said = json.loads((folder / SETUP).read_text(encoding="utf-8"))
    tables = {reading: pd.read_csv(folder / TABLES.format(reading)) for reading in said}
    return Mixes(tables, said)
