"""A result directory: whole or not at all, the same bytes for the same result, read back as it was."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.result import result as result_module
from scheduler_sim.result.result import Result

from .hand_made import Run, result_of

FILES = {"components.parquet", "timeline.parquet", "metrics.json", "manifest.json"}


@pytest.fixture
def result():
    return result_of([Run(0, 0, 10, 2), Run(1, 10, 5, 4), Run(2, None, 0, 9, state="REJECTED")], {"CM": 4})


def names(directory):
    return {entry.name for entry in directory.iterdir()}


def contents(directory):
    return {entry.name: entry.read_bytes() for entry in directory.iterdir()}


def same_values(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one.astype(object), other.astype(object))
    assert [str(t) for t in one.dtypes] == [str(t) for t in other.dtypes]


def test_a_result_comes_back_as_it_was(result, tmp_path):
    result.save(tmp_path / "deep" / "run")
    back = Result.load(tmp_path / "deep" / "run")
    same_values(result.components, back.components)
    same_values(result.timeline, back.timeline)
    assert back.metrics == result.metrics
    assert back.manifest == result.manifest
    back.check()
    assert names(tmp_path / "deep" / "run") == FILES
    assert names(tmp_path / "deep") == {"run"}


def test_an_empty_result_comes_back(tmp_path):
    empty = result_of([], {"CM": 4})
    empty.save(tmp_path / "run")
    back = Result.load(tmp_path / "run")
    assert len(back.components) == len(back.timeline) == 0
    back.check()


def test_the_same_result_gives_the_same_bytes(result, tmp_path):
    result.save(tmp_path / "a", log="at nine o'clock")
    result.save(tmp_path / "b", log="at ten o'clock")
    # the same text under other codes, and with words that no row uses
    shuffled = result.components.copy()
    shuffled["state"] = shuffled["state"].cat.set_categories(["PENDING", "REJECTED", "COMPLETED"])
    shuffled["user"] = shuffled["user"].astype(object)
    Result(shuffled, result.timeline, result.metrics, result.manifest).save(tmp_path / "c")
    Result.load(tmp_path / "a").save(tmp_path / "d")
    a, b, c, d = (contents(tmp_path / name) for name in "abcd")
    assert (a.pop("run.log"), b.pop("run.log")) == (b"at nine o'clock", b"at ten o'clock")
    assert a == b == c == d


def test_parquet_files_are_readable_without_us_and_carry_no_index(result, tmp_path):
    result.save(tmp_path / "run")
    plain = pd.read_parquet(tmp_path / "run" / "components.parquet")
    assert plain["state"].tolist() == ["COMPLETED", "COMPLETED", "REJECTED"]
    assert list(plain.columns) == list(result.components.columns)


def test_floats_are_rounded_and_what_is_not_a_number_is_null(result, tmp_path):
    result.components["power_w"] = [1 / 3, -1e-9, np.nan]
    result.metrics["energy"] = {
        "a": np.float64(2 / 3),
        "b": np.nan,
        "c": np.inf,
        "d": -1e-9,
        "e": np.int64(3),
    }
    result.save(tmp_path / "run")
    power = Result.load(tmp_path / "run").components["power_w"].to_numpy()
    assert power[:2].tolist() == [0.333333, 0.0]
    assert not np.signbit(power[1])
    assert np.isnan(power[2])
    text = (tmp_path / "run" / "metrics.json").read_text()
    assert json.loads(text)["energy"] == {"a": 0.666667, "b": None, "c": None, "d": 0.0, "e": 3}
    assert "-0.0" not in text


def test_an_older_result_is_replaced_and_other_files_beside_it_stay(result, tmp_path):
    target = tmp_path / "run"
    target.mkdir()
    result.save(target, log="old")
    (target / "notes.txt").write_text("mine")
    (target / "plots").mkdir()
    result.manifest["seed"] = 7
    result.save(target)
    assert names(target) == FILES | {"notes.txt", "plots"}  # the log of the old run is gone
    assert Result.load(target).manifest["seed"] == 7
    assert names(tmp_path) == {"run"}


@pytest.mark.parametrize("found", ["thesis.tex", "manifest.json"])
def test_a_foreign_directory_is_refused(result, tmp_path, found):
    target = tmp_path / "home"
    target.mkdir()
    (target / found).write_text("{}")
    with pytest.raises(InputError, match="not a result"):
        result.save(target)
    assert names(target) == {found}
    assert names(tmp_path) == {"home"}


def test_a_file_in_the_way_is_refused(result, tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        result.save(tmp_path / "run")
    with pytest.raises(SchedulerSimError):
        result.save(tmp_path / "run" / "below")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failure_on_the_way_changes_nothing(result, tmp_path, monkeypatch, failure, older):
    target = tmp_path / "run"
    if older:
        result.save(target)
    before = contents(target) if older else None

    def fail(document, out):
        out.write(b"{")
        raise failure

    monkeypatch.setattr(result_module, "write_document", fail)
    is_disk = isinstance(failure, OSError)
    kept = "the older result there is kept" if older else "nothing was kept"
    with pytest.raises(
        SchedulerSimError if is_disk else type(failure),
        match=f"the disk at .* is full.*{kept}" if is_disk else None,
    ):
        result.save(target)
    assert names(tmp_path) == ({"run"} if older else set())
    assert not older or contents(target) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission_is_told(result, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission denied; nothing was kept"):
        result.save(tmp_path / "run")


def test_a_link_to_a_result_stays_a_link(result, tmp_path):
    result.save(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    result.manifest["seed"] = 7
    result.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert Result.load(tmp_path / "real").manifest["seed"] == 7


def test_loading_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        Result.load(tmp_path / "nowhere")


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_missing_file_is_named(result, tmp_path, name):
    result.save(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    with pytest.raises(InputError, match=f"not a whole result: {name} is missing"):
        Result.load(tmp_path / "run")


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("spoil", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b"\x00\xff" * 40])
def test_a_truncated_or_foreign_file_is_named(result, tmp_path, name, spoil):
    result.save(tmp_path / "run")
    path = tmp_path / "run" / name
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(InputError, match=f"{name}: not a whole"):
        Result.load(tmp_path / "run")


@pytest.mark.parametrize("where", ["start", "middle"])
def test_a_damaged_table_is_an_input_error(result, tmp_path, where):
    result.save(tmp_path / "run")
    path = tmp_path / "run" / "components.parquet"
    data = bytearray(path.read_bytes())
    at = 4 if where == "start" else len(data) // 2
    data[at : at + 200] = bytes(200)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"components\.parquet"):
        Result.load(tmp_path / "run")


def test_another_parquet_file_is_named(result, tmp_path):
    result.save(tmp_path / "run")
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "run" / "timeline.parquet")
    with pytest.raises(InputError, match=r"timeline\.parquet: not a table of a result: column time is miss"):
        Result.load(tmp_path / "run")


def test_json_that_is_no_object_is_named(result, tmp_path):
    result.save(tmp_path / "run")
    (tmp_path / "run" / "metrics.json").write_text("[]")
    with pytest.raises(InputError, match=r"metrics\.json: not a document of a result"):
        Result.load(tmp_path / "run")
