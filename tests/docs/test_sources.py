"""The table of what was read tells of every source and of every real file, and tells the truth."""

from __future__ import annotations

import pytest

from benchmarks.page import MARKS
from benchmarks.reading import HEAD, REAL, counts
from scheduler_sim import read_trace
from scheduler_sim.loaders.sources import FRONTIER, MAPS
from scheduler_sim.loaders.sources_page import sources_page
from tests.conftest import ROOT, SHARED, needs_shared

PAGE = ROOT / "docs" / "reference" / "sources.md"


@pytest.fixture(scope="module")
def rows():
    (text,) = [
        found[0] for found in MARKS.finditer(PAGE.read_text(encoding="utf-8")) if found[2] == "reading"
    ]
    assert HEAD in text
    lines = (line for line in text.splitlines() if line.startswith("| ") and line not in HEAD)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_of_what_they_read_is_up_to_date():
    page = (PAGE.parent / "source-columns.md").read_text(encoding="utf-8")
    assert page == sources_page(), (
        "run: python -m scheduler_sim.loaders.sources_page > docs/reference/source-columns.md"
    )


def test_every_source_has_a_row(rows):
    told = {cells[0].strip("`") for cells in rows}
    assert told >= {*MAPS, FRONTIER, *REAL}


@needs_shared
@pytest.mark.parametrize(("source", "file"), [(one, file) for one, files in REAL.items() for file in files])
def test_what_it_says_of_real_data_is_so(rows, source, file):
    (cells,) = [cells for cells in rows if f"`{file.rpartition('/')[2]}`" in cells[2]]
    jobs = read_trace(SHARED / "data" / file, source)
    assert cells[0] == f"`{source}`"
    assert tuple(cells[3:6]) == counts(jobs)
