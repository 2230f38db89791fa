"""What commands say to people: help where it is looked for, hints that help, units that fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from scheduler_sim import Result
from scheduler_sim.cli.study_page import study_text
from scheduler_sim.errors import did_you_mean
from scheduler_sim.report.html.provenance import of_run
from scheduler_sim.report.measures import metric_words, written
from scheduler_sim.study.conduct import Conducted
from scheduler_sim.study.study import Study
from tests.cli.command import CLUSTER, MODULAR, PROTOTYPE, SAMPLE
from tests.conftest import ROOT

SITE = ROOT / "configs" / "systems" / "small-site.conf"
DUMP = ROOT / "workloads" / "sample-sacct.txt"


def test_help_of_run_names_what_it_takes(cli):
    told = cli("run", "--help").out
    assert all(word in told for word in ("slurm (", "slurm.conf", "sacct", "--policy slurm"))


def test_without_a_command_the_help_is_printed(cli):
    ended = cli()
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == cli("--help").out
    assert "examples:" in ended.err


@pytest.mark.parametrize("trace", [SAMPLE, DUMP])
@pytest.mark.parametrize("system", [CLUSTER, SITE])
def test_system_and_trace_in_each_others_place(cli, system, trace):
    ended = cli("run", trace, system)
    assert ended.code == 2
    assert f"scheduler-sim run {system} {trace}" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_nothing_is_proposed_for_itself():
    assert did_you_mean("esy", ["easy", "fcfs"]) == " (did you mean 'easy'?)"
    assert did_you_mean("Easy", ["easy", "fcfs"]) == " (did you mean 'easy'?)"
    assert did_you_mean("easy", ["easy", "fcfs"]) == ""
    assert did_you_mean("xyzzy", ["easy", "fcfs"]) == ""


def test_the_format_of_a_trace_whose_name_does_not_tell(cli, tmp_path):
    """Nor do its first lines; where these do, any name will do."""
    path, out, told = tmp_path / "march.dump", tmp_path / "result", tmp_path / "named"
    path.write_text("march\n" + DUMP.read_text())
    shutil.copy(DUMP, told)
    for command in (("inspect", path), ("run", CLUSTER, path)):
        refused = cli(*command)
        assert refused.code == 2
        assert "unknown trace format" in refused.err
        assert "--from: unknown format 'sact'" in cli(*command, "--from", "sact").err
    assert "468 components" in cli("inspect", told).out
    assert "no header of sacct" in cli("inspect", path, "--from", "sacct").err
    swf = tmp_path / "jobs.log"
    shutil.copy(SAMPLE, swf)
    assert cli("run", CLUSTER, swf, "--from", "swf", "--out", out).code == 0
    assert json.loads((out / "manifest.json").read_text())["workload"]["format"] == "swf"
    assert "jobs.log --policy easy --from swf" in "".join(map(str, of_run(Result.load(out))))
    learnt = cli("generate", "--fit", swf, "--from", "swf", "--out", tmp_path / "like.yaml")
    assert learnt.code == 0, learnt.err
    assert "--from: found without --fit" in cli("generate", "r.yaml", "--from", "swf", "--out", "t.swf").err


def test_energies_have_units_that_fit():
    assert metric_words("energy_system_j") == "energy system"
    assert written(6.495e9, "energy_system_j") == "1.804 MWh"
    assert written(37_400.0, "energy_mean_power_w") == "37.4 kW"
    study = Study.of(
        name="watts",
        systems=[str(PROTOTYPE)],
        workloads=[str(MODULAR)],
        policies=["easy"],
        metrics=["energy_system_j"],
        models={"energy": {"power": str(ROOT / "configs" / "power" / "deep-est-prototype.yaml")}},
    )
    factors = {name: ["easy"] for name in study.factors}
    index = pd.DataFrame({"id": ["a"], **factors, "state": "finished", "energy_system_j": 6.495e9})
    text = study_text(study, Conducted(Path("out"), index, pd.DataFrame(), 1, {}), 1.0, None)
    assert "energy system\n" in text
    assert "1.804 MWh" in text
