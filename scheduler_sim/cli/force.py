"""``--force``: what every command that writes may be told to replace."""

from __future__ import annotations

import argparse

FILES = "replace whatever file is in the way; by default only an empty one, or one of the same kind"
DIRECTORY = "write into a directory that holds something else, too; that stays as it is"


def add_force(parser: argparse.ArgumentParser, what: str = FILES) -> None:
    """Add the option to a command."""
    parser.add_argument("--force", action="store_true", help=what)
