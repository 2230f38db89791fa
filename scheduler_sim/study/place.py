"""The place of a study: a directory known by a file of its own, where nothing else is ever removed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import is_regular, leftovers
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.output.lock import locked
from scheduler_sim.output.whole import TEMPORARY
from scheduler_sim.result.store import read_document

MARK = ".scheduler-sim-study"
"""Says what the directory holds, is written before anything else, and is locked while it is worked on."""

DOCUMENTS = {"study": "study.json", "search": "search.json"}
"""What says what is studied, by kind of study."""

_IN_DOCUMENTS = {"version", "name", "factors", "seeds", "keys", "systems", "workloads", "policies"}


@contextmanager
def claimed(directory: Path, kind: str = "study", *, force: bool = False) -> Iterator[None]:
    """Make a directory that of a study and keep others from working on it at the same time.

    Raises
    ------
    InputError : it holds something else and is not to be used with ``force``; it cannot be written to;
        or another process is at work on it.
    """
    _refuse_foreign(directory, kind, force)
    with ExitStack() as held:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            busy = f"{directory}: another process is working on this study"
            held.enter_context(locked(directory / MARK, busy))
            _write_mark(directory / MARK, kind)
        except OSError as error:
            raise cannot_write(f"to {directory}", error, directory) from error
        yield


def _write_mark(mark: Path, kind: str) -> None:
    if mark.read_bytes() != _said(kind):
        with mark.open("wb") as file:
            file.write(_said(kind))
            file.flush()
            os.fsync(file.fileno())


def _said(kind: str) -> bytes:
    return f'{{"kind": "scheduler-sim {kind}", "version": 1}}\n'.encode()


def _refuse_foreign(directory: Path, kind: str, force: bool) -> None:
    if not os.path.exists(directory):
        return
    if not os.path.isdir(directory):
        raise InputError(f"{directory} is a file; a study needs a directory of its own")
    try:
        names = sorted(path.name for path in directory.iterdir())
        said = (directory / MARK).read_bytes() if MARK in names else None
    except OSError as error:
        raise cannot_write(f"to {directory}", error, directory) from error
    other = next((one for one in DOCUMENTS if one != kind and said == _said(one)), None)
    if other is not None:
        raise InputError(f"{directory} contains a {other}, not a {kind}; choose another directory")
    marked = said is not None and _said(kind).startswith(said)  # or killed while it was written
    if names and not marked and not force and not _is_of_version_0_1(directory, kind):
        raise InputError(
            f"{directory} contains something that is not a {kind} ({', '.join(names[:3])}"
            f"{', ...' if len(names) > 3 else ''}) and is left alone;"
            " allowed: another directory, or --force"
        )


def _is_of_version_0_1(directory: Path, kind: str) -> bool:
    """Tell whether the directory is of a study from before there was the mark, by what says what it is."""
    try:
        return set(read_document(directory / DOCUMENTS[kind])) >= _IN_DOCUMENTS
    except InputError:
        return False


def clear_away(directory: Path, names: Collection[str]) -> None:
    """Remove what killed writers left of files of these names, which nobody else calls so."""
    older = {f".{name}.partial" for name in names}  # what version 0.1 called them
    for path in directory.iterdir():
        if (re.fullmatch(TEMPORARY, path.name) or path.name in older) and is_regular(path):
            path.unlink(missing_ok=True)
    for path in leftovers(directory, list(names)):
        path.unlink(missing_ok=True)


def remove_if_ours(directory: Path, names: Collection[str]) -> bool:
    """Remove a directory in which there are no other files than these; tell whether it is gone."""
    clear_away(directory, names)
    paths = list(directory.iterdir())
    if not all(path.name in names and is_regular(path) for path in paths):
        return False
    for path in paths:
        path.unlink()
    directory.rmdir()
    return True
