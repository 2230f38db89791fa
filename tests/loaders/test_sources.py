"""Named sources: the samples that ship are the jobs they were made of, in every layout."""

from __future__ import annotations

import json
import re
import runpy
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Simulation, Workload, read_trace, write_trace
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.loaders import sources
from tests.conftest import ROOT, SHARED, needs_shared
from tests.fuzz.loaded import FOLDER
from tests.fuzz.loaded import SOURCES as SAMPLES

pytestmark = pytest.mark.interpreted

SCRIPT = runpy.run_path(str(ROOT / "workloads" / "source_samples.py"))
WITHOUT_LIMIT = {"helios", "pai", "openb", "philly", "gavel", "eacct"}
WITHOUT_START = {"pai", "gavel", "eacct"}
NODES_OF_ONE = {"openb"}
NO_FAILURES = {"fdata", "gavel", "eacct"}


@pytest.fixture(scope="module")
def jobs():
    return SCRIPT["jobs"]()


def test_the_samples_are_what_their_script_writes(tmp_path):
    SCRIPT["main"](tmp_path)
    for name in [*SAMPLES.values(), "throughputs.json"]:
        if not name.endswith(".parquet"):
            assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
        else:
            pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / name), pd.read_parquet(FOLDER / name))


def test_every_source_has_a_sample():
    assert set(SAMPLES) == {*sources.MAPS, sources.FRONTIER}


@pytest.mark.parametrize("source", SAMPLES)
def test_a_sample_is_the_jobs_that_it_was_made_of(source, jobs):
    found = read_trace(FOLDER / SAMPLES[source], source)
    submit, run = found["submit_time"], found["run_time"]
    origin = found.source.header_number("UnixStartTime") or SCRIPT["MONDAY"]
    assert (submit + origin).tolist() == jobs["submit"].tolist()
    assert run.tolist() == (jobs["end"] - jobs["start"]).tolist()
    assert found["nodes"].tolist() == ([1] * len(jobs) if source in NODES_OF_ONE else jobs["nodes"].tolist())
    if source not in WITHOUT_LIMIT:
        assert found["time_limit"].tolist() == jobs["limit"].tolist()
    if source not in WITHOUT_START:
        assert found["wait_time"].tolist() == (jobs["start"] - jobs["submit"]).tolist()
    if source not in NO_FAILURES:
        assert (found["status"] != 0).tolist() == jobs["failed"].tolist()
    assert not found["skipped"].any()
    assert len(found.repairs) == 0


def test_the_page_lists_every_source():
    page = (ROOT / "docs" / "reference" / "sources.md").read_text(encoding="utf-8")
    for source in sources.MAPS:
        about = sources.source_map(source).about
        assert about is not None
        assert f"| `{source}` | [{about.title}]({about.url}) | {about.licence} | {about.tried} |" in page


@pytest.mark.parametrize(
    ("source", "system"),
    [
        ("pm100", "marconi100"),
        ("fdata", "fugaku"),
        ("alcf", "theta"),
        ("frontier", "frontier"),
        ("openb", "openb"),
        ("pai", "pai"),
        ("helios", "helios-saturn"),
        ("philly", "philly-like"),
        ("gavel", "philly-like"),
    ],
)
def test_a_sample_runs_on_the_system_of_its_machine(source, system):
    jobs = read_trace(FOLDER / SAMPLES[source], source).select(range(20))
    if source == "frontier":
        jobs = jobs.replace(partition="", listed_partition="")
    result = Simulation(ROOT / "configs" / "systems" / f"{system}.yaml", jobs, "easy").run()
    result.check()
    assert set(result.components["state"]) <= {"COMPLETED", "TIMEOUT"}


@pytest.mark.parametrize("source", ["pm100", "fdata", "alcf", "helios", "pai", "openb"])
def test_who_does_not_name_a_source_is_told_of_it(source):
    told = rf"--from {source}[, ]"
    if source in ("pm100", "alcf", "helios"):  # by their names, without units
        assert re.search(told, read_trace(FOLDER / SAMPLES[source]).source.notes[0])
    else:
        with pytest.raises(TraceError, match=told):
            read_trace(FOLDER / SAMPLES[source])


def test_a_partition_that_the_system_has_not_points_to_a_map():
    jobs = read_trace(FOLDER / SAMPLES["pbs"], "pbs")
    with pytest.raises(TraceError, match=r"pbs\.log:2: unknown partition 'workq'.*or a column map"):
        Simulation(ROOT / "configs" / "systems" / "cluster-128.yaml", jobs, "easy").run()


def test_a_source_may_lack_what_can_be_done_without(tmp_path):
    table = pd.read_csv(FOLDER / "alcf.csv").drop(columns="PROJECT_NAME_GENID")
    table.to_csv(tmp_path / "t.csv", index=False)
    assert (
        "no column for account = PROJECT_NAME_GENID: it is not known"
        in read_trace(tmp_path / "t.csv", "alcf").source.notes
    )
    table.drop(columns="NODES_REQUESTED").to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TraceError, match=r"no such column.*found 'NODES_REQUESTED'"):
        read_trace(tmp_path / "t.csv", "alcf")


POWERED = {"pm100": "series", "fdata": 90.5, "eacct": "node by node"}


@pytest.mark.parametrize("source", POWERED)
def test_measured_power_comes_along_and_back_from_parquet(source, jobs, tmp_path):
    found = read_trace(FOLDER / SAMPLES[source], source)
    nodes, user = jobs["nodes"].to_numpy(), jobs["user"].str[4:].astype(int).to_numpy()
    watts = 90.5 * nodes
    if source == "pm100":
        watts = np.array(
            [np.mean(one) for one in pd.read_parquet(FOLDER / "pm100.parquet")["node_power_consumption"]]
        )
        most = nodes * (900 + 60 * user + 10 * (np.arange(60) % 5) + 5)
        long = jobs["end"] - jobs["start"] >= 60  # three samples
        assert found["measured_peak_w"][long].tolist() == most[long].tolist()
    if source == "eacct":
        watts = nodes * (400 + 20 * user) + nodes * (nodes - 1) / 2
        assert set(found["allocated_frequency_khz"]) == {2_400_000}
        assert set(found["app"]) == {"app0", "app1", "app2"}
    if source == "fdata":
        assert (found["measured_peak_w"] == 110 * nodes).all()
    np.testing.assert_allclose(found["measured_power_w"], watts)
    write_trace(found, tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_trace(tmp_path / "t.parquet").table, found.table)


def test_a_series_that_is_none(tmp_path):
    table = pd.read_parquet(FOLDER / "pm100.parquet")
    table["node_power_consumption"] = [["a"]] * len(table)
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TraceError, match=r"lists or mappings.*field node_power.*allowed: lists of numbers"):
        read_trace(tmp_path / "t.parquet", "pm100")
    table["node_power_consumption"] = [[-5.0]] + [[]] * (len(table) - 1)
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TraceError, match=r"value out of range.*node_power_consumption: \[-5.0\]"):
        read_trace(tmp_path / "t.parquet", "pm100")
    jobs = read_trace(tmp_path / "t.parquet", "pm100", on_error="skip")
    assert set(jobs["measured_power_w"]) == {-1}, "an empty series says nothing"


EAR = """NODENAME;JOBID;STEPID;USERID;JOBNAME;START_TIME;END_TIME;TIME_SEC;DC_NODE_POWER_W
n1;7;0;ada;cfd;1000000000;1000000040;40.0;500
n1;7;sb;ada;cfd;1000000000;1000000100;100.0;300
n2;7;0;ada;cfd;1000000000;1000000040;40.0;500
n2;7;1;ada;cfd;1000000050;1000000090;40.0;400
"""


def test_steps_of_ear_by_hand(tmp_path):
    """Node 1 took 30 kJ by the step of the script, node 2 20 + 16 kJ by the others: 66 kJ in 100 s."""
    (tmp_path / "e.csv").write_text(EAR)
    jobs = read_trace(tmp_path / "e.csv", "eacct")
    assert [jobs[name].tolist() for name in ("nodes", "run_time", "measured_power_w")] == [[2], [100], [660]]
    assert (jobs["user"][0], jobs["app"][0], jobs["component_id"][0]) == ("ada", "cfd", 7)
    assert jobs.carried.to_dict("list") == {"trace_NODENAME": ["n1,n2"], "trace_STEPID": ["0,sb,1"]}


def test_what_else_eacct_says_of_a_job(tmp_path):
    """What all rows agree on, the mean of numbers, texts and ids each once; job 8 has no policy."""
    head, *rows = EAR.splitlines()
    said = [";monitoring;0.1;1", ";monitoring;0.1;2", ";;0.1;2", ";min_energy;0.4;N/A"]
    lines = [row + more for row, more in zip(rows, said, strict=True)]
    lines.append(rows[0].replace(";7;", ";8;") + ";;3;3")
    (tmp_path / "e.csv").write_text("\n".join([f"{head};POLICY;CPI;APPID", *lines]) + "\n")
    carried = read_trace(tmp_path / "e.csv", "eacct").carried
    assert carried["trace_POLICY"].tolist() == ["monitoring,min_energy", ""]
    np.testing.assert_allclose(carried["trace_CPI"], [0.175, 3])
    assert carried["trace_APPID"].tolist() == ["1,2", "3"]


def test_what_else_philly_says_of_a_job(tmp_path):
    jobs = json.loads((FOLDER / "philly.json").read_text())
    for job in jobs:
        job |= {"queue": "q1", "more": [1]}
    (tmp_path / "p.json").write_text(json.dumps(jobs))
    found = read_trace(tmp_path / "p.json", "philly")
    assert list(found.carried) == ["trace_jobid", "trace_attempts", "trace_queue"]
    assert found.carried["trace_attempts"].tolist() == [len(job["attempts"]) for job in jobs]
    assert "columns with lists or mappings left out: more" in found.source.notes


def test_what_the_daemon_of_a_node_measured(tmp_path):
    """Without the library W and s are 0: then those of the daemon. Job 8 has a node that nobody measured."""
    head, *rows = EAR.replace(";100.0;300", ";0;0").splitlines()
    said = [f"{row};{watts};100" for row, watts in zip(rows, ("0", "300", "450", "450"), strict=True)]
    unmeasured = [row.replace(";7;", ";8;") for row in said[:1]] + [
        "n2;8;0;ada;cfd;1000000000;1000000040;0;0;0;0"
    ]
    lines = [f"{head};NODEMGR_DC_NODE_POWER_W;NODEMGR_TIME_SEC", *said, *unmeasured]
    (tmp_path / "e.csv").write_text("\n".join(lines) + "\n")
    jobs = read_trace(tmp_path / "e.csv", "eacct")
    assert jobs["nodes"].tolist() == [2, 2]
    assert jobs["measured_power_w"].tolist() == [660, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EAR.replace("DC_NODE_POWER_W", "POWER"), "no column DC_NODE_POWER_W; found"),
        (EAR.replace("START_TIME", "BEGUN"), "no column JOB_START_TIME or START_TIME"),
        (EAR.replace("40.0;500", "40.0;much", 1), r"e\.csv:2: not a row of eacct; found '7'"),
    ],
)
def test_what_is_not_of_ear(tmp_path, text, message):
    (tmp_path / "e.csv").write_text(text)
    with pytest.raises(TraceError, match=message):
        read_trace(tmp_path / "e.csv", "eacct")


def test_records_of_pbs_that_are_none(tmp_path):
    text = (FOLDER / "pbs.log").read_text().splitlines()
    (tmp_path / "log").write_text("\n".join([*text[:20], "garbage", *text[20:]]))
    with pytest.raises(TraceError, match="log:21: not a record of PBS; found 'garbage'"):
        read_trace(tmp_path / "log", "pbs")
    jobs = read_trace(tmp_path / "log", "pbs", on_error="skip")
    assert len(jobs) == 60
    assert "1 row left out: 1 not a record of PBS" in jobs.source.notes[-1]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_log_that_is_none_of_pbs(tmp_path, on_error):
    (tmp_path / "log").write_text("submit,run\n1,2\n")
    with pytest.raises(TraceError, match=r"log:1: not a record of PBS; found 'submit,run'"):
        read_trace(tmp_path / "log", "pbs", on_error=on_error)


def test_gavel_needs_throughputs(tmp_path):
    (tmp_path / "t").write_text((FOLDER / "gavel.trace").read_text())
    with pytest.raises(TraceError, match=r"throughputs\.json: no such file"):
        read_trace(tmp_path / "t", "gavel")


def test_others_add_sources(monkeypatch, tmp_path):
    point = EntryPoint("mine", "tests.loaders.test_sources:mine", sources.GROUP)

    def entry_points(group, name=None):
        return [point] if group == sources.GROUP and name in (None, "mine") else []

    monkeypatch.setattr(sources, "entry_points", entry_points)
    assert read_trace("anywhere", "mine")["nodes"].tolist() == [3]
    with pytest.raises(InputError, match=r"unknown trace format.*mine"):
        read_trace("anywhere", "mime")


def mine(path, on_error):
    """What another package might have as its loader."""
    return Workload.from_columns(nodes=[3], submit_time=[0], run_time=[len(str(path))])


@needs_shared
@pytest.mark.parametrize("name", ["default", "gpushare40", "cpu100", "gpuspec33"])
def test_pods_of_openb_as_they_were_published(name):
    path = SHARED / "data" / "openb" / f"openb_pod_list_{name}.csv.gz"
    pods, table = read_trace(path, "openb"), pd.read_csv(path)
    assert len(pods) == len(table)
    np.testing.assert_allclose(pods["gpus"], np.maximum(table["num_gpu"] * table["gpu_milli"] / 1000, 0))
    np.testing.assert_allclose(pods["cores"], table["cpu_milli"] / 1000)
    assert not ((pods["skipped"] == 0) & (pods["run_time"] < 0)).any()
