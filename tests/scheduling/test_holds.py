"""Begin times, holds, singletons and limits of arrays under every policy: laws, and the plain reference."""

from __future__ import annotations

from hypothesis import given, settings

from tests.scheduling.held_cases import HeldCase, held_cases
from tests.scheduling.test_properties import as_seen, as_told


def compare(held: HeldCase) -> None:
    result, clock = held.simulated(), held.referenced()
    assert as_seen(result) == as_told(clock)
    result.check()


@settings(max_examples=150, deadline=None)
@given(held_cases(operated=False, simple=True))
def test_equal_to_the_plain_reference_with_one_placement(held: HeldCase) -> None:
    compare(held)


@settings(max_examples=150, deadline=None)
@given(held_cases(operated=False))
def test_equal_to_the_plain_reference_with_placements_and_resources(held: HeldCase) -> None:
    compare(held)


@settings(max_examples=150, deadline=None)
@given(held_cases(operated=True, simple=True))
def test_equal_to_the_plain_reference_with_operators(held: HeldCase) -> None:
    compare(held)


@settings(max_examples=150, deadline=None)
@given(held_cases(operated=True))
def test_equal_to_the_plain_reference_with_operators_placements_and_resources(held: HeldCase) -> None:
    compare(held)
