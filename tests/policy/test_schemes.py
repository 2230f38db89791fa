"""The table of schemes and what follows from it."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy
from scheduler_sim.engine.engine import PASSES, hang_in
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.keys import BACKFILLS, PolicyKeys
from scheduler_sim.policy.page import filled
from scheduler_sim.policy.schemes import BY_NAME, NEEDS, SCHEMES, Scheme, handling
from scheduler_sim.report.replay import Rules
from scheduler_sim.simulation.scheme import scheme_of
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "policy.md"
BY_A_RULE = {"slurm"}  # the rule answers for the whole instant: no pass is called


def test_every_pass_is_one_of_the_engine_and_every_one_of_those_is_made() -> None:
    hang_in()
    assert {one.name for scheme in SCHEMES for one in scheme.passes} == {*PASSES, *BY_A_RULE}


def test_keys_of_schemes_are_keys_of_policies() -> None:
    assert {key for scheme in SCHEMES for key in scheme.keys} < set(PolicyKeys.model_fields)
    conditions = {key for scheme in SCHEMES for one in scheme.passes for key in one.only}
    assert all(hasattr(Policy, key) or key in PolicyKeys.model_fields for key in conditions)
    assert all(one.handles <= set(NEEDS) for scheme in SCHEMES for one in scheme.passes)


def test_names_follow_from_the_table() -> None:
    assert tuple(BY_NAME) == BACKFILLS
    for scheme in SCHEMES:
        assert f"{scheme.name} = {scheme.passing}" in str(PolicyKeys.model_fields["backfill"].description)
        needed = {"scheduler": "own.py:Own"} if scheme.name == "scheduler" else {}
        assert Policy(backfill=scheme.name, **needed).scheme is scheme
        if scheme.policy:
            assert Policy.named(scheme.policy).backfill == scheme.name


def test_the_page_is_rendered() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m scheduler_sim.policy.page docs/reference/policy.md"
    assert all(scheme.passing in page and scheme.promise in page for scheme in SCHEMES)


CHOICES = [
    ({}, {}, "fcfs_and_first_fit"),
    ({}, {"rigid": False}, "fcfs_and_first_fit"),
    ({}, {"united": True}, "reservation_backfill"),
    ({}, {"planned": True}, "reservation_backfill"),
    ({"backfill": "first_fit"}, {"switched": True}, "reservation_backfill"),
    ({"backfill": "easy"}, {}, "easy"),
    ({"backfill": "easy", "shadow": "static"}, {}, "easy"),
    ({"backfill": "easy", "depth": 2}, {}, "reservation_backfill"),
    ({"backfill": "easy"}, {"rigid": False}, "reservation_backfill"),
    ({"backfill": "easy"}, {"switched": True}, "reservation_backfill"),
    ({"backfill": "conservative"}, {}, "reservation_backfill"),
    ({"backfill": "conservative", "replan": "keep"}, {"switched": True}, "conservative_keep"),
    ({"backfill": "slurm"}, {"rigid": False, "united": True}, "slurm"),
]


@pytest.mark.parametrize(("policy", "run", "name"), CHOICES)
def test_the_first_pass_that_handles_a_run_is_made(
    policy: dict[str, object], run: dict[str, bool], name: str
) -> None:
    assert scheme_of(Policy(**policy), **{"rigid": True, **run}).name == name


def test_a_run_for_which_a_scheme_has_no_pass() -> None:
    others = "none, easy, conservative, first_fit, slurm"
    assert handling("switching") == others
    with pytest.raises(ConfigError, match=f"switched off; allowed here: {others}$"):
        scheme_of(Policy(scheduler=f"{ROOT}/configs/schedulers/classic.py:Easy"), rigid=True, switched=True)
    with pytest.raises(ConfigError, match=r"policy.shadow: found 'static'.* allowed here: 'dynamic'"):
        scheme_of(Policy(backfill="easy", shadow="static"), rigid=False)


def test_reports_take_their_reasons_from_the_table() -> None:
    kept = {name: Rules.of({"backfill": name}).kept_back for name in BACKFILLS}
    assert kept == {name: scheme.kept_back for name, scheme in BY_NAME.items()}
    assert Rules.of({"backfill": "easy", "depth": 3}).kept_back == "plan"
    later = Rules.of({"backfill": "of a later version"})
    assert (later.kept_back, later.scheme) == ("", Scheme.unknown("of a later version"))
