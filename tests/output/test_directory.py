"""Files that belong together: all or none whenever the writer is killed, and nothing else is touched."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from scheduler_sim.cli.main import main
from scheduler_sim.cli.run import _kept
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.output import directory as room
from scheduler_sim.output.directory import MARK, put_files
from scheduler_sim.output.lock import locked
from scheduler_sim.result import result as result_module
from scheduler_sim.result.result import Result
from scheduler_sim.result.store import FILES, stamp
from tests.conftest import ROOT
from tests.result.hand_made import Run, result_of

OLD = {"a": b"old a", "b": b"old b", "last": b"old last", "log": b"old log"}
NEW = {"a": b"new a", "b": b"new b", "last": b"new last"}
THEIRS = {
    "notes.txt": b"mine",
    ".a": b"mine",
    ".scheduler-sim-0123456789ab.new.thesis": b"mine",
    "a.old": b"mine",
}


def put(directory, files, **more):
    writers = {name: lambda out, content=content: out.write(content) for name, content in files.items()}
    put_files(directory, writers, last="last", gone=("log",), **more)


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@pytest.fixture
def place(tmp_path):
    """A directory with the older files and with files of somebody else."""
    directory = tmp_path / "place"
    put(directory, OLD)
    for name, content in THEIRS.items():
        (directory / name).write_bytes(content)
    (directory / "folder").mkdir()
    return directory


def test_files_are_replaced_and_nothing_else_is_touched(place):
    inode = place.stat().st_ino
    put(place, NEW)
    assert contents(place) == {**NEW, **THEIRS}
    assert place.stat().st_ino == inode


KILLED = """
import os, sys
from pathlib import Path
from scheduler_sim.output.directory import put_files
place, step = Path(sys.argv[1]), 0
NEW = {"a": b"new a", "b": b"new b", "last": b"new last"}
writers = {name: lambda out, content=content: out.write(content) for name, content in NEW.items()}
put_files(place / "warm", writers, last="last")  # what is imported on the way is imported now

def hook(event, arguments):
    global step
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"):
        if str(place) in str(arguments[0]):
            step += 1
            if step == at:
                os._exit(9)

sys.addaudithook(hook)
import shutil
at, ends = -1, []
for at in range(1, 100):
    place = Path(sys.argv[1]) / str(at)
    if len(sys.argv) > 2:
        os.system(f"cp -r '{sys.argv[2]}' '{place}'")
    child = os.fork()
    if child == 0:
        step = 0
        put_files(place, writers, last="last", gone=("log",))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        break
    assert code == 9, code
print(at)
"""


def killed_at_every_step(tmp_path, older):
    """Have a writer killed before each of its calls that change or open anything; yield what is left."""
    (tmp_path / "killed").mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), *([str(older)] if older else [])]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert steps > 8
    return [tmp_path / "killed" / str(step) for step in range(1, steps + 1)]


@pytest.mark.parametrize("older", [True, False])
def test_whenever_it_is_killed_the_files_are_whole_or_the_last_is_missing(place, tmp_path, older):
    seen = set()
    for left in killed_at_every_step(tmp_path, place if older else None):
        found = contents(left) if left.exists() else {}
        ours = {name: found[name] for name in OLD if name in found}
        if "last" not in found:
            seen.add("not whole")
        elif ours == OLD:
            seen.add("old")
        else:
            assert ours == NEW
            seen.add("new")
        if older:
            assert THEIRS.items() <= found.items()
            assert (left / "folder").is_dir()
        put(left, OLD)  # the next one clears up
        assert contents(left) == {**OLD, **(THEIRS if older else {})}
    assert seen == ({"old", "not whole", "new"} if older else {"not whole", "new"})


class Stop(BaseException):
    """As Ctrl-C, wherever it comes."""


@pytest.mark.parametrize("failure", [Stop, lambda: OSError(errno.EIO, "broken")])
@pytest.mark.parametrize("at", range(9))
def test_a_failure_at_any_rename_brings_the_older_files_back(place, monkeypatch, at, failure):
    before, calls, rename = contents(place), [], os.rename

    def fail(old, new):
        calls.append(new)
        if len(calls) == at + 1:
            raise failure()
        rename(old, new)

    monkeypatch.setattr(room.os, "rename", fail)
    try:
        put(place, NEW)
    except (Stop, OSError):
        assert contents(place) == before
    else:
        assert at >= 7
        assert contents(place) == {**NEW, **THEIRS}


def test_a_failure_of_new_files_leaves_no_directory(tmp_path, monkeypatch):
    for at in range(3):
        monkeypatch.undo()
        calls, rename = [], os.rename

        def fail(old, new, calls=calls, at=at, rename=rename):
            calls.append(new)
            if len(calls) == 5 + at:  # the first four find nothing to step aside
                raise OSError(errno.EIO, "broken")
            rename(old, new)

        monkeypatch.setattr(room.os, "rename", fail)
        with pytest.raises(OSError, match="broken"):
            put(tmp_path / "new", NEW)
        assert list(tmp_path.iterdir()) == []


def test_a_second_writer_is_refused_and_changes_nothing(place):
    before = contents(place)

    def second(out):
        with pytest.raises(InputError, match=r"another process is writing into .*place; nothing was changed"):
            put(place, NEW)
        out.write(b"x")

    put_files(place, {"a": second, "last": second}, last="last")
    assert contents(place) == {**before, "a": b"x", "last": b"x"}


def test_a_lock_that_its_holder_removed_is_taken_anew(tmp_path):
    with (
        locked(tmp_path / "lock", "busy"),
        pytest.raises(InputError, match="busy"),
        locked(tmp_path / "lock", "busy"),
    ):
        pass
    with locked(tmp_path / "lock", "busy"):
        (tmp_path / "lock").unlink()
        with locked(tmp_path / "lock", "busy"):
            pass


@pytest.mark.parametrize("make", ["folder", "link"])
def test_what_is_no_file_is_not_moved(tmp_path, make):
    target = tmp_path / "place"
    target.mkdir()
    if make == "folder":
        (target / "a").mkdir()
    else:
        (tmp_path / "elsewhere").write_text("mine")
        (target / "a").symlink_to("../elsewhere")
    with pytest.raises(InputError, match="is not a regular file and is left alone"):
        put(target, NEW)
    assert [path.name for path in target.iterdir()] == ["a"]


WRITER = """
import sys
from pathlib import Path
from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import put_files
place, own = Path(sys.argv[1]), sys.argv[2].encode()
writers = {name: lambda out: out.write(own) for name in ("a", "b", "last")}
done = refused = 0
while done + refused < 200:
    try:
        put_files(place, writers, last="last")
        done += 1
    except InputError as error:
        assert "another process is writing" in str(error), error
        refused += 1
print(done, refused)
"""


def test_writers_at_the_same_time_never_mix(tmp_path):
    place = tmp_path / "place"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(place), own],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for own in ("one", "two", "three")
    ]
    ends = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert all(int(done) + int(refused) == 200 for done, refused in ends)
    found = contents(place)
    assert set(found) == {"a", "b", "last"}
    assert len(set(found.values())) == 1


# Results

STUDY = """
systems: {s: {modules: [{name: cluster, nodes: 64}]}}
workloads: {w: {recipe: {modules: [{name: cluster, nodes: 64, jobs: 20}]}}}
policies: [fcfs]
seeds: 2
"""


@pytest.fixture
def result():
    return result_of([Run(0, 0, 10, 2), Run(1, 10, 5, 4)], {"CM": 4})


def test_a_result_whose_writing_was_killed_is_not_whole_and_is_written_over(result, tmp_path):
    target = tmp_path / "run"
    result.save(target)
    (target / "manifest.json").rename(target / ".scheduler-sim-0123456789ab.old.manifest.json")
    (target / MARK).touch()
    (target / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"not a whole result: manifest\.json is missing"):
        Result.load(target)
    result.save(target)
    assert {path.name for path in target.iterdir()} == {*FILES, "notes.txt"}
    Result.load(target).check()


def test_a_result_that_is_replaced_while_it_is_read_is_told(result, tmp_path, monkeypatch):
    target = tmp_path / "run"
    result.save(target)
    read = result_module.read_table

    def slow(path, columns):
        if path.name == "timeline.parquet":
            result.save(target)
        return read(path, columns)

    monkeypatch.setattr(result_module, "read_table", slow)
    with pytest.raises(InputError, match="replaced while it was read"):
        Result.load(target)


def test_an_interrupted_run_says_what_is_there(result, tmp_path):
    out = tmp_path / "run"
    assert _kept(None, None) == _kept(out, None) == ""
    result.save(out)
    older = stamp(out)
    assert _kept(out, older) == f"the older result in {out} is kept"
    result.save(out)  # by another process, meanwhile
    assert _kept(out, older) == f"the result in {out} is a newer one"
    (out / "manifest.json").unlink()
    assert _kept(out, older) == f"the older result in {out} is gone"


def test_force_writes_into_a_directory_of_somebody_else_and_touches_nothing(result, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"not a result \(thesis\.tex\) and is left alone; .*--force"):
        result.save(tmp_path)
    result.save(tmp_path, force=True)
    assert (tmp_path / "thesis.tex").read_text() == "mine"
    assert stamp(tmp_path) is not None


def test_four_files_of_these_names_are_not_enough(result, tmp_path):
    for name in FILES:
        (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="not a result"):
        result.save(tmp_path)
    assert all((tmp_path / name).read_text() == "mine" for name in FILES)


@pytest.fixture
def disk(tmp_path):
    """A disk of 256 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", place]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(disk, left):
    """Fill a disk but for so many bytes."""
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize - left))


@pytest.mark.parametrize("left", [0, 4096, 12288])
@pytest.mark.parametrize("older", [False, True])
def test_a_full_disk_is_named_and_the_older_result_kept(result, disk, left, older):
    if older:
        result.save(disk / "run")
    fill(disk, left)
    before = contents(disk / "run") if older else None
    kept = "the older result there is kept" if older else "nothing was kept"
    said = rf"cannot write the result to .*run: the disk at {disk} is full \(.* MB left, .* files\); {kept}"
    with pytest.raises(SchedulerSimError, match=said) as failed:
        result.save(disk / "run", log="nine o'clock")
    assert failed.value.exit_code == 1
    assert (contents(disk / "run") if older else (disk / "run").exists()) == (before if older else False)


@pytest.mark.parametrize(
    "suffix", [".swf", ".swf.gz", ".mwf", ".csv", ".csv.gz", ".csv.zst", ".parquet", ".png"]
)
def test_a_file_that_does_not_fit_leaves_the_older_one(disk, suffix, capsys):
    path = disk / f"a{suffix}"
    sample = str(ROOT / "workloads" / "sample-1000.swf")
    command = ["inspect", sample, "--plot"] if suffix == ".png" else ["convert", sample]
    fill(disk, 4096)
    assert main([*command, str(path)]) == 1
    assert f"cannot write {path}: the disk at {disk} is full (" in capsys.readouterr().err
    assert [one.name for one in disk.iterdir()] == ["ballast"]


@pytest.mark.parametrize("left", [0, 4096, 16384])
def test_a_study_on_a_full_disk_says_so_and_goes_on_when_there_is_room(disk, tmp_path, left, capsys):
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    command = ["study", str(study), "--out", str(disk / "study"), "--workers", "1", "--quiet"]
    fill(disk, left)
    assert main(command) == 1
    said = capsys.readouterr().err
    assert f"the disk at {disk} is full (" in said
    assert "internal" not in said
    (disk / "ballast").unlink()
    assert main(command) == 0
    assert {path.name for path in (disk / "study").iterdir()} >= {"study.json", "index.parquet", "runs"}
    assert not [path for path in disk.rglob(".scheduler-sim-*") if path.name != ".scheduler-sim-study"]
