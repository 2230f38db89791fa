"""The field table: complete, and the reference page is its rendering."""

from __future__ import annotations

from scheduler_sim.workload.fields import FIELDS, MWF_FIELDS, SWF_FIELDS
from scheduler_sim.workload.fields_page import fields_page
from tests.conftest import ROOT


def test_every_position_has_one_column():
    assert [field.swf for field in SWF_FIELDS] == list(range(1, 19))
    assert [field.mwf for field in MWF_FIELDS] == list(range(1, 43))


def test_every_column_is_described():
    for field in FIELDS.values():
        assert field.description
        assert field.dtype in ("int64", "int8", "float64", "text")
        assert not field.is_text or field.default == ""


def test_the_reference_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "fields.md").read_text(encoding="utf-8")
    assert page == fields_page(), (
        "run: python -m scheduler_sim.workload.fields_page > docs/reference/fields.md"
    )
