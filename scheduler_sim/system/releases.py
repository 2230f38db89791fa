"""Releases of Slurm that are told apart, and which of them one counts as."""

from __future__ import annotations

import re
from pathlib import Path

from scheduler_sim.config.text_file import read_text

RELEASES = ("26.05", "25.11", "25.05", "24.11", "24.05", "23.11", "23.02", "22.05", "19.05")
"""The newest first."""

DEFAULTS_OF_23_11 = {"SelectType": "select/cons_tres", "PriorityType": "priority/multifactor"}
"""What Slurm takes since 23.11 where slurm.conf says nothing (read_config.h)."""

_PRINTED = re.compile(r"^\s*(?:slurm|SLURM_VERSION\s*=)\s*(\d\d\.\d\d)(?:\.\S+)?\s*$", re.MULTILINE | re.I)


def printed_release(path: Path) -> tuple[str, int] | None:
    """Return the release that a file names, as ``24.11``, and the line that does; None if it names none.

    Raises ConfigError for a file that cannot be read as text.
    """
    text = read_text(path, "what sinfo -V, or scontrol show config, prints")
    found = _PRINTED.search(text)
    return (found[1], text.count("\n", 0, found.start(1)) + 1) if found else None


def counts_as(release: str) -> str:
    """Return the release by whose rules one counts: itself, else the next that is known, else the newest."""
    later = [one for one in RELEASES if one >= release]
    return later[-1] if later else RELEASES[0]
