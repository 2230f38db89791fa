"""What differs between releases of Slurm, in cases worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.policy.slurm_releases import DIFFERENCES, RELEASES, holds_in
from scheduler_sim.system.releases import counts_as, printed_release

pytestmark = pytest.mark.interpreted

KEYS = {"sched_interval": -1, "bf_interval": 30, "bf_resolution": 60, "starts_before_s": 8}


def starts(jobs: list[dict[str, Any]], nodes: int = 2, cores: int = 8, **keys: Any) -> list[int]:
    module = {"name": "m", "nodes": nodes, "cores_per_node": cores, "shared": True}
    names = {"nodes", *(name for job in jobs for name in job)}
    table = {name: [job.get(name, DEFAULTS.get(name)) for job in jobs] for name in sorted(names)}
    policy = Policy(name="slurm", backfill="slurm", slurm=KEYS | keys)
    found = Simulation(System.from_dict({"modules": [module]}), Workload.from_columns(**table), policy).run()
    return found.components["start_time"].tolist()


DEFAULTS = {"tasks": -1, "cores_per_task": 1, "nodes": 1, "max_nodes": 1, "exclusive": 0}


@pytest.mark.parametrize("written", ["26.05", "26.05.3", 26.05, " 24.11.5 "])
def test_a_patch_level_may_be_written(written: object) -> None:
    assert SlurmKeys(version=written).version in ("26.05", "24.11")


@pytest.mark.parametrize("written", ["21.08", "26.11", "newest", ""])
def test_an_unknown_release_is_an_error(written: str) -> None:
    with pytest.raises(ConfigError, match=r"version: found .*; allowed: 26\.05, 25\.11"):
        Policy.resolve({"backfill": "slurm", "slurm": {"version": written}})


def test_a_difference_holds_from_its_release_on() -> None:
    for one in DIFFERENCES:
        holding = [release for release in RELEASES if holds_in(one.name, release)]
        assert holding == [release for release in RELEASES if release >= one.since]
        assert one.source
        assert one.what


def test_main_passes_as_a_second_begins_since_23_11() -> None:
    jobs = [{"submit_time": 0, "run_time": 5}, {"submit_time": 10, "run_time": 5}]
    assert starts(jobs, version="23.02", bf_interval=-1) == [0, 10]
    assert starts(jobs, version="23.11", bf_interval=-1) == [1, 11]


def test_a_single_job_takes_the_first_node_that_fits_since_26_05() -> None:
    """The small job takes of the node that is empty, and the wide one waits for it."""
    first = {"submit_time": 0, "run_time": 500, "time_limit": 600, "tasks": 5, "nodes": 1, "max_nodes": 1}
    filler = {"submit_time": 0, "run_time": 20, "time_limit": 60, "tasks": 8, "nodes": 1, "max_nodes": 1}
    small = {"submit_time": 100, "run_time": 300, "time_limit": 600, "tasks": 3, "nodes": 1, "max_nodes": 1}
    wide = {"submit_time": 200, "run_time": 10, "time_limit": 60, "tasks": 8, "nodes": 1, "max_nodes": 1}
    jobs = [filler, first, small, wide]
    tight = starts(jobs, version="25.11", bf_interval=-1)
    first_fit = starts(jobs, version="26.05", bf_interval=-1)
    assert tight[3] == 201
    assert first_fit[3] > 400


@pytest.mark.parametrize(
    ("text", "release", "line"),
    [
        ("slurm 26.05.3\n", "26.05", 1),
        ("Configuration data as of 2026-11-01\nSLURM_VERSION           = 24.11.5\n", "24.11", 2),
        ("slurm 25.11.0-0rc1", "25.11", 1),
    ],
)
def test_the_release_is_what_sinfo_or_scontrol_prints(
    tmp_path: Path, text: str, release: str, line: int
) -> None:
    (tmp_path / "version.txt").write_text(text, encoding="utf-8")
    assert printed_release(tmp_path / "version.txt") == (release, line)


def test_a_file_that_names_none_has_none(tmp_path: Path) -> None:
    (tmp_path / "version.txt").write_text("no release here\n", encoding="utf-8")
    assert printed_release(tmp_path / "version.txt") is None


@pytest.mark.parametrize(
    ("release", "by"), [("26.05", "26.05"), ("21.08", "22.05"), ("27.02", "26.05"), ("18.08", "19.05")]
)
def test_a_release_between_counts_as_the_next_one(release: str, by: str) -> None:
    assert counts_as(release) == by


@pytest.mark.parametrize("version", ["22.05", "23.02", "26.05"])
def test_whole_nodes_of_any_release_have_a_result_that_holds(version: str) -> None:
    """Since 23.02 it tells which nodes each had: its tables and manifest know of that."""
    workload = Workload.from_columns(nodes=[3, 2, 4], submit_time=[0, 1, 2], run_time=[60] * 3)
    policy = Policy(backfill="slurm", slurm={"version": version})
    result = Simulation(System.homogeneous(4), workload, policy).run()
    result.check()
    assert ("node_list" in result.components) == (version != "22.05")


@pytest.mark.parametrize(
    ("keys", "wait"),
    [
        ({}, 121),
        ({"version": "19.05"}, 1201),
        ({"cred_expire": 10}, 11),
        ({"cred_expire": 10, "requeue_delay": 3, "version": "25.05"}, 11),
        ({"cred_expire": 10, "requeue_delay": 3, "version": "25.11"}, 4),
        ({"cred_expire": 10, "requeue_delay_s": 7}, 7),
    ],
)
def test_how_long_a_requeued_job_waits(keys: dict[str, Any], wait: int) -> None:
    assert SlurmKeys(**keys).settled("requeue_delay_s") == wait


def test_a_parameter_that_a_release_does_not_read_is_warned_of() -> None:
    slurm = {"requeue_delay": 3, "version": "25.05"}
    one = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1], time_limit=[1])
    with pytest.warns(UserWarning, match="requeue_delay: Slurm 25.05 does not read it"):
        Simulation(System.homogeneous(1), one, Policy(backfill="slurm", slurm=slurm))
