"""Carrying studies out: the same bytes whoever does it, whatever is killed; failures leave the rest alone."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Result
from scheduler_sim.cli.study import _tell_failures
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.report.html import write_report
from scheduler_sim.study import carry
from scheduler_sim.study.conduct import conduct
from scheduler_sim.study.place import MARK, claimed
from scheduler_sim.study.processes import local
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import Store, known_metrics
from tests.conftest import ROOT
from tests.study.studies import RECIPE, SYSTEM, packs, results, small, tree

DASK_WORKERS = 2


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("undisturbed")
    conducted = conduct(small(), directory / "study")
    assert conducted.failed == {}
    return directory / "study"


@pytest.fixture(scope="module")
def undisturbed_each(tmp_path_factory):
    """The same with a directory of each run, as every study was before there were packs."""
    directory = tmp_path_factory.mktemp("each")
    conduct(small(results="each"), directory / "study")
    return directory / "study"


def test_the_index_is_a_row_a_run(undisturbed):
    index = pd.read_parquet(undisturbed / "index.parquet")
    assert index[["policy", "seed"]].values.tolist() == [[p, s] for s in range(3) for p in ("fcfs", "easy")]
    assert set(index["state"]) == {"finished"}
    for _, row in index.iterrows():
        result = Result.load(undisturbed / "runs" / row["id"])
        result.check()
        assert row["wait_time_mean"] == result.metrics["wait_time"]["mean"]
        assert row["utilization_cluster"] == result.metrics["utilization"]["cluster"]
        assert result.manifest["run"]["factors"]["policy"] == row["policy"]


def test_policies_are_paired_on_the_same_jobs(undisturbed):
    index = pd.read_parquet(undisturbed / "index.parquet")
    work = [
        [
            (c["nodes"] * c["run_time"]).sum()
            for c in (Result.load(undisturbed / "runs" / i).components for i in ids)
        ]
        for ids in (index[index["policy"] == policy]["id"] for policy in ("fcfs", "easy"))
    ]
    assert work[0] == work[1]
    assert len(set(work[0])) == 3


def test_several_processes_give_the_same_bytes(undisturbed, tmp_path):
    conducted = conduct(small(), tmp_path / "study", local(2))
    assert conducted.failed == {}
    assert tree(tmp_path / "study") == tree(undisturbed)


@pytest.mark.parametrize(("layout", "place"), [("packed", "packs"), ("each", "runs")])
def test_finished_runs_are_not_repeated(tmp_path, layout, place):
    conduct(small(seeds=2, results=layout), tmp_path / "study")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "study" / place).rglob("*")}
    more = conduct(small(results=layout), tmp_path / "study")
    assert (more.new, len(more.index)) == (2, 6)
    assert all(path.stat().st_mtime_ns == before for path, before in times.items())
    fewer = conduct(small(seeds=1, results=layout), tmp_path / "study")
    assert (fewer.new, len(fewer.index)) == (0, 2)


def test_a_run_that_is_not_whole_is_done_again(undisturbed_each, tmp_path):
    conduct(small(results="each"), tmp_path / "study")
    runs = sorted((tmp_path / "study" / "runs").iterdir())
    (runs[0] / "components.parquet").write_bytes(b"PAR1")
    (runs[1] / "metrics.json").write_text("")
    (runs[2] / "manifest.json").unlink()
    (tmp_path / "study" / "runs" / ".x.partial-1").mkdir()
    conducted = conduct(small(results="each"), tmp_path / "study")
    assert conducted.new == 3
    assert tree(tmp_path / "study") == tree(undisturbed_each)


@pytest.mark.parametrize("layout", ["packed", "each"])
def test_a_failed_run_leaves_the_others_alone_and_is_tried_again(undisturbed, tmp_path, monkeypatch, layout):
    carry_out = Run.carry_out
    unlucky = small().runs()[2].id

    def refuse(run):
        if run.id == unlucky:
            raise InputError("no luck today")
        return carry_out(run)

    monkeypatch.setattr(Run, "carry_out", refuse)
    conducted = conduct(small(results=layout), tmp_path / "study")
    assert conducted.failed == {unlucky: "no luck today"}
    with pytest.raises(SchedulerSimError, match=rf"{unlucky} \(policy fcfs, seed 1\): no luck today"):
        _tell_failures(small(), conducted)
    assert conducted.index["state"].tolist() == ["finished"] * 2 + ["failed"] + ["finished"] * 3
    assert np.isnan(conducted.index["wait_time_mean"][2])
    monkeypatch.undo()
    assert conduct(small(results=layout), tmp_path / "study").new == 1
    assert results(tmp_path / "study") == results(undisturbed)


@pytest.mark.long
def test_a_run_that_takes_its_worker_down_is_given_up_and_the_rest_is_not(tmp_path):
    """A recipe of 10^8 jobs would need more memory than the worker may have: the system kills it."""
    poison = {**RECIPE, "modules": [{"name": "cluster", "nodes": 64, "jobs": 10**8}]}
    study = small(
        seeds=1, policies=["easy"], workloads={"like": {"recipe": RECIPE}, "poison": {"recipe": poison}}
    )
    conducted = conduct(study, tmp_path / "study", killing_runner(study.runs()[1].id))
    assert list(conducted.failed.values()) == ["its worker was lost 3 times"]
    assert conducted.index["state"].tolist() == ["finished", "failed"]


def killing_runner(victim):
    """Give up the runs of a worker as the processes do, without the processes."""

    def runner(directory, work):
        attempts, queue = {}, list(work)
        while queue:
            batch = queue.pop(0)
            if any(run.id == victim for run in batch.runs):
                again, done = carry.after_loss(directory, batch, attempts)
                queue += again
                yield from done
            else:
                yield from carry.carry_out(directory, batch)

    return runner


def refusing(run):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "changes", [{"seeds": 4}, {"seeds": 4, "baseline": {"policy": "fcfs"}, "trim": {"warm_up": 30}}]
)
def test_a_changed_study_that_is_interrupted_leaves_no_tables_of_the_old_one(changes, tmp_path, monkeypatch):
    conduct(small(baseline={"policy": "easy"}), tmp_path / "study")
    monkeypatch.setattr(Run, "carry_out", refusing)
    with pytest.raises(KeyboardInterrupt):
        conduct(small(**changes), tmp_path / "study")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"not a finished study.*the same study file continues it"):
        write_report(tmp_path / "study")
    assert sorted(path.name for path in (tmp_path / "study").glob("*.parquet")) == []
    conduct(small(**changes), tmp_path / "study")
    conduct(small(**changes), tmp_path / "fresh")
    assert tree(tmp_path / "study").items() >= tree(tmp_path / "fresh").items()


def test_a_study_killed_between_its_tables_is_not_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("scheduler_sim.study.conduct.COMPARISON", "nowhere/comparison.parquet")
    with pytest.raises(SchedulerSimError, match="cannot write"):
        conduct(small(baseline={"policy": "easy"}), tmp_path / "study")
    assert (tmp_path / "study" / "index.parquet").exists()
    with pytest.raises(InputError, match="not a finished study"):
        write_report(tmp_path / "study")


def test_the_same_study_again_touches_no_table(tmp_path):
    wanted = {"half_width": 25, "most": 12}
    study = small(seeds=2, baseline={"policy": "easy"}, replicates=wanted, policies=["easy", "sjf"])
    conduct(study, tmp_path / "study")
    before = tree(tmp_path / "study")
    begun = []
    begin = Store.begin
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Store, "begin", lambda store, document: (begun.append(document), begin(store, document))
        )
        conduct(study, tmp_path / "study")
    assert len(begun) == 1  # once all seeds are there: the tables stood until then
    assert tree(tmp_path / "study") == before


@pytest.mark.parametrize(
    ("layout", "place", "own"), [("packed", "packs", "runs.parquet"), ("each", "runs", "measures.json")]
)
def test_measures_follow_the_trim_without_new_runs(tmp_path, layout, place, own):
    conduct(small(results=layout), tmp_path / "study")
    before = tree(tmp_path / "study" / place)
    trimmed = conduct(small(trim={"warm_up": 20, "cool_down": 20}, results=layout), tmp_path / "study")
    after = tree(tmp_path / "study" / place)
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == {n for n in before if own in n}
    assert (trimmed.index["jobs"] < 150).all()
    for _, row in trimmed.index.iterrows():
        result = Result.load(tmp_path / "study" / "runs" / row["id"])
        submit = result.components["submit_time"]
        share = 0.2 * (submit.max() - submit.min())
        own = result.components[submit.between(submit.min() + share, submit.max() - share)]
        assert row["makespan"] == own["end_time"].max() - own["submit_time"].min()
        begin, end = np.ceil(submit.min() + share), np.floor(submit.max() - share)
        inside = result.components["end_time"].clip(begin, end) - result.components["start_time"].clip(
            begin, end
        )
        used = (inside * result.components["nodes"]).sum() / 64 / (end - begin)
        assert row["utilization_total"] == row["utilization_cluster"] == pytest.approx(used, abs=1e-6)
        assert row["utilization_total"] != result.metrics["utilization"]["total"]
    assert (trimmed.index["counts_completed"] == 150).all()


def test_comparisons_are_paired_by_seed(tmp_path):
    conducted = conduct(small(seeds=6, baseline={"policy": "easy"}), tmp_path / "study")
    table = conducted.comparison
    assert set(table["policy"]) == {"fcfs"}
    wait = table[table["metric"] == "wait_time_mean"].iloc[0]
    assert wait["pairs"] == 6
    mean = conducted.index.groupby("policy")["wait_time_mean"].mean()
    assert wait["difference"] == pytest.approx(mean["fcfs"] - mean["easy"])
    assert wait["change_low"] < wait["change"] < wait["change_high"]
    assert pd.read_parquet(tmp_path / "study" / "comparison.parquet").equals(table)


def test_a_policy_compared_with_itself_is_no_different(tmp_path):
    policies = {"easy": "easy", "same": "easy", "again": {"policy": "easy", "set": {"policy.depth": 1}}}
    conducted = conduct(small(policies=policies, baseline={"policy": "easy"}, seeds=5), tmp_path / "study")
    assert conducted.comparison["policy"].unique().tolist() == ["same", "again"]
    assert (conducted.comparison["difference"] == 0).all()
    assert (conducted.comparison["verdict"] == "no difference: all 5 pairs are equal").all()
    assert (conducted.new, len(conducted.index), conducted.index["id"].nunique()) == (10, 15, 10)
    assert sum(map(len, packs(tmp_path / "study").values())) == 10


@pytest.mark.parametrize("factor", ["systems", "workloads"])
def test_equal_systems_and_equal_workloads_are_no_different(factor, tmp_path):
    levels = {"systems": {"a": SYSTEM, "b": SYSTEM}, "workloads": {n: {"recipe": RECIPE} for n in "ab"}}
    study = small(**{factor: levels[factor]}, policies=["easy"], seeds=5, baseline={factor[:-1]: "a"})
    comparison = conduct(study, tmp_path / "study").comparison
    assert (comparison[factor[:-1]] == "b").all()
    assert (comparison["verdict"] == "no difference: all 5 pairs are equal").all()


def test_a_baseline_may_be_true_or_false(tmp_path):
    study = small(
        policies=["easy"],
        parameters={"policy.extra_rule": [True, False]},
        baseline={"policy.extra_rule": True},
    )
    comparison = conduct(study, tmp_path / "study").comparison
    assert set(comparison["policy.extra_rule"]) == {"false"}
    page = write_report(tmp_path / "study").read_text(encoding="utf-8")
    assert "policy.extra_rule true" in page
    assert "True" not in page.split("<script")[0]


def test_a_trace_is_compared_by_blocks(tmp_path):
    sample = str(ROOT / "workloads" / "sample-1000.swf")
    system = {"modules": [{"name": "cluster", "nodes": 128}]}
    metrics = ["wait_time_mean", "utilization_total", "makespan"]
    study = small(
        systems={"s": system}, workloads={"sample": sample}, baseline={"policy": "easy"}, metrics=metrics
    )
    conducted = conduct(study, tmp_path / "study")
    assert len(conducted.index) == 2
    table = conducted.comparison.set_index("metric")
    assert set(table["replicates"]) == {"blocks"}
    assert table["pairs"].gt(0).tolist() == [True, True, False]
    assert table["verdict"]["makespan"] == "nothing to compare: a block of time has no value of this metric"
    used = conducted.index.set_index("policy")["utilization_total"]
    assert table["mean"]["utilization_total"] == pytest.approx(used["fcfs"], rel=0.2)


def test_equal_policies_on_a_trace_are_no_different(tmp_path):
    system = {"modules": [{"name": "cluster", "nodes": 128}]}
    study = small(
        systems={"s": system},
        workloads={"sample": str(ROOT / "workloads" / "sample-1000.swf")},
        policies={"easy": "easy", "same": "easy"},
        baseline={"policy": "easy"},
        slices=["size"],
    )
    conducted = conduct(study, tmp_path / "study")
    assert conducted.new == 1
    assert conducted.comparison["verdict"].str.startswith("no difference: all").all()
    slices = pd.read_parquet(tmp_path / "study" / "slice_comparison.parquet")
    assert (slices[slices["change"].notna()]["change"] == 0).all()


def test_slices_are_measured_and_compared(undisturbed, tmp_path):
    study = small(seeds=6, baseline={"policy": "easy"}, metrics=["wait_time_mean"], slices=["size", "module"])
    conduct(study, tmp_path / "study")
    measured = pd.read_parquet(tmp_path / "study" / "slices.parquet")
    row = measured[(measured["by"] == "size") & (measured["slice"] == "2–4")].iloc[0]
    components = Result.load(tmp_path / "study" / "runs" / row["id"]).components
    own = components[components["nodes"].between(2, 4)]
    assert row["ran"] == len(own)
    assert row["wait_time_mean"] == pytest.approx((own["start_time"] - own["submit_time"]).mean(), abs=1e-6)
    table = pd.read_parquet(tmp_path / "study" / "slice_comparison.parquet")
    assert set(table["by"]) == {"size", "module"}
    assert table[table["by"] == "module"]["slice"].tolist() == ["cluster"]
    whole = pd.read_parquet(tmp_path / "study" / "comparison.parquet").iloc[0]
    assert table[table["by"] == "module"].iloc[0]["change"] == whole["change"]
    conduct(small(), tmp_path / "study")
    assert results(tmp_path / "study") == results(undisturbed)
    assert not (tmp_path / "study" / "slices.parquet").exists()


def test_systems_on_which_not_the_same_jobs_ran_say_so(tmp_path):
    study = small(
        policies=["easy"],
        seeds=5,
        parameters={"system.modules.cluster.nodes": [64, 16]},
        baseline={"system.modules.cluster.nodes": 64},
    )
    comparison = conduct(study, tmp_path / "study").comparison
    assert comparison["note"].str.contains("not the same jobs ran: ").all()
    assert "Not the same jobs ran: " in write_report(tmp_path / "study").read_text(encoding="utf-8")


def test_seeds_are_added_until_the_interval_is_narrow(tmp_path):
    wanted = {"half_width": 25, "most": 40}
    study = small(seeds=2, baseline={"policy": "easy"}, replicates=wanted, policies=["easy", "sjf"])
    conducted = conduct(study, tmp_path / "study")
    wait = conducted.comparison[conducted.comparison["metric"] == "wait_time_mean"].iloc[0]
    assert 5 <= wait["pairs"] <= 40
    assert (wait["change_high"] - wait["change_low"]) / 2 <= 25 or wait["pairs"] == 40
    assert "seeds were added until this interval was narrow" in wait["note"]
    assert not conducted.comparison["note"].drop(wait.name).str.contains("seeds were added").any()
    again = conduct(study, tmp_path / "study", local(2))
    assert again.new == 0
    assert len(again.index) == len(conducted.index)


def everything(directory):
    """Return the content of each file, and None for each folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(directory.rglob("*"))}


@pytest.mark.parametrize(
    "files", [["letter.txt"], ["runs/exp1/weights.pt"], ["runs/easy/manifest.json", ".lock"], ["study.json"]]
)
def test_a_directory_with_something_else_is_left_alone(tmp_path, files):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    before = everything(tmp_path)
    with pytest.raises(InputError, match=r"not a study \(.*\) and is left alone; .*--force"):
        conduct(small(), tmp_path)
    assert everything(tmp_path) == before


def test_with_force_a_study_moves_in_beside_what_is_there(tmp_path):
    Result.save(small().runs()[0].carry_out(), tmp_path / "runs" / "easy")
    (tmp_path / "runs" / "exp1").mkdir()
    (tmp_path / "runs" / "exp1" / "weights.pt").write_text("mine")
    (tmp_path / "runs" / ".hidden").write_text("mine")
    before = everything(tmp_path)
    conducted = conduct(small(), tmp_path, force=True)
    assert conducted.left_alone == ("runs/.hidden", "runs/easy", "runs/exp1")
    assert everything(tmp_path).items() >= before.items()
    assert conduct(small(), tmp_path).new == 0  # it is a study now
    assert everything(tmp_path).items() >= before.items()


def test_nothing_is_removed_that_no_run_has(undisturbed_each, tmp_path):
    """Of what looks like a run that is not whole, only what has no file but ours."""
    shutil.copytree(undisturbed_each, tmp_path / "study")
    runs = tmp_path / "study" / "runs"
    ours, theirs, ran = runs / ("0" * 20), runs / ("1" * 20), sorted(runs.iterdir())[0]
    for place in (ours, theirs):
        place.mkdir()
        (place / "components.parquet").write_bytes(b"PAR1")
        (place / ".scheduler-sim-0123456789ab.new.manifest.json").write_bytes(b"{")
    (theirs / "notes.txt").write_text("mine")
    (ran / "manifest.json").unlink()
    (ran / "notes.txt").write_text("mine")
    (ran / "plots").mkdir()
    (runs / ("2" * 20)).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "manifest.json").write_text("mine")
    old, older = (runs / f".{'3' * 20}.{word}-0123456789ab" for word in ("partial", "old"))
    for place in (old, older):
        place.mkdir()
        (place / "metrics.json").write_text("{")
    (older / "notes.txt").write_text("mine")
    conducted = conduct(small(results="each"), tmp_path / "study")
    assert conducted.new == 1
    assert conducted.left_alone == tuple(f"runs/{name}" for name in (older.name, theirs.name, "2" * 20))
    assert not ours.exists()
    assert not old.exists()
    assert {path.name for path in theirs.iterdir()} == {"components.parquet", "notes.txt"}
    assert (tmp_path / "elsewhere" / "manifest.json").read_text() == "mine"
    assert (ran / "notes.txt").read_text() == "mine"
    assert (ran / "plots").is_dir()
    Result.load(ran).check()


def test_a_study_of_version_0_1_goes_on(undisturbed_each, tmp_path):
    shutil.copytree(undisturbed_each, tmp_path / "study")
    (tmp_path / "study" / MARK).unlink()
    (tmp_path / "study" / ".lock").touch()
    (tmp_path / "study" / ".index.parquet.partial").touch()  # as its killed processes left it
    conducted = conduct(small(), tmp_path / "study")
    assert conducted.new == 0
    assert (conducted.index["pack"] == "").all()
    assert tree(tmp_path / "study" / "runs") == tree(undisturbed_each / "runs")


def test_a_study_says_first_what_it_is(tmp_path, monkeypatch):
    """... so that whatever kills it, the next call goes on there."""
    monkeypatch.setattr("scheduler_sim.study.conduct.study_document", refusing_all)
    with pytest.raises(KeyboardInterrupt):
        conduct(small(), tmp_path / "study")
    assert {path.name for path in (tmp_path / "study").iterdir()} == {MARK}
    monkeypatch.undo()
    for said in ("", '{"kind": "sch'):  # killed while it was written
        (tmp_path / "study" / MARK).write_text(said)
        (tmp_path / "study" / "runs" / ("0" * 20)).mkdir(parents=True, exist_ok=True)
        conduct(small(seeds=1), tmp_path / "study")


def refusing_all(*_):
    raise KeyboardInterrupt


def test_a_search_is_no_study(tmp_path):
    with claimed(tmp_path / "place", "search"):
        pass
    for force in (False, True):
        with pytest.raises(InputError, match="contains a search, not a study"):
            conduct(small(), tmp_path / "place", force=force)


def test_two_at_once_are_refused(tmp_path):
    with Store(tmp_path / "study").held(), pytest.raises(InputError, match="another process"):
        conduct(small(), tmp_path / "study")


PROGRAM = """
import sys
from pathlib import Path
from scheduler_sim.study.conduct import conduct
from scheduler_sim.study.place import MARK, claimed
from scheduler_sim.study.processes import local
from tests.study.studies import small
if __name__ == "__main__":
    conduct(small(seeds=50, baseline={"policy": "easy"}), Path(sys.argv[1]), local(2))
"""
KILLS = 20


def start(program, directory):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, program, directory], env=environment, start_new_session=True)


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == pid and b"spawn_main" in command:
            found.append(int(status.parent.name))
    return found


def finished(directory):
    """Return the names of the packs that are there."""
    return {path.name for path in (directory / "packs").glob("[0-9a-f]*")}


def at_work(running, directory, before):
    """Wait until another pack has been finished; tell whether the study is still under way."""
    until = time.monotonic() + 100
    while running.poll() is None and not finished(directory) - before:
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.005)
    return running.poll() is None


def killed(running, victim, chance):
    """Kill the coordinator or one of its workers at a random moment; tell whether there was one."""
    time.sleep(chance.uniform(0, 0.25))
    targets = [running.pid] if victim == "coordinator" else children(running.pid)
    if running.poll() is not None or not targets:
        return False
    os.kill(chance.choice(targets), signal.SIGKILL)
    return True


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds workers by /proc, which this system lacks")
def test_twenty_kills_at_random_moments_change_nothing(tmp_path):
    """Each round finished packs are taken away, so that there is work; workers die, then the coordinator."""
    conduct(small(seeds=50, baseline={"policy": "easy"}), tmp_path / "undisturbed")
    program, study, chance = tmp_path / "program.py", tmp_path / "study", random.Random(4)
    program.write_text(PROGRAM)
    kills = {"worker": 0, "coordinator": 0}
    for _ in range(3 * KILLS):
        if sum(kills.values()) >= KILLS:
            break
        for name in chance.sample(sorted(finished(study)), len(finished(study)) * 3 // 4):
            shutil.rmtree(study / "packs" / name, ignore_errors=True)
        before = finished(study)
        running = start(program, study)
        for victim in ("worker", "worker", "coordinator"):
            if at_work(running, study, before):
                kills[victim] += killed(running, victim, chance)
        running.wait(timeout=100)

    assert sum(kills.values()) >= KILLS
    assert min(kills.values()) >= KILLS // 4
    assert start(program, study).wait(timeout=100) == 0
    assert tree(study) == tree(tmp_path / "undisturbed")


@pytest.mark.long
def test_dask_gives_the_same_bytes_with_a_worker_killed(undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from scheduler_sim.study.dask_runner import on_dask

    with distributed.LocalCluster(
        n_workers=DASK_WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        killed = []

        def kill(done, total):
            if not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        conducted = conduct(small(), tmp_path / "study", on_dask(cluster.scheduler_address), kill)
    assert killed
    assert conducted.failed == {}
    assert tree(tmp_path / "study") == tree(undisturbed)


def test_a_notebook_shows_what_is_studied_with_names_escaped():
    study = small(
        policies={"easy": "easy", "<b>bold</b>": "sjf"}, name="<i>mine</i>", baseline={"policy": "easy"}
    )
    page = study._repr_html_()
    assert "&lt;i&gt;mine" in page
    assert "easy, &lt;b&gt;bold" in page
    assert "<th>seeds</th><td>3 (0 to 2)</td>" in page
    assert "<b>" not in page
    assert "easy" in small(seeds=1)._repr_html_()


def test_a_notebook_shows_the_comparison_with_names_escaped(tmp_path):
    policies = {"easy": "easy", "<b>bold</b>": "sjf"}
    conducted = conduct(small(policies=policies, baseline={"policy": "easy"}), tmp_path / "study")
    page = conducted._repr_html_()
    assert "&lt;b&gt;bold" in page
    assert "<b>" not in page


@pytest.mark.parametrize("cap", [None, 50_000])
def test_every_metric_of_energy_is_one_of_a_study_that_has_it(tmp_path: Path, cap: int | None) -> None:
    node = {"name": "cluster", "idle_w": 100, "typical_w": 340, "peak_w": 400, "reference_khz": 2}
    power = {"modules": [node | {"pstates_khz": [2]}]}
    energy = {"power": power, "price": 0.2} | ({"cap": {"power_w": cap}} if cap else {})
    names = ["energy_off_j", "energy_cost", "energy_modules_cluster_idle_j"]
    study = small(models={"energy": energy}, metrics=names, seeds=1, policies=["easy"])
    conduct(study, tmp_path / "study")
    index = pd.read_parquet(tmp_path / "study" / "index.parquet")
    assert {name for name in index if name.startswith("energy_")} == {
        name for name in known_metrics(["cluster"], energy) if name.startswith("energy_")
    }
