"""The reference page on power profiles is the rendering of their keys, all of them described."""

from __future__ import annotations

from scheduler_sim.energy.keys_page import keys_page
from tests.conftest import ROOT


def test_the_reference_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "power.md").read_text(encoding="utf-8")
    assert page == keys_page(), "run: python -m scheduler_sim.energy.keys_page > docs/reference/power.md"


def test_every_key_says_what_is_allowed_and_what_it_means():
    rows = [line.split(" | ") for line in keys_page().splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    for row in rows:
        assert len(row) >= 4
        assert row[2].strip(), row[0]
        assert row[-1].strip(" |"), row[0]
