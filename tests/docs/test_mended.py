"""The page on what was mended: every test that it names is there, with its whole name."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

ROWS = [
    line.removesuffix(" |").split(" | ")
    for line in (ROOT / "docs" / "mended.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| point")
]
PATH = re.compile(r"(?:tests|docs|benchmarks)/[\w./-]*\w(?:::\w+)?")


def missing(cell: str) -> list[str]:
    """What a cell names that is not in the repository."""
    found = []
    for name in PATH.findall(cell):
        path, _, function = name.partition("::")
        file = ROOT / path
        if not file.exists() or (function and f"def {function}(" not in file.read_text()):
            found.append(name)
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].removeprefix("| "))
def test_every_test_that_is_named_is_there(row: list[str]) -> None:
    """Names are whole, with their file; what was measured beside another run names none."""
    assert len(row) == 4
    assert missing(row[3]) == []
    rest = PATH.sub("", row[3])
    assert "test_" not in rest
    assert "..." not in row[3]
    assert PATH.search(row[3]) or rest.startswith("ratio ")


def test_what_is_not_there_is_found() -> None:
    assert missing("tests/docs/test_mended.py::test_what_is_not_there_is_found") == []
    assert missing("tests/docs/test_mended.py::test_of_nothing, tests/none.py") == [
        "tests/docs/test_mended.py::test_of_nothing",
        "tests/none.py",
    ]
