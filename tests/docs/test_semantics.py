"""The code cites rules by the numbers that docs/semantics.md gives them."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
RULES = {int(match[1]): match[2] for match in re.finditer(r"^(\d+)\. \*\*(.+?)[.*]", PAGE, re.M)}
CITED = re.compile(r"\b[Rr]ules? (\d+(?:(?:, | and | to )\d+)*)")
SUBJECTS = {
    "engine/core/instant.py": "Instants",
    "engine/core/queue.py": "Order",
    "engine/schemes/easy.py": "easy",
    "workload/swf.py": "SWF",
    "workload/mwf.py": "MWF",
    "simulation/outages.py": "Outside",
}
"""What the rules are about that some files cite."""


def citations() -> dict[str, set[int]]:
    found = {}
    for path in (ROOT / "scheduler_sim").rglob("*.py"):
        numbers = [
            int(n)
            for cited in CITED.findall(path.read_text(encoding="utf-8"))
            for n in re.findall(r"\d+", cited)
        ]
        if numbers:
            found[str(path.relative_to(ROOT / "scheduler_sim"))] = set(numbers)
    return found


def test_rules_are_numbered_without_a_gap() -> None:
    assert list(RULES) == list(range(1, len(RULES) + 1))
    assert len(RULES) == 16


def test_every_rule_that_the_code_cites_has_that_number() -> None:
    found = citations()
    assert len(found) >= 10
    assert {file: numbers - set(RULES) for file, numbers in found.items() if numbers - set(RULES)} == {}


@pytest.mark.parametrize(("file", "subject"), SUBJECTS.items())
def test_files_cite_the_rule_that_they_are_about(file: str, subject: str) -> None:
    assert subject in {RULES[number] for number in citations()[file]}
