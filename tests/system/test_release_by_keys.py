"""Keys that only later releases of Slurm have tell the release of a slurm.conf."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim.system.releases import RELEASES
from scheduler_sim.system.slurm_conf.known_keys import is_known
from scheduler_sim.system.slurm_conf.release_by_keys import _FIRST_IN
from scheduler_sim.system.slurm_conf.site import Site, read_slurm_conf

NODES = "NodeName=n CPUs=8\nPartitionName=p Nodes=ALL\n"


def site(tmp_path: Path, text: str, release: str | None = None) -> Site:
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return read_slurm_conf(path, release=release)


@pytest.mark.parametrize(
    ("text", "release", "line"),
    [
        (f"HashPlugin=hash/k12\n{NODES}", "24.05", 1),
        (f"SuspendExcStates=DOWN\nmetricstype=metrics/openmetrics\n{NODES}", "25.11", 2),
        ("NodeName=n CPUs=8 RestrictedCoresPerGPU=1\nPartitionName=p Nodes=ALL\n", "24.05", 1),
        ("NodeName=n CPUs=8\nPartitionName=p Nodes=ALL PowerDownOnIdle=YES\n", "23.02", 2),
        (f"CertgenType=certgen/script\nCertmgrType=certmgr/script\n{NODES}", "25.05", 1),
    ],
)
def test_the_latest_key_tells_the_release(tmp_path: Path, text: str, release: str, line: int) -> None:
    found = site(tmp_path, text)
    assert found.policy["version"] == release
    assert found.places["version"] == f"{tmp_path / 'slurm.conf'}:{line}"
    shared = {module.shared for module in found.system.modules}
    assert shared == {release >= "23.11"}  # select/cons_tres by default


def test_a_release_that_is_known_counts(tmp_path: Path) -> None:
    found = site(tmp_path, f"CertgenType=certgen/script\n{NODES}", release="23.02")
    assert "version" not in found.policy  # whoever knows it says so
    assert not found.system.modules[0].shared


def test_old_keys_tell_nothing(tmp_path: Path) -> None:
    assert "version" not in site(tmp_path, f"SchedulerParameters=bf_window=60\n{NODES}").policy


def test_every_key_is_one_of_slurm() -> None:
    assert set(_FIRST_IN) <= set(RELEASES)
    for key in " ".join(_FIRST_IN.values()).split():
        assert any(is_known(kind, key) for kind in ("top", "node", "partition")), key
