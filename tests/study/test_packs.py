"""Runs of a study in packs: each is found, is what it would be alone, and comes back after any kill."""

from __future__ import annotations

import filecmp
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.report.html import write_report
from scheduler_sim.result import packed as packed_module
from scheduler_sim.result.columns import COMPONENTS, REASONS, TIMELINE
from scheduler_sim.result.packed import PACK_FILES, Member, write_pack
from scheduler_sim.study import carry
from scheduler_sim.study import packs as packs_module
from scheduler_sim.study.carry import Batch, after_loss, batches, carry_out
from scheduler_sim.study.conduct import conduct
from scheduler_sim.study.packs import Filling, Packs
from scheduler_sim.study.processes import local
from scheduler_sim.study.run import Run
from scheduler_sim.study.store import Store
from tests.cli.command import Here
from tests.study.studies import RECIPE, packs, results, run_of, small, tree

TINY = {"like": {"recipe": {**RECIPE, "modules": [{"name": "cluster", "nodes": 64, "jobs": 8}]}}}


def many(**changes):
    """Return a study of 160 tiny runs, of which two share a pack."""
    return small(**{"workloads": TINY, "policies": ["easy"], "seeds": 160, **changes})


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("packed") / "study"
    assert conduct(small(), directory).failed == {}
    return directory


@pytest.fixture
def one_pack(monkeypatch):
    """Put all runs of a small study into one batch."""
    monkeypatch.setattr(carry, "PARTS", 1)


def no_simulation(run):
    raise AssertionError(f"run {run.id} is there already")


# What is in a pack


def test_a_pack_has_its_runs_one_after_the_other(undisturbed):
    index = pd.read_parquet(undisturbed / "index.parquet")
    for name, ids in packs(undisturbed).items():
        place = undisturbed / "packs" / name
        assert {path.name for path in place.iterdir()} == {
            "components.parquet", "timeline.parquet", "runs.parquet"
        }  # fmt: skip
        for file, columns in (("components", COMPONENTS), ("timeline", TIMELINE)):
            table = pd.read_parquet(place / f"{file}.parquet")
            assert list(table) == ["run", *(column.name for column in columns)]
            rows = pd.read_parquet(place / "runs.parquet").set_index("id")[file]
            assert table["run"].tolist() == [i for i in ids for _ in range(rows[i])]
        assert index[index["pack"] == name]["id"].tolist() == ids
    assert set(index["pack"]) == set(packs(undisturbed))
    assert not (undisturbed / "runs").exists()


@pytest.mark.parametrize("rows_per_group", [None, 64])
def test_each_run_is_what_it_would_be_in_a_directory(tmp_path, one_pack, monkeypatch, rows_per_group):
    if rows_per_group:
        monkeypatch.setattr(packed_module, "ROWS_PER_GROUP", rows_per_group)
    conduct(small(), tmp_path / "packed")
    conduct(small(results="each"), tmp_path / "each")
    assert len(packs(tmp_path / "packed")) == 1
    for run in small().runs():
        result = Result.load(run_of(tmp_path / "packed", run.id))
        result.check()
        assert list(result.components["module"].cat.categories) == ["cluster"]
        place = result.save(tmp_path / "saved")
        for file in place.iterdir():
            assert filecmp.cmp(file, run_of(tmp_path / "each", run.id) / file.name, shallow=False)
    index = {name: pd.read_parquet(tmp_path / name / "index.parquet") for name in ("packed", "each")}
    pd.testing.assert_frame_equal(index["packed"].drop(columns="pack"), index["each"].drop(columns="pack"))


def test_every_run_is_found_and_repeated_from_the_index(undisturbed):
    runs = {run.id: run for run in small().runs()}
    for run_id in pd.read_parquet(undisturbed / "index.parquet")["id"]:
        manifest = Result.load(run_of(undisturbed, run_id)).manifest
        assert manifest["run"]["id"] == run_id
        again = runs[run_id].carry_out()
        pd.testing.assert_frame_equal(
            again.components, Result.load(run_of(undisturbed, run_id)).components, check_categorical=False
        )


def test_runs_with_other_columns_have_packs_of_their_own(tmp_path, one_pack):
    conduct(small(policies=["easy", "slurm"], seeds=2), tmp_path / "study")
    found = packs(tmp_path / "study")
    assert sorted(map(len, found.values())) == [2, 2]
    for name, ids in found.items():
        (policy,) = {Result.load(run_of(tmp_path / "study", i)).manifest["policy"]["name"] for i in ids}
        columns = pq.read_schema(tmp_path / "study" / "packs" / name / "components.parquet").names
        assert (REASONS[0].name in columns) == (policy == "slurm")


def test_a_run_without_components_has_no_rows(tmp_path):
    nothing = simulate(System.homogeneous(4), Workload.from_columns(nodes=[], submit_time=[], run_time=[]))
    some = small().runs()[0].carry_out()
    ids = ["0" * 20, "1" * 20, "2" * 20]
    for members in ([nothing, some, nothing], [nothing] * 3):
        pack = tmp_path / f"study-{len(members[1].components)}" / "packs" / ("a" * 20)
        write_pack(pack, [Member.of(*one, {}) for one in zip(ids, members, strict=True)])
        for run_id, result in zip(ids, members, strict=True):
            found = Result.load(run_of(pack.parent.parent, run_id))
            found.check()
            assert len(found.components) == len(result.components)


def test_what_is_not_the_runs_own_is_refused(undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path / "study")
    (name, ids), *_ = packs(tmp_path / "study").items()
    place = tmp_path / "study" / "packs" / name / "runs.parquet"
    table = pd.read_parquet(place)
    pq.write_table(pq.read_table(place).take([1, 0]), place)
    with pytest.raises(InputError, match=f"the rows of run {ids[0]} are those of another one"):
        Result.load(run_of(tmp_path / "study", ids[0]))
    table.assign(components=10**6).to_parquet(place)
    with pytest.raises(InputError, match="not all there"):
        Result.load(run_of(tmp_path / "study", ids[0]))
    place.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputError, match="not a whole table of the runs of a pack"):
        Result.load(run_of(tmp_path / "study", ids[0]))
    with pytest.raises(InputError, match="no result at"):
        Result.load(undisturbed / "runs" / ("0" * 20))


# The same packs, whoever fills them


def test_small_runs_share_packs_and_two_processes_fill_the_same(tmp_path):
    conduct(many(), tmp_path / "one")
    assert {len(ids) for ids in packs(tmp_path / "one").values()} == {2}
    conduct(many(), tmp_path / "two", local(2))
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


def test_a_pack_is_sealed_once_it_is_full(tmp_path, one_pack, monkeypatch):
    monkeypatch.setattr(packs_module, "FULL", 300)
    conduct(small(), tmp_path / "study")
    index = pd.read_parquet(tmp_path / "study" / "index.parquet")
    assert index.groupby("pack", sort=False)["id"].agg(list).tolist() == [
        index["id"].tolist()[at : at + 2] for at in (0, 2, 4)
    ]


@pytest.mark.parametrize("sealed", [0, 1, 2])
def test_whatever_is_lost_comes_back_to_the_same_packs(tmp_path, undisturbed, monkeypatch, sealed):
    seal, done = Filling.seal, []

    def interrupted(filling):
        if len(done) == sealed:
            raise KeyboardInterrupt
        seal(filling)
        done.append(filling)

    monkeypatch.setattr(Filling, "seal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        conduct(small(), tmp_path / "study")
    monkeypatch.undo()
    assert len(packs(tmp_path / "study")) == sealed
    assert conduct(small(), tmp_path / "study").new == 6 - 2 * sealed
    assert tree(tmp_path / "study") == tree(undisturbed)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_pack_is_there_whole_or_not_at_all(tmp_path, undisturbed, monkeypatch, at):
    written = []

    def killed(*given, **_):
        written.append(given)
        if len(written) > at:
            raise KeyboardInterrupt

    monkeypatch.setattr("scheduler_sim.output.directory.os.fsync", killed)
    monkeypatch.setattr("scheduler_sim.output.directory.Path.unlink", killed)  # as a kill leaves it
    monkeypatch.setattr("scheduler_sim.output.directory.Path.rmdir", killed)
    with pytest.raises(KeyboardInterrupt):
        carry_out(str(tmp_path / "study"), Batch(tuple(small().runs()[:2])))
    monkeypatch.undo()
    (left,) = (tmp_path / "study" / "packs").iterdir()
    assert left.name.endswith(".partial")
    assert conduct(small(), tmp_path / "study", force=True).new == 6
    assert tree(tmp_path / "study") == tree(undisturbed)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        *((file, content) for file in PACK_FILES for content in (None, b"", b"PAR1")),
        ("runs.parquet", b"PAR1 nothing at all PAR1"),  # in tables its reader finds it, by their checksums
    ],
)
def test_a_pack_that_is_not_whole_is_done_again(tmp_path, undisturbed, file, content):
    shutil.copytree(undisturbed, tmp_path / "study")
    place = next(iter((tmp_path / "study" / "packs").iterdir())) / file
    place.unlink() if content is None else place.write_bytes(content)
    assert conduct(small(), tmp_path / "study").new == 2
    assert tree(tmp_path / "study") == tree(undisturbed)


def test_nothing_is_removed_that_no_pack_has(tmp_path, undisturbed):
    shutil.copytree(undisturbed, tmp_path / "study")
    place = tmp_path / "study" / "packs"
    theirs, ours, killed = (
        place / ("1" * 20),
        place / ("0" * 20),
        place / ".scheduler-sim-0123456789ab.partial",
    )
    for made in (theirs, ours, killed, place / "mine", place / ".hidden"):
        made.mkdir()
    for made in (theirs, ours, killed):
        (made / "components.parquet").write_bytes(b"PAR1")
    (theirs / "notes.txt").write_text("mine")
    conducted = conduct(small(), tmp_path / "study")
    assert conducted.new == 0
    assert conducted.left_alone == ("packs/.hidden", f"packs/{theirs.name}", "packs/mine")
    assert not ours.exists()
    assert not killed.exists()
    assert (theirs / "notes.txt").read_text() == "mine"


def test_a_place_that_is_taken_fails_the_runs_of_the_pack(tmp_path, undisturbed):
    shutil.copytree(undisturbed, tmp_path / "study")
    place = next(iter((tmp_path / "study" / "packs").iterdir()))
    (place / "runs.parquet").unlink()
    (place / "notes.txt").write_text("mine")
    conducted = conduct(small(), tmp_path / "study")
    assert len(conducted.failed) == 2
    assert all("is no pack of this study and is left alone" in text for text in conducted.failed.values())
    assert conducted.index["state"].value_counts().to_dict() == {"finished": 4, "failed": 2}
    assert (place / "notes.txt").read_text() == "mine"


# Batches


def test_batches_do_not_depend_on_what_is_there():
    runs = many().runs()
    ids = {run.id for run in runs}
    whole = batches(runs, ids)
    assert [len(batch.runs) for batch in whole] == [2] * 80
    some = set(list(ids)[::3])
    left = [tuple(run for run in batch.runs if run.id in some) for batch in whole]
    assert [batch.runs for batch in batches(runs, some)] == [one for one in left if one]


def test_runs_with_a_workload_stay_together_and_large_ones_have_a_batch_of_their_own():
    policies = ["fcfs", "easy", "sjf", "conservative"]
    assert {len(batch.runs) for batch in whole_batches(many(policies=policies, seeds=128))} == {8}
    assert {len(batch.runs) for batch in whole_batches(many(policies=policies, seeds=20))} == {4}
    large = {"like": {"recipe": {**RECIPE, "modules": [{"name": "cluster", "nodes": 64, "jobs": 10**6}]}}}
    assert {len(batch.runs) for batch in whole_batches(many(workloads=large))} == {1}


def whole_batches(study):
    runs = study.runs()
    return batches(runs, {run.id for run in runs})


def test_a_lost_batch_is_tried_whole_and_at_last_run_by_run(tmp_path):
    batch, attempts = Batch(tuple(small().runs())), {}
    for _ in range(2):
        assert after_loss(str(tmp_path), batch, attempts) == ([batch], [])
    again, ended = after_loss(str(tmp_path), batch, attempts)
    assert (again, ended) == ([Batch((run,)) for run in batch.runs], [])
    carry_out(str(tmp_path), again[0])
    assert after_loss(str(tmp_path), again[0], attempts) == ([], [carry.Done(batch.runs[0].id)])
    again, (given_up,) = after_loss(str(tmp_path), again[1], attempts)
    assert again == []
    assert given_up == carry.Done(batch.runs[1].id, "its worker was lost 4 times")


def test_a_worker_whose_parent_is_gone_keeps_only_what_is_sealed(tmp_path):
    asked = iter([True, False])
    batch = Batch(tuple(small().runs()[:3]))
    assert list(carry.carried_out(str(tmp_path), batch, lambda: next(asked))) == []
    assert packs(tmp_path) == {}


def test_of_a_run_in_two_packs_the_first_by_name_counts(tmp_path, undisturbed):
    shutil.copytree(undisturbed, tmp_path / "study")
    run = small().runs()[0]
    carry_out(str(tmp_path / "study"), Batch((run,)))  # a worker that nobody knew to be alive
    holding = sorted(name for name, ids in packs(tmp_path / "study").items() if run.id in ids)
    assert len(holding) == 2
    index = conduct(small(trim={"warm_up": 20}), tmp_path / "study").index
    assert index["pack"][0] == holding[0]
    fresh = conduct(small(trim={"warm_up": 20}), tmp_path / "fresh").index
    pd.testing.assert_frame_equal(index.drop(columns="pack"), fresh.drop(columns="pack"))


# Directories where they are asked for


def test_packed_runs_get_directories_without_a_simulation(tmp_path, undisturbed, monkeypatch):
    shutil.copytree(undisturbed, tmp_path / "study")
    conduct(small(results="each"), tmp_path / "each")
    monkeypatch.setattr(Run, "carry_out", no_simulation)
    assert conduct(small(results="each"), tmp_path / "study").failed == {}
    assert tree(tmp_path / "study" / "runs") == tree(tmp_path / "each" / "runs")
    assert tree(tmp_path / "study").items() >= tree(tmp_path / "each").items()


def test_measures_of_packs_are_made_anew_without_a_simulation(tmp_path, undisturbed, monkeypatch):
    shutil.copytree(undisturbed, tmp_path / "study")
    changes = {"trim": {"warm_up": 20}, "slices": ["size"]}
    conduct(small(**changes), tmp_path / "fresh")
    monkeypatch.setattr(Run, "carry_out", no_simulation)
    assert conduct(small(**changes), tmp_path / "study").failed == {}
    assert tree(tmp_path / "study") == tree(tmp_path / "fresh")


def test_a_changed_study_adds_packs_and_finds_all_runs(tmp_path):
    conduct(small(seeds=2), tmp_path / "study")
    before = tree(tmp_path / "study" / "packs")
    conduct(small(policies=["fcfs", "easy", "sjf"]), tmp_path / "study")
    conduct(small(policies=["fcfs", "easy", "sjf"]), tmp_path / "fresh")
    assert tree(tmp_path / "study" / "packs").items() >= before.items()
    assert results(tmp_path / "study") == results(tmp_path / "fresh")


# Reading


def test_pages_and_explanations_take_a_packed_run_by_its_name(undisturbed, tmp_path, capsys):
    cli = Here(capsys)
    shutil.copytree(undisturbed, tmp_path / "study")
    run_id = small().runs()[0].id
    place = run_of(tmp_path / "study", run_id)
    done = cli("report", place)
    page = tmp_path / "study" / f"report-{run_id}.html"
    assert (done.code, page.is_file()) == (0, True), done.err
    assert write_report(place, tmp_path / "page.html").read_bytes() == page.read_bytes()
    assert cli("report", place, "--out", tmp_path / "run.csv").code == 0
    component = Result.load(place).components["component_id"][3]
    assert cli("explain", place, component).code == 0
    assert conduct(small(), tmp_path / "study").left_alone == ()


def test_the_pack_of_a_run_is_looked_up_and_not_guessed(undisturbed):
    found = Packs(undisturbed)
    found.look()
    assert {run_id: kept.pack for run_id, kept in found.kept.items()} == {
        run_id: name for name, ids in packs(undisturbed).items() for run_id in ids
    }
    store = Store(undisturbed)
    run = small().runs()[1]
    assert not store.is_done(run)  # nobody has looked yet
    store.packs.look()
    assert store.is_done(run)
    assert np.array_equal(
        store.load(run.id).components["start_time"], run.carry_out().components["start_time"]
    )
