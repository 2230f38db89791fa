"""``scheduler-sim fit energy``: a table, a model that can be read back, a picture; and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.learnt import Learnt
from scheduler_sim.energy.model_file import read_model
from scheduler_sim.streams import stream
from tests.cli.command import Here
from tests.conftest import ROOT
from tests.energy.test_fitting import made


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    made(noise=0.02).table.to_csv(path, index=False)
    return path


@pytest.fixture
def here(capsys):
    return Here(capsys)


def test_a_table(here, points):
    ended = here("fit", "energy", points, "--counters", "tpi", "--splits", 12)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("power fits well: workloads that were not fitted are ")
    assert "constant ratio: " in ended.out.splitlines()[0]
    assert "20 workloads projected without being fitted" in ended.out
    for word in (
        "constant ratio",
        "ratio",
        "affine",
        "counters only",
        "f0 / f",
        "stall",
        "cpi",
        "> selected",
    ):
        assert word in ended.out
    assert "12 splits, 10 unseen at a time" in ended.out
    assert "counters  tpi" in ended.out


def test_a_model_and_its_picture(here, points, tmp_path):
    out = tmp_path / "node.yaml"
    ended = here(
        "fit", "energy", points, "--out", out, "--splits", 3, "--turbo", 2_000_000, "--reference", 1_500_000
    )
    assert ended.code == 0, ended.err
    assert f"written to {out}" in ended.out
    assert (tmp_path / "node.png").read_bytes().startswith(b"\x89PNG")
    model = read_model(out)
    assert model.pstates.turbo
    at = made().at(2_000_000)
    there = made().at(1_000_000)
    error = abs(model.project(at, 1_000_000).power_w[:, 0] / there.power - 1)
    assert error.mean() < 0.05
    assert "from_khz: 1500000" in out.read_text()


def test_what_no_law_describes_is_said_first(here, tmp_path):
    table = made(noise=0.02).table
    table["power_w"] = np.exp(2 * stream(1, "odd power").standard_normal(len(table)))
    table.to_csv(tmp_path / "odd.csv", index=False)
    ended = here("fit", "energy", tmp_path / "odd.csv", "--splits", 3)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("power does not fit, no model: ")
    assert "warning: no law describes power" in ended.err


def test_the_same_bytes(here, points, tmp_path):
    for name in ("a", "b"):
        assert (
            here("fit", "energy", points, "--out", tmp_path / f"{name}.yaml", "--splits", 3, "--quiet").code
            == 0
        )
    for suffix in ("yaml", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_roles_modules_and_no_run_times(here, tmp_path):
    table = made(noise=0.01).table.drop(columns=["time_s", "cpi"])
    table["role"] = ["fit" if int(name[1:]) < 12 else "test" for name in table["workload"]]
    table["module"] = "CM"
    path = tmp_path / "points.csv"
    table.to_csv(path, index=False)
    ended = here("fit", "energy", path)
    assert ended.code == 0, ended.err
    assert "8 workloads projected" in ended.out
    assert "1 split, 8 unseen" in ended.out
    assert "no run times; the model assumes T ∝ 1 / f" in ended.err
    table.assign(module="ESB").to_csv(tmp_path / "esb.csv", index=False)
    both = (path.read_text() + (tmp_path / "esb.csv").read_text().split("\n", 1)[1]).replace("\n\n", "\n")
    path.write_text(both)
    refused = here("fit", "energy", path)
    assert refused.code == 2
    assert "--module: found nothing; allowed: CM, ESB" in refused.err
    assert here("fit", "energy", path, "--module", "esb").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--counters", "l3"], "--counters: found 'l3'; allowed: tpi, cpi"),
        (["--counters", "tpi,tpi"], "--counters: found 'tpi,tpi'; allowed: each counter once"),
        (["--turbo", 1_700_000], "--turbo: found 1700000; allowed: 1000000, 1500000, 2000000 kHz"),
        (["--turbo", 1_500_000], "turbo: found 1500000 kHz; allowed: above 2000000 kHz"),
        (["--reference", 1_700_000], "found 1700000 kHz"),
        (["--splits", 0], "--splits: found 0; allowed: 1 to 1000"),
        (["--seed", -1], "--seed: found -1"),
        (["--out", "model.json"], "--out: found 'model.json'; allowed: a model, .yaml or .yml"),
        (["--module", "CM", "--out", "."], "--out: found '.'"),
    ],
)
def test_mistakes(here, points, arguments, message):
    ended = here("fit", "energy", points, *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_points_that_cannot_be_read(here, tmp_path):
    assert "no such file" in here("fit", "energy", tmp_path / "none.csv").err
    path = tmp_path / "points.csv"
    path.write_text("workload,frequency_khz,power_w\na,1000000,-5\n")
    ended = here("fit", "energy", path)
    assert ended.code == 2
    assert "points.csv:2: not above 0; field power_w; found '-5'; allowed: a number > 0" in ended.err
    assert here("fit").code == 2, "a kind is needed"


PM100 = ROOT / "workloads" / "sources" / "pm100.parquet"


def test_what_jobs_draw(here, tmp_path):
    out = tmp_path / "learnt.csv"
    ended = here("fit", "energy", "--jobs", PM100, "--from", "pm100", "--out", out)
    assert ended.code == 0, ended.err
    assert ended.out.startswith(
        "power fits well: jobs that were not learnt from are 1.2 % off on average (MAPE)"
    )
    for words in (
        "pm100.parquet: 60 jobs of 60 with a measured power",
        "learnt from the first 48; the last 12 held out",
        "> learnt",
        "mean of the user",
        "mean of all",
        "held out, told by user, application and size 8, user 4",
        f"learnt from all 60 jobs, written to {out} and {out.with_suffix('.png')}",
    ):
        assert words in ended.out
    learnt = Learnt.from_csv(out)
    assert learnt.table["jobs"][0] == 60
    picture = out.with_suffix(".png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    first = out.read_bytes() + picture.read_bytes()
    assert here("fit", "energy", "--jobs", PM100, "--from", "pm100", "--out", out, "--quiet").out == ""
    assert out.read_bytes() + picture.read_bytes() == first
    out.write_text("mine")
    assert "learnt power" in here("fit", "energy", "--jobs", PM100, "--from", "pm100", "--out", out).err


def test_jobs_that_nobody_can_tell(here, tmp_path):
    """100 W and 300 W by turns, whoever it is: the mean of all is as good."""
    path = tmp_path / "jobs.csv"
    rows = (f"{i},1,60,{100 + i % 2 * 200},u{i % 3}" for i in range(60))
    path.write_text("\n".join(["submit_time,nodes,run_time,measured_power_w,user", *rows]) + "\n")
    ended = here("fit", "energy", "--jobs", path)
    assert ended.code == 0
    assert ended.out.startswith("power does not fit, no model: ")
    assert "warning: user, application and size do not predict the power of a job" in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "found neither of POINTS and --jobs TRACE; allowed: one of the two"),
        (["points.csv", "--jobs", PM100], "found both of POINTS and --jobs TRACE"),
        (["points.csv", "--from", "pm100"], "--from: found without --jobs TRACE"),
        (["--jobs", PM100, "--turbo", 1], "--turbo: found without POINTS"),
        (["--jobs", PM100, "--from", "pm10"], "--from: unknown format 'pm10'"),
        (
            ["--jobs", PM100, "--from", "pm100", "--out", "x.yaml"],
            "--out: found 'x.yaml'; allowed: learnt power, .csv",
        ),
        (
            ["--jobs", ROOT / "workloads" / "sample-1000.swf"],
            "jobs with a measured power: found 0; allowed: 10 or more",
        ),
        (["--jobs", "none.parquet"], "No such file"),
    ],
)
def test_mistakes_with_jobs(here, arguments, message):
    ended = here("fit", "energy", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
