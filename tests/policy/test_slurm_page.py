"""docs/reference/slurm.md says what the keys say."""

from __future__ import annotations

import re

import pytest

from scheduler_sim import Policy, System, simulate
from scheduler_sim.config.keys import words_for
from scheduler_sim.policy.slurm_keys import PRIORITY_FLAGS, SlurmKeys
from scheduler_sim.policy.slurm_page import (
    EFFECTLESS,
    GROUPS,
    MISSED,
    UNITS,
    filled,
    harmless_table,
    keys_tables,
    missed_table,
)
from scheduler_sim.system.slurm_conf.ignored import HARMLESS, NOT_MODELLED, PARAMETERS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "slurm.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("| `"): [cell.strip(" |") for cell in cells[1:]]
    for cells in (line.split(" | ") for line in keys_tables().splitlines())
    if cells[0].startswith("| `")
}


def test_the_page_is_rendered() -> None:
    assert filled(PAGE) == PAGE, "run: python -m scheduler_sim.policy.slurm_page docs/reference/slurm.md"
    assert keys_tables() in PAGE


def test_every_key_has_a_row_with_its_unit() -> None:
    assert list(ROWS) == list(SlurmKeys.model_fields)
    assert all(name in ROWS for name in GROUPS)
    stated = [name for names in UNITS.values() for name in names.split()]
    assert len(stated) == len(set(stated))
    assert set(stated) <= set(ROWS)
    whole = [name for name in ROWS if words_for(SlurmKeys, name).startswith(("an integer", "seconds"))]
    assert {name for name in whole if not name.startswith("PriorityWeight")} - set(stated) == {
        "FairShareDampeningFactor"
    }


@pytest.mark.parametrize(
    ("name", "new", "old"),
    [
        ("version", "22.05", "19.05"),
        ("bf_max_job_test", "500", "100"),
        ("bf_node_space_size", "500", "100"),
        ("requeue_delay_s", "121", "1201"),
        ("bf_resolution", "60", "60"),
        ("PriorityMaxAge", "604800", "604800"),
        ("PriorityCalcPeriod", "300", "300"),
        ("kill_invalid_depend", "false", "false"),
    ],
)
def test_defaults_of_both_versions(name: str, new: str, old: str) -> None:
    assert ROWS[name][1:3] == [new, old]
    for version, default in (("22.05", new), ("19.05", old)):
        keys = Policy(backfill="slurm", slurm={"version": version}).slurm
        assert str(keys.settled(name)).lower() == default


def listed(table: str) -> dict[str, str]:
    rows = (line.strip("| ").split(" | ") for line in table.splitlines()[2:])
    return {name.strip("`"): why for names, why in rows for name in names.split()}


def test_every_parameter_stands_in_one_of_the_lists_with_its_reason() -> None:
    harmless, missed = listed(harmless_table()), listed(missed_table())
    no_keys = {name: why for name, why in PARAMETERS.items() if name not in SlurmKeys.model_fields}
    assert set(harmless) == {name for name, why in no_keys.items() if why in HARMLESS} | set(EFFECTLESS)
    assert set(missed) == {name for name, why in no_keys.items() if why not in HARMLESS}
    assert set(MISSED) == {name for name, why in no_keys.items() if why == NOT_MODELLED}
    assert {"bf_yield_interval", "max_rpc_cnt", "bf_max_time", "bf_continue"} <= set(harmless)
    assert all(harmless.values())
    assert all(missed.values())


@pytest.mark.parametrize(
    "changes", [{"sched_min_interval": 900_000}], ids=lambda changes: next(iter(changes))
)
def test_keys_said_to_change_nothing_change_nothing(changes: dict[str, object]) -> None:
    assert set(changes) <= set(EFFECTLESS)
    sample = ROOT / "workloads" / "sample-1000.swf"
    starts = [
        simulate(System.homogeneous(128), sample, Policy(backfill="slurm", slurm=keys)).components
        for keys in ({}, changes)
    ]
    assert starts[0].equals(starts[1])


def test_every_flag_is_explained() -> None:
    rules = PAGE[PAGE.index("- PriorityFlags:") :]
    rows = " ".join(line.split("| ")[1] for line in rules.splitlines() if line.startswith("| "))
    explained = set(re.findall(r"[A-Z_]{6,}", rows)) | {"NO_NORMAL_ALL"}
    assert set(PRIORITY_FLAGS) <= explained
    assert "NO_NORMAL_ALL = all four" in rules
