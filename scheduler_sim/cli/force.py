"""``--force``: what every command that writes may be told to replace."""

from __future__ import annotations

import argparse
from pathlib import Path

from scheduler_sim.errors import InputError

FILES = "replace an existing file of any kind; by default only an empty one, or one of the same kind"
DIRECTORY = "also write into a directory that contains other files; these are kept"


def add_force(parser: argparse.ArgumentParser, what: str = FILES) -> None:
    """Add the option to a command."""
    parser.add_argument("--force", action="store_true", help=what)


def check_picture(path: str, *, force: bool) -> None:
    """Refuse a place of ``--plot`` where no picture can stand, before any work."""
    if Path(path).suffix.lower() != ".png":
        raise InputError(f"--plot: found {path!r}; allowed: a name ending in .png")
    from scheduler_sim.output.rule import check_place
    from scheduler_sim.report.look import PICTURE

    check_place(path, PICTURE, force=force)
