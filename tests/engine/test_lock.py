"""Processes that compile the same at the same time: one does, the others wait, and nobody for good."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from scheduler_sim.engine.core.cache import Kept
from scheduler_sim.engine.core.lock import Lock
from scheduler_sim.engine.core.machine_code import Code
from tests.conftest import ROOT

HOLD = """
import sys, time
from pathlib import Path
from scheduler_sim.engine.core.lock import Lock
Lock(Path(sys.argv[1])).take()
print("taken", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout.readline() == b"taken\n"
    yield process
    process.kill()
    process.communicate()


def is_free(path) -> bool:
    other = Lock(path, patience_s=0)
    other.take()
    taken = other._file >= 0
    other.give_back()
    return taken


def test_one_at_a_time(tmp_path):
    lock = Lock(tmp_path / "new" / "lock")
    lock.take()
    assert not is_free(lock.path)
    lock.take()  # of what is taken: nothing
    lock.give_back()
    assert is_free(lock.path)
    lock.give_back()
    assert list(lock.path.parent.iterdir()) == []


def test_it_waits_for_what_is_given_back(tmp_path):
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    first.take()
    before = signal.signal(signal.SIGALRM, lambda *_: first.give_back())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        second.take()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert first._file < 0 <= second._file
    assert not is_free(second.path)  # the file that the first took away is not the one that the second has
    second.give_back()


def test_a_kill_unlocks(tmp_path, holder):
    assert not is_free(tmp_path / "lock")
    holder.kill()
    lock = Lock(tmp_path / "lock", patience_s=60)
    lock.take()
    assert lock._file >= 0
    lock.give_back()


def test_patience_ends(tmp_path, holder):
    lock = Lock(tmp_path / "lock", patience_s=0.1)
    lock.take()
    assert lock._file < 0
    lock.give_back()
    assert (tmp_path / "lock").exists()  # it is another's


def test_where_nothing_can_be_locked_nobody_waits(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for path in (tmp_path / "file" / "lock", tmp_path / "link"):
        lock = Lock(path)
        lock.take()
        assert lock._file < 0
        lock.give_back()


def code(name):
    return Code(name, name.encode() * 100)


def _make(directory, names, begin, answers):
    """In a process of its own: have code of each name; how much of it was made here."""
    kept, made = Kept(directory), []

    def make(name):
        time.sleep(0.5)
        made.append(name)
        return code(name)

    begin.wait()
    answers.put(([kept.get(name, partial(make, name)) for name in names], len(made)))


def never():
    raise AssertionError("it is there")


def test_what_another_has_made_meanwhile_is_not_made_again(tmp_path, monkeypatch):
    """Another is quicker: its code is there when the lock is had, and was not before."""
    ours, theirs = Kept(tmp_path), Kept(tmp_path)
    take = Lock.take

    def take_after_them(lock):
        monkeypatch.setattr(Lock, "take", take)
        assert theirs.get("some", lambda: code("some")) == code("some")
        lock.take()

    monkeypatch.setattr(Lock, "take", take_after_them)
    assert ours.get("some", never) == code("some")
    assert [path.name for path in tmp_path.iterdir()] == ["some.code"]


def test_what_cannot_be_made_leaves_the_lock(tmp_path):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Kept(tmp_path).get("some", fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_processes_make_each_once_and_keep_theirs(tmp_path):
    spawned = multiprocessing.get_context("spawn")
    begin, answers = spawned.Barrier(3), spawned.Queue()
    crews = (["one", "two"], ["one", "two"], ["three"])
    crew = [spawned.Process(target=_make, args=(tmp_path, names, begin, answers)) for names in crews]
    for one in crew:
        one.start()
    found = [answers.get(timeout=300) for _ in crew]
    for one in crew:
        one.join()
    both = [code("one"), code("two")]
    assert sorted(codes for codes, _ in found) == [both, both, [code("three")]]
    assert sum(made for _, made in found) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.code", "three.code", "two.code"]
    for name in ("one", "two", "three"):
        assert Kept(tmp_path).get(name, never) == code(name)
