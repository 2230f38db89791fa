"""The reference for shared nodes against answers that two other programs computed from the same rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_shared import schedule
from tests.oracle.shared_sites import KEYS, LARGE, SCHEMES, TINY, answer_key, site

IN_THE_PLAN = [(scheme, packing, {"depth": 1}) for scheme, packing in KEYS if scheme == "easy"]
CASES = [*((scheme, packing, {}) for scheme, packing in KEYS), *IN_THE_PLAN]


def check(name: str, scheme: str, packing: str, more: dict[str, Any]) -> None:
    nodes, jobs = site(name)
    clock = schedule(jobs, nodes, packing=packing, **SCHEMES[scheme], **more)
    starts = [clock.outcomes[job.row].start for job in jobs]
    key = answer_key(name, scheme, packing)
    both = zip(starts, key, strict=True)
    wrong = [(row, ours, theirs) for row, (ours, theirs) in enumerate(both) if ours != theirs]
    assert not wrong, f"{len(wrong)} of {len(key)} starts differ; row, ours, theirs: {wrong[:3]}"


@needs_shared
@pytest.mark.parametrize(("scheme", "packing", "more"), CASES)
@pytest.mark.parametrize("name", TINY)
def test_every_start_of_small_sites_is_equal(name, scheme, packing, more):
    check(name, scheme, packing, more)


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "packing", "more"), CASES)
@pytest.mark.parametrize("name", LARGE)
def test_every_start_of_large_sites_is_equal(name, scheme, packing, more):
    check(name, scheme, packing, more)
