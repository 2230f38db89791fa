"""docs/reference/slurm.md says what the keys say."""

from __future__ import annotations

import re

import pytest

from scheduler_sim import Policy
from scheduler_sim.config.keys import words_for
from scheduler_sim.policy.slurm_keys import PRIORITY_FLAGS, SlurmKeys
from scheduler_sim.policy.slurm_page import GROUPS, UNITS, filled, keys_tables, parameters_table
from scheduler_sim.system.slurm_conf.ignored import HARMLESS, PARAMETERS
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


def test_every_parameter_that_is_no_key_is_listed_with_its_reason() -> None:
    listed = {}
    for line in parameters_table().splitlines()[2:]:
        names, same, _ = (cell.strip() for cell in line.strip("|").split(" | ", 2))
        listed |= {name.strip("`"): same for name in names.split()}
    expected = {name: why for name, why in PARAMETERS.items() if name not in SlurmKeys.model_fields}
    assert listed == {name: "yes" if why in HARMLESS else "no" for name, why in expected.items()}
    assert {"bf_yield_interval", "max_rpc_cnt", "bf_max_time", "bf_continue"} <= {
        name for name, same in listed.items() if same == "yes"
    }


def test_every_flag_is_explained() -> None:
    rules = PAGE[PAGE.index("- PriorityFlags:") :]
    rows = " ".join(line.split("| ")[1] for line in rules.splitlines() if line.startswith("| "))
    explained = set(re.findall(r"[A-Z_]{6,}", rows)) | {"NO_NORMAL_ALL"}
    assert set(PRIORITY_FLAGS) <= explained
    assert "NO_NORMAL_ALL = all four" in rules
