"""Each real file runs end to end with one command, without a note of anything that is not known."""

from __future__ import annotations

import json

import pytest

from scheduler_sim.cli.main import main
from tests.conftest import ROOT, SHARED, needs_shared

DATA = SHARED / "data"
SYSTEM_OF = {
    "openb/openb_pod_list_default.csv.gz": "openb",
    "openb/openb_pod_list_gpushare40.csv.gz": "openb",
    "openb/openb_pod_list_cpu100.csv.gz": "openb",
    "openb/openb_pod_list_gpuspec33.csv.gz": "openb",
    "traces/KTH-SP2-1996-2.1-cln.swf.gz": "kth-sp2",
    "traces/NASA-iPSC-1993-3.1-cln.swf.gz": "cluster-128",
    "traces/theta_2022.swf.gz": "theta",
    "traces/CEA-Curie-sample.predictsim.swf.gz": "curie",
    "traces/traceD2-2.mwf.gz": "deep-est-prototype",
    "traces/norm/kth5k.swf.gz": "kth-sp2",
    "traces/norm/kth20k.swf.gz": "kth-sp2",
    "traces/norm/kth28k.swf.gz": "kth-sp2",
}
SITES = ("university", "ub_medium")


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", SYSTEM_OF)
def test_a_file_runs_on_its_system(name, tmp_path):
    system = ROOT / "configs" / "systems" / f"{SYSTEM_OF[name]}.yaml"
    how = ("--from", "openb") if name.startswith("openb/") else ()
    assert ran(tmp_path, str(system), str(DATA / name), *how) > 0.9


@needs_shared
@pytest.mark.long
@pytest.mark.parametrize("name", SITES)
def test_a_site_runs_as_it_is(name, tmp_path):
    assert ran(tmp_path, str(DATA / "sites" / name)) == 1


def ran(folder, *arguments):
    """Run, and return which share of the jobs that are simulated started."""
    assert main(["run", *arguments, "--out", str(folder / "result"), "--quiet"]) == 0
    metrics = json.loads((folder / "result" / "metrics.json").read_text())
    return 1 - metrics["counts"]["rejected"] / metrics["jobs"]
