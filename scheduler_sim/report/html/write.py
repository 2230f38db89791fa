"""From a directory to its report."""

from __future__ import annotations

import os
from pathlib import Path

from scheduler_sim.output.rule import Kind, head
from scheduler_sim.output.whole import whole_file
from scheduler_sim.report.html.page import Page, html_of
from scheduler_sim.result.packed import packed

STUDY = "study.json"
SEARCH = "search.json"

_MARK = b'<meta name="generator" content="scheduler-sim '


def write_report(directory: str | Path, path: str | Path | None = None, *, force: bool = True) -> Path:
    """Write the report of a result directory or of a study's directory as one HTML file.

    The file is written whole or not at all. The same directory gives the same bytes under one
    version of Bokeh, zlib and this package.

    Parameters
    ----------
    directory : of a run, or of a study.
    path : of the file; None for ``report.html`` in the directory, see :func:`place_of`.
    force : replace whatever regular file is there, and not only a page of this package.

    Raises
    ------
    InputError : the directory holds neither, or the file may not be written there.
    SchedulerSimError : the disk is full or fails.
    """
    directory = Path(directory)
    target = place_of(directory) if path is None else Path(path)
    with whole_file(target, None if force else PAGE) as file:
        file.write(html_of(page_of(directory)).encode())
    return target


def place_of(directory: str | Path) -> Path:
    """Return where the report of a directory stands if nothing else is said: in it.

    That of a run in a pack, ``STUDY/runs/ID``, stands in the study: ``STUDY/report-ID.html``.
    """
    directory = Path(directory)
    if packed(directory) is not None:
        return directory.parent.parent / f"report-{directory.name}.html"
    return directory / "report.html"


def _is_page(path: Path) -> bool:
    return _MARK in head(path, 4096).partition(b"<title>")[0]


PAGE = Kind("a report that scheduler-sim wrote", _is_page)


def page_of(directory: Path) -> Page:
    """Make the page of a run, of a study or of a search, whichever the directory holds."""
    if os.path.isfile(directory / STUDY):
        from scheduler_sim.report.html.study_page import study_page

        return study_page(directory)
    if os.path.isfile(directory / SEARCH):
        from scheduler_sim.report.html.search_page import search_page

        return search_page(directory)
    from scheduler_sim.report.html.run_page import run_page
    from scheduler_sim.result.result import Result

    return run_page(Result.load(directory))
