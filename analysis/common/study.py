"""What is told of a study once it was run: its runs, its setup, and the version that made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import pandas as pd

from analysis.common.runs import load

SetupT = TypeVar("SetupT")


@dataclass(frozen=True)
class Conducted(Generic[SetupT]):
    """The runs, one row each, and what was run by which version."""

    runs: pd.DataFrame
    setup: SetupT
    version: str

    @classmethod
    def read(cls, folder: Path, texts: Sequence[str], setup: Callable[..., SetupT]) -> Self:
        """Read what ``runs.save`` wrote, some columns as texts."""
        runs, keys, version = load(folder, texts)
        return cls(runs, setup(**keys), version)

    def where(self, **levels: Any) -> pd.DataFrame:
        """Return the runs with these levels of factors."""
        runs = self.runs
        for factor, level in levels.items():
            runs = runs[runs[factor] == level]
        return runs
