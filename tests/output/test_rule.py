"""One rule for what stands where something is to be written: only what is ours is replaced."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress

import pytest

from scheduler_sim import Result, Workload
from scheduler_sim.cli.main import main
from scheduler_sim.errors import InputError, SchedulerSimError
from scheduler_sim.loaders.read import read_trace
from scheduler_sim.output.rule import check_place
from scheduler_sim.output.whole import whole_file
from scheduler_sim.report.export import EXPORTS, export
from scheduler_sim.report.figures import overview
from scheduler_sim.report.html.write import PAGE, write_report
from scheduler_sim.report.look import PICTURE, save_png
from scheduler_sim.scaling.profile_file import PROFILE
from scheduler_sim.workload.kinds import TRACES
from scheduler_sim.workload.trace_io import write_trace
from tests.conftest import ROOT
from tests.report.schedules import behind_a_shadow

SAMPLE = ROOT / "workloads" / "sample-1000.swf"
MODULAR = ROOT / "workloads" / "sample-modular.mwf"
POINTS = ROOT / "configs" / "apps" / "points" / "prism.csv"
SYSTEM = "modules: [{name: CM, nodes: 100}]\n"
TRACE_SUFFIXES = [
    *(f".{kind}{packed}" for kind in ("swf", "mwf", "csv") for packed in ("", ".gz", ".zst")),
    ".parquet",
]

FOREIGN = [
    b"dear reader\n",
    b"\0\1\2\3",
    b"; last modified 2024\n[section]\nkey=value\n",
    b"# a script\necho hello\n",
    b"a;b;c\n1;2;3\n",
    b"name,nodes\nme,4\n",
    b"PAR1PAR1",
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"\x1f\x8bbroken",
    b"<!doctype html><html><title>mine</title>",
    b'{"traceEvents":[]}',
    SYSTEM.encode(),
    b"\n" * 10,
]


def jobs():
    return Workload.from_columns(nodes=[4, 2], submit_time=[0, 5], run_time=[60, 30], name=["a", ""])


def every_kind():
    return [*TRACES.values(), *EXPORTS.values(), PICTURE, PAGE, PROFILE]


@pytest.mark.parametrize("content", FOREIGN)
def test_what_is_not_ours_is_no_kind_of_ours(tmp_path, content):
    path = tmp_path / "theirs"
    path.write_bytes(content)
    for kind in every_kind():
        with pytest.raises(InputError, match=f"not {kind.name} and is left alone.*--force"):
            check_place(path, kind)
        check_place(path, kind, force=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", TRACE_SUFFIXES)
@pytest.mark.parametrize("source", [SAMPLE, MODULAR])
def test_traces_are_known_by_their_content_and_by_their_format(tmp_path, source, suffix):
    path = tmp_path / f"a{suffix}"
    write_trace(read_trace(source), path)
    own = suffix.split(".")[1]
    for name, kind in TRACES.items():
        if name == own:
            check_place(path, kind)
        else:
            with pytest.raises(InputError, match="left alone"):
                check_place(path, kind)
    before = path.read_bytes()
    assert write_trace(read_trace(source), path, force=False) is not None
    assert path.read_bytes() == before


def test_a_dump_of_sacct_is_never_replaced(tmp_path):
    dump = str(shutil.copy(ROOT / "workloads" / "sample-sacct.txt", tmp_path / "dump.txt"))
    assert main(["convert", str(SAMPLE), dump, "--to", "swf", "--quiet"]) == 2
    assert os.path.getsize(dump) == (ROOT / "workloads" / "sample-sacct.txt").stat().st_size


def test_pictures_pages_and_exports_are_known(tmp_path):
    result = behind_a_shadow()
    save_png(overview(result), tmp_path / "a.png")
    result.save(tmp_path / "run")
    write_report(tmp_path / "run", tmp_path / "a.html")
    for suffix in EXPORTS:
        export(result, tmp_path / f"a{suffix}")
    kinds = {".png": PICTURE, ".html": PAGE, **EXPORTS}
    for suffix, kind in kinds.items():
        check_place(tmp_path / f"a{suffix}", kind)
        others = [one for one in every_kind() if one is not kind]
        for other in others:
            with pytest.raises(InputError, match="left alone"):
                check_place(tmp_path / f"a{suffix}", other)
    with pytest.raises(InputError, match="not a picture"):
        save_png(overview(result), tmp_path / "a.html", force=False)


def test_an_empty_file_is_replaced_and_a_protected_one_is_not(tmp_path):
    path = tmp_path / "a.swf"
    path.touch()
    check_place(path, TRACES["swf"])
    write_trace(jobs(), path, force=False)
    path.chmod(0o444)
    with pytest.raises(InputError, match="write-protected"):
        check_place(path, TRACES["swf"])
    check_place(path, TRACES["swf"], force=True)


def test_a_folder_that_is_not_there_and_a_directory_are_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*a\.swf: No such file or directory: .*nowhere"):
        check_place(tmp_path / "nowhere" / "a.swf", TRACES["swf"])
    for force in (False, True):
        with pytest.raises(InputError, match="this is a directory"):
            check_place(tmp_path, TRACES["swf"], force=force)
    with pytest.raises(InputError, match="embedded null byte"):
        check_place("a\0b", TRACES["swf"])


def written_into(fifo):
    got = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    return got, reader


@pytest.mark.parametrize("suffix", TRACE_SUFFIXES)
def test_a_pipe_is_written_into(tmp_path, suffix):
    fifo = tmp_path / f"pipe{suffix}"
    os.mkfifo(fifo)
    got, reader = written_into(fifo)
    write_trace(jobs(), fifo)
    reader.join(20)
    write_trace(jobs(), tmp_path / f"file{suffix}")
    assert got == [(tmp_path / f"file{suffix}").read_bytes()]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_pictures_and_exports_go_into_pipes(tmp_path):
    result = behind_a_shadow()
    for suffix, write in [
        (".png", lambda path: save_png(overview(result), path)),
        *((suffix, lambda path: export(result, path)) for suffix in EXPORTS),
    ]:
        fifo = tmp_path / f"pipe{suffix}"
        os.mkfifo(fifo)
        got, reader = written_into(fifo)
        write(fifo)
        reader.join(20)
        write(tmp_path / f"file{suffix}")
        assert got == [(tmp_path / f"file{suffix}").read_bytes()], suffix


def test_a_device_stays_a_device(tmp_path, capsys):
    assert main(["convert", str(SAMPLE), "/dev/null", "--to", "mwf"]) == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    write_trace(jobs(), "/dev/null", "parquet")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    if os.geteuid() == 0:
        own = tmp_path / "null.swf"
        os.mknod(own, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with suppress(SchedulerSimError):  # a file system without devices
            write_trace(jobs(), own)
        assert stat.S_ISCHR(own.stat().st_mode)


def test_a_full_device_is_told(capsys):
    assert main(["convert", str(SAMPLE), "/dev/full", "--to", "swf"]) == 1
    assert "cannot write /dev/full: the device is full" in capsys.readouterr().err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(tmp_path, there):
    (tmp_path / "data").mkdir()
    real, link = tmp_path / "data" / "real", tmp_path / "link.swf.gz"
    link.symlink_to("data/real")
    if there:
        write_trace(jobs(), tmp_path / "a.swf.gz")
        shutil.copy(tmp_path / "a.swf.gz", real)
    write_trace(read_trace(SAMPLE), link, force=False)
    assert link.is_symlink()
    assert len(read_trace(link)) == 1000
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["real"]


def test_the_mode_of_the_older_file_stays(tmp_path):
    path = tmp_path / "a.swf"
    before = os.umask(0o027)
    try:
        write_trace(jobs(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write_trace(jobs(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_file_that_changes_while_it_is_written_is_not_replaced(tmp_path):
    path = tmp_path / "a.swf"

    def written(over, meanwhile):
        with whole_file(path, over) as out:
            out.write(b"ours")
            meanwhile()

    with pytest.raises(InputError, match="left alone"):
        written(TRACES["swf"], lambda: path.write_text("theirs, just now\n"))
    assert path.read_text() == "theirs, just now\n"
    path.unlink()
    with pytest.raises(InputError, match="was replaced by something other than a file"):
        written(None, lambda: os.mkfifo(path))
    assert [one.name for one in tmp_path.iterdir()] == ["a.swf"]


def test_names_as_long_as_they_may_be_and_names_with_line_ends(tmp_path):
    for name in ("n" * 251 + ".swf", "é" * 125 + ".swf", "a\nb.swf", " .swf", "-.swf"):
        write_trace(jobs(), tmp_path / name)
        write_trace(jobs(), tmp_path / name, force=False)
        assert len(read_trace(tmp_path / name)) == 2
    with pytest.raises(InputError, match="File name too long"):
        write_trace(jobs(), tmp_path / ("n" * 252 + ".swf"))


def commands(out):
    """Every command that writes one file, with the name of the file."""
    swf, mwf = str(SAMPLE), str(MODULAR)
    recipe = str(ROOT / "workloads" / "sample-1000.yaml")
    return {
        "convert": (["convert", swf], out / "a.mwf", []),
        "convert to": (["convert", mwf], out / "a.csv", []),
        "generate": (["generate", recipe, "--seed", "3"], out / "b.swf", ["--out"]),
        "fit": (["generate", "--fit", swf], out / "c.yaml", ["--out"]),
        "fit scaling": (["fit", "scaling", str(POINTS)], out / "d.yaml", ["--out"]),
        "inspect": (["inspect", swf], out / "e.png", ["--plot"]),
    }


@pytest.mark.parametrize("name", commands(ROOT))
def test_every_command_follows_the_rule(tmp_path, name, capsys):
    words, path, option = commands(tmp_path)[name]
    command = [*words, *option, str(path)]
    foreign = SYSTEM if path.suffix == ".yaml" else "mine\n"
    path.write_text(foreign)
    assert main(command) == 2
    assert "left alone; allowed: another name, or --force" in capsys.readouterr().err
    assert path.read_text() == foreign
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert main([*command, "--force"]) == 0
    first = path.read_bytes()
    assert first != foreign.encode()
    assert main(command) == 0  # over its own
    assert path.read_bytes() == first
    if name.startswith("convert"):  # an empty file is nobody's, see above
        path.write_bytes(b"")
        assert main(command) == 0
        assert path.read_bytes() == first


def test_a_picture_beside_what_is_written_follows_the_rule(tmp_path, capsys):
    (tmp_path / "c.png").write_text("holiday")
    (tmp_path / "d-tree.png").write_text("holiday")
    for name in ("fit", "fit scaling"):
        words, path, option = commands(tmp_path)[name]
        assert main([*words, *option, str(path)]) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c.png", "d-tree.png"]
    assert "not a picture that scheduler-sim drew" in capsys.readouterr().err


def test_report_follows_the_rule(tmp_path, capsys):
    behind_a_shadow().save(tmp_path / "run")
    for name in ("x.html", "x.json", "x.csv", "x.parquet", "x.paje"):
        path = tmp_path / name
        path.write_text("mine")
        assert main(["report", str(tmp_path / "run"), "--out", str(path)]) == 2
        assert path.read_text() == "mine"
        for more in (["--force"], []):
            assert main(["report", str(tmp_path / "run"), "--out", str(path), *more]) == 0
    before = (tmp_path / "run" / "components.parquet").stat().st_ino
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "run" / "components.parquet")]) == 2
    assert (tmp_path / "run" / "components.parquet").stat().st_ino == before
    (tmp_path / "run" / "report.html").write_text("mine")
    assert main(["report", str(tmp_path / "run")]) == 2
    assert (tmp_path / "run" / "report.html").read_text() == "mine"
    assert Result.load(tmp_path / "run")
