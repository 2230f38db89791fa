"""Files that are written whole or not at all, and what a killed process leaves of one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_sim.output.whole import TEMPORARY, temporary_name, whole_file

HALF = """
import sys, time
from scheduler_sim.output.whole import whole_file
with whole_file(sys.argv[1]) as out:
    out.write(b"half")
    out.flush()
    print("written", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that has written half of a file."""
    command = [sys.executable, "-c", HALF, str(tmp_path / "t.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        yield process
        process.kill()


def _partial(folder):
    return [name for name in os.listdir(folder) if re.fullmatch(TEMPORARY, name)]


def test_what_a_killed_process_left_goes_with_the_next_file(writer, tmp_path):
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(_partial(tmp_path)) == 1
    assert not (tmp_path / "t.csv").exists()
    with whole_file(tmp_path / "other.csv") as out:
        out.write(b"whole")
    assert os.listdir(tmp_path) == ["other.csv"]


def test_what_another_process_is_writing_stays(writer, tmp_path):
    with whole_file(tmp_path / "other.csv") as out:
        out.write(b"whole")
    assert len(_partial(tmp_path)) == 1


def test_only_files_by_our_names_go(tmp_path):
    stays = [tmp_path / name for name in (".scheduler-sim-x.partial", ".partial", f"{temporary_name()}.csv")]
    for path in stays:
        path.touch()
    (folder := tmp_path / temporary_name()).mkdir()
    (link := tmp_path / temporary_name()).symlink_to(stays[0])
    with whole_file(tmp_path / "t.csv") as out:
        out.write(b"whole")
    assert all(os.path.lexists(path) for path in (*stays, folder, link))


def test_a_name_that_was_cleared_away_is_taken_anew(tmp_path, monkeypatch):
    """Whoever clears away may come between the making of a file and its lock."""
    names = []

    def cleared(path, number):
        names.append(Path(path).name)
        if len(names) == 1:
            os.unlink(path)
        return stat_before(path)

    stat_before = os.stat
    monkeypatch.setattr(Path, "stat", lambda path, **_: cleared(path, 0))
    with whole_file(tmp_path / "t.csv") as out:
        out.write(b"whole")
    monkeypatch.undo()
    assert (tmp_path / "t.csv").read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["t.csv"]
