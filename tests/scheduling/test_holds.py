"""Begin times, holds, singletons and limits of arrays under every policy: laws, and the plain reference."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.conftest import examples
from tests.scheduling.held_cases import HeldCase, held_cases
from tests.scheduling.test_properties import as_seen, as_told

pytestmark = pytest.mark.interpreted


def compare(held: HeldCase) -> None:
    result, clock = held.simulated(), held.referenced()
    assert as_seen(result) == as_told(clock)
    result.check()


@examples(150)
@given(held_cases(operated=False, simple=True))
def test_equal_to_the_plain_reference_with_one_placement(held: HeldCase) -> None:
    compare(held)


@examples(150)
@given(held_cases(operated=False))
def test_equal_to_the_plain_reference_with_placements_and_resources(held: HeldCase) -> None:
    compare(held)


@examples(150)
@given(held_cases(operated=True, simple=True))
def test_equal_to_the_plain_reference_with_operators(held: HeldCase) -> None:
    compare(held)


@examples(150)
@given(held_cases(operated=True))
def test_equal_to_the_plain_reference_with_operators_placements_and_resources(held: HeldCase) -> None:
    compare(held)
