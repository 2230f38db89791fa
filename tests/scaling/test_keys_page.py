"""The reference page on profiles is the rendering of keys and curves, all of them described."""

from __future__ import annotations

from scheduler_sim.scaling.curves import KINDS
from scheduler_sim.scaling.keys_page import keys_page
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_the_reference_page_is_up_to_date():
    page = (REFERENCE / "profile.md").read_text(encoding="utf-8")
    assert page == keys_page(), "run: python -m scheduler_sim.scaling.keys_page > docs/reference/profile.md"


def test_every_key_says_what_is_allowed_and_what_it_means():
    rows = [line.split(" | ") for line in keys_page().splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    for row in rows:
        assert len(row) >= 4 or row[0] in {"| `parallel`"}, row
        if len(row) == 4:
            assert row[2].strip() or row[3].strip(), row


def test_the_page_on_models_has_every_curve_and_the_one_on_sources_every_system():
    text = (REFERENCE / "scaling.md").read_text(encoding="utf-8")
    for name in KINDS:
        assert f"`{name}`" in text, name
    sources = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    for system in (
        "Rosas",
        "Calotoiu",
        "SAGE",
        "Snavely",
        "CEPBA",
        "Dimemas",
        "Sweep3D",
        "POEMS",
        "Mendes",
        "Zhang",
    ):
        assert system in sources, system
