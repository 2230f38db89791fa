"""The tables of the reference page on message traces: ``python -m scheduler_sim.messages.keys_page PAGE``."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_sim.config.page import filled, row, tables
from scheduler_sim.messages.collectives import USUAL
from scheduler_sim.messages.csv_table import COLUMNS
from scheduler_sim.messages.network_keys import NetworkKeys
from scheduler_sim.messages.what_if import WORDS


def page(text: str) -> str:
    """Return the page with its tables as the code has them."""
    return filled(
        text,
        {
            "keys": lambda: (
                tables(NetworkKeys)
                .replace("\n## ", "\n### ")
                .replace("## The file", "### The file", 1)
                .strip()
            ),
            "columns": lambda: _two("column", "holds", COLUMNS),
            "whatifs": lambda: _two("what-if", "in it", WORDS),
            "collectives": _collectives,
        },
    )


def _two(name: str, meaning: str, words: Mapping[str, str]) -> str:
    return "\n".join(
        [row((name, meaning)), row(("---", "---")), *(row((f"`{k}`", v)) for k, v in words.items())]
    )


def _collectives() -> str:
    rows = [
        row(
            (
                f"`{name}`",
                *(
                    f"{phase.model}, {phase.size}" if phase.model != "none" else "none"
                    for phase in (keys.fan_in, keys.fan_out)
                ),
            )
        )
        for name, keys in USUAL.items()
    ]
    return "\n".join([row(("operation", "fan in", "fan out")), row(("---", "---", "---")), *rows])


if __name__ == "__main__":
    import sys
    from pathlib import Path

    place = Path(sys.argv[1])
    place.write_text(page(place.read_text(encoding="utf-8")), encoding="utf-8")
