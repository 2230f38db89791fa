"""The reference page has the keys, columns, what-ifs and models of the code."""

from __future__ import annotations

from scheduler_sim.messages.keys_page import page
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "messages.md"


def test_the_reference_page_is_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run: python -m scheduler_sim.messages.keys_page docs/reference/messages.md"
    assert text.count(": rendered ") == 4
    for said in ("`latency_us`", "`cycles`", "`faster:KERNEL:TIMES`", "`reduce_scatter_block`"):
        assert said in text
