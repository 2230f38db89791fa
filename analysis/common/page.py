"""A study's page: the texts beside its code, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler_sim.report.look import save_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def text_of(texts: Path, name: str) -> str:
    """Read a text of the page, by name."""
    return (texts / f"{name}.md").read_text(encoding="utf-8")


def write_page(page: Path, text: str, results: Path, figures: Mapping[str, Figure]) -> Path:
    """Write the figures, by name, and the page; return the page."""
    results.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        save_png(figure, results / f"{name}.png")
    page.write_text(text, encoding="utf-8")
    return page
