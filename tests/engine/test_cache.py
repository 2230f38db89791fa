"""Compiled code on disk: taken from nobody else, and never a reason for a run to fail."""

from __future__ import annotations

import os
import resource
import warnings
from contextlib import contextmanager

import pytest

from scheduler_sim.engine.core import cache
from scheduler_sim.engine.core.cache import Kept, NotKept, cache_directory, why_not
from scheduler_sim.engine.core.machine_code import Code
from tests.cli.command import process
from tests.conftest import ROOT

CLUSTER, SAMPLE = ROOT / "configs/systems/cluster-128.yaml", ROOT / "workloads/sample-1000.swf"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives directories to other users: root only")


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(cache, "_told", set())


CODE = Code("entry", b"\x7fELF\n" + bytes(range(256)))


def compiled(kept, code=CODE, name="some"):
    """Get code from this cache; whether it had to be made."""
    made = []

    def make():
        made.append(code)
        return code

    assert kept.get(name, make) == code
    return bool(made)


def files(directory):
    return sorted(path for path in directory.rglob("*") if path.is_file())


def test_code_is_kept(tmp_path):
    kept = Kept(tmp_path)
    assert not kept.has("some")
    assert compiled(kept)
    assert [path.name for path in files(tmp_path)] == ["some.code"]
    assert kept.has("some")
    assert not compiled(Kept(tmp_path))
    assert compiled(kept, Code("other", b""), name="other")


def test_what_makes_other_code_makes_another_name(monkeypatch):
    kept = Kept(cache.cache_directory())
    names = [kept.name_of(compiled, "int"), kept.name_of(compiled, "float"), kept.name_of(files, "int")]
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    names.append(kept.name_of(compiled, "int"))
    monkeypatch.setattr(cache, "processor", lambda: "another")
    names.append(kept.name_of(compiled, "int"))
    assert len(set(names)) == 5
    assert names[0].startswith("test_cache.compiled-")


def test_a_function_without_its_source_has_a_name():
    kept, code = Kept(cache.cache_directory()), "def {}(): return {}".format
    spaces: list[dict] = [{"__name__": "made"}, {"__name__": "made"}, {"__name__": "made"}]
    for space, text in zip(spaces, (code("one", 1), code("one", "len"), code("other", 1)), strict=True):
        exec(compile(text, "/nowhere/made.py", "exec"), space)
    names = [kept.name_of(space[name]) for space, name in zip(spaces, ("one", "one", "other"), strict=True)]
    assert len(set(names)) == 3


@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],  # a bit of what would be run
        lambda data: b"cos\nsystem\n(S'false'\ntR.",
    ],
)
def test_damaged_files_are_made_anew(tmp_path, damaged):
    compiled(Kept(tmp_path))
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole))
    with pytest.warns(UserWarning, match="is damaged, and made anew") as told:
        assert compiled(Kept(tmp_path))
    assert len(told) == 1
    assert path.read_bytes() == whole
    assert not compiled(Kept(tmp_path))


def test_what_is_no_file_is_damaged_and_stays(tmp_path):
    (tmp_path / "some.code").mkdir()
    with pytest.warns(UserWarning, match="is (damaged|not kept)") as told:
        assert compiled(Kept(tmp_path))
    assert len(told) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["some.code"]


@contextmanager
def full_disk():
    """No file grows: what a full disk is to a writer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_costs_the_time_alone(tmp_path):
    with full_disk(), pytest.warns(UserWarning, match="is not kept: .*File too large"):
        assert compiled(Kept(tmp_path))
    with full_disk():  # and is said once: a warning would be an error here
        assert compiled(Kept(tmp_path))
    assert files(tmp_path) == []


def test_code_that_is_not_kept_says_why(tmp_path):
    with pytest.warns(UserWarning, match="is not kept: no place"):
        assert compiled(NotKept("no place"))
    with warnings.catch_warnings(record=True) as again:
        compiled(NotKept("no place"))
    assert not again


def test_a_directory_of_ones_own(tmp_path):
    place = tmp_path / "deep" / "engine"
    assert why_not(place) == ""
    assert place.stat().st_mode & 0o777 == 0o700


def test_directories_that_others_can_write_to(tmp_path):
    place = tmp_path / "base" / "engine"
    assert why_not(place) == ""
    place.chmod(0o707)
    assert why_not(place) == f"others can write to {place}"
    place.chmod(0o700)
    place.parent.chmod(0o777)
    assert why_not(place) == f"others can write to {place.parent}"
    place.parent.chmod(0o1777)  # as the directory for temporary files: nobody can rename what is another's
    assert why_not(place) == ""
    link = tmp_path / "link"
    link.symlink_to(place)
    place.parent.chmod(0o777)
    assert why_not(link) == f"others can write to {place.parent}"


@needs_root
def test_directories_of_others(tmp_path):
    place = tmp_path / "engine"
    assert why_not(place) == ""
    os.chown(place, 12345, 12345)
    assert why_not(place) == f"{place} belongs to another user"
    os.chown(place, 0, 12345)
    place.chmod(0o770)
    assert why_not(place) == f"others can write to {place}"


def test_names_that_are_no_directories(tmp_path):
    (tmp_path / "file").write_text("")
    assert why_not(tmp_path / "file").endswith("File exists")
    assert why_not(tmp_path / ("x" * 300)).endswith("File name too long")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert why_not(tmp_path / "circle")


def test_an_empty_variable_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDULER_SIM_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory().parent == tmp_path / "scheduler-sim"


@pytest.mark.long
def test_a_run_with_a_place_that_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    ended = process(
        "run", CLUSTER, SAMPLE, "--policy", "fcfs", extra={"SCHEDULER_SIM_CACHE_DIR": str(tmp_path)}
    )
    assert ended.code == 0
    assert f"note: the compiled engine is not kept: others can write to {tmp_path}" in ended.err
    assert ended.err.count("not kept") == 1
    assert files(tmp_path) == []
