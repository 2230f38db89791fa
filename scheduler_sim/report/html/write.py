"""From a directory to its report."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.errors import InputError
from scheduler_sim.report.html.page import Page, html_of
from scheduler_sim.result.store import write_whole

STUDY = "study.json"


def write_report(directory: str | Path, path: str | Path | None = None) -> Path:
    """Write the report of a result directory or of a study's directory as one HTML file.

    The file is written whole or not at all. The same directory gives the same bytes under one
    version of Bokeh, zlib and this package.

    Parameters
    ----------
    directory : of a run, or of a study.
    path : of the file; None for ``report.html`` in the directory.

    Raises
    ------
    InputError : the directory holds neither.
    SchedulerSimError : the file cannot be written.
    """
    directory = Path(directory)
    target = directory / "report.html" if path is None else Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a directory; allowed: the name of a file for the report")
    text = html_of(page_of(directory))
    write_whole(target, lambda path: path.write_text(text, encoding="utf-8", newline="\n"))
    return target


def page_of(directory: Path) -> Page:
    """Make the page of a run or of a study, whichever the directory holds."""
    if (directory / STUDY).is_file():
        from scheduler_sim.report.html.study_page import study_page

        return study_page(directory)
    from scheduler_sim.report.html.run_page import run_page
    from scheduler_sim.result.result import Result

    return run_page(Result.load(directory))
