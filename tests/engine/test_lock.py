"""Processes that compile the same at the same time: one does, the others wait, and nobody for good."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numba
import pytest

from scheduler_sim.engine.core.cache import Kept
from scheduler_sim.engine.core.lock import Lock
from tests.conftest import ROOT

HOLD = """
import sys, time
from pathlib import Path
from scheduler_sim.engine.core.lock import Lock
Lock(Path(sys.argv[1])).take()
print("taken", flush=True)
time.sleep(600)
"""


def tripled(number):
    return 3 * number


def slowly(number):
    time.sleep(0.5)
    return number


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


def _compile(directory, kinds, begin, answers):
    """In a process of its own: have ``tripled`` compiled for each kind; how often it was compiled here."""
    compiler = numba.core.dispatcher._FunctionCompiler
    whole = compiler.compile
    compiler.compile = lambda *arguments: slowly(whole(*arguments))
    function = numba.njit(tripled)
    function._cache = Kept(tripled, directory)
    begin.wait()
    values = [function(kind(7)) for kind in kinds]
    answers.put((values, sum(function.stats.cache_misses.values())))


def test_what_another_has_made_meanwhile_is_not_made_again(tmp_path, monkeypatch):
    """Another is quicker: its code is there when the lock is had, and was not before."""
    ours, theirs = numba.njit(tripled), numba.njit(tripled)
    ours._cache, theirs._cache = Kept(tripled, tmp_path), Kept(tripled, tmp_path)
    take = Lock.take

    def take_after_them(lock):
        monkeypatch.setattr(Lock, "take", take)
        assert theirs(7) == 21
        lock.take()

    monkeypatch.setattr(Lock, "take", take_after_them)
    assert ours(7) == 21
    assert (sum(theirs.stats.cache_misses.values()), sum(ours.stats.cache_misses.values())) == (1, 0)


@pytest.mark.long
def test_two_processes_compile_each_kind_once_and_both_keep_theirs(tmp_path):
    spawned = multiprocessing.get_context("spawn")
    begin, answers = spawned.Barrier(3), spawned.Queue()
    crews = ([int, float], [int, float], [complex])
    crew = [spawned.Process(target=_compile, args=(tmp_path, kinds, begin, answers)) for kinds in crews]
    for one in crew:
        one.start()
    found = sorted((answers.get(timeout=300) for _ in crew), key=lambda answer: answer[1])
    for one in crew:
        one.join()
    assert sorted(repr(values) for values, _ in found) == ["[(21+0j)]", "[21, 21.0]", "[21, 21.0]"]
    assert sum(misses for _, misses in found) == 3
    assert sorted(path.suffix for path in tmp_path.rglob("*") if path.is_file()) == [".nbc"] * 3 + [".nbi"]
    again = numba.njit(tripled)
    again._cache = Kept(tripled, tmp_path)
    assert [again(7), again(7.0), again(7j)] == [21, 21.0, 21j]
    assert not again.stats.cache_misses
