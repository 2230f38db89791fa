"""How commands end: Ctrl-C, SIGTERM, closed pipes, mistakes of ours, too little memory; how they begin."""

from __future__ import annotations

import gzip
import os
import pty
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from tqdm import tqdm

from scheduler_sim import Result, Workload, __version__, write_trace
from scheduler_sim.cli import inspect as inspect_command
from scheduler_sim.cli import terminal
from tests.cli.command import CLUSTER, ROOT, SAMPLE, process, started

PATIENCE_S = 60


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory):
    """A trace whose queue grows for ever, so that conservative backfilling takes minutes."""
    random = np.random.RandomState(1)
    count = 60_000
    limit = random.randint(100, 100_000, count)
    columns = (limit * random.random_sample(count), random.randint(1, 64, count), limit)
    path = tmp_path_factory.mktemp("long") / "long.swf"
    with path.open("w") as file:
        for i, (run, nodes, most) in enumerate(zip(*columns, strict=True)):
            file.write(
                f"{i + 1} {i * 5000} -1 {int(run) + 1} {nodes} -1 -1 {nodes} {most} -1 1 1 1 1 1 -1 -1 -1\n"
            )
    return path


@pytest.fixture(scope="module")
def compiled():
    """The loop that these tests interrupt is in the cache."""
    assert process("run", CLUSTER, SAMPLE, "--policy", "conservative", "--quiet").code == 0


def on_a_terminal(*arguments):
    """Start a command whose stderr is a terminal; return it and a function that reads until a word comes."""
    ours, theirs = pty.openpty()
    running = started(
        *arguments, stdout=subprocess.PIPE, stderr=theirs, extra={"TERM": "xterm", "COLUMNS": "120"}
    )
    os.close(theirs)
    seen = b""

    def read_until(word: bytes) -> str:
        nonlocal seen
        with suppress(OSError):  # the other side is closed
            while word not in seen:
                seen += os.read(ours, 4096)
        return seen.decode(errors="replace")

    return running, read_until


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.long
def test_ctrl_c_during_a_long_run(compiled, long_trace, tmp_path, older):
    out = tmp_path / "result"
    if older:
        assert process("run", CLUSTER, SAMPLE, "--out", out, "--quiet").code == 0
    running, read_until = on_a_terminal("run", CLUSTER, long_trace, "--policy", "conservative", "--out", out)
    with running:
        shown = read_until(b"simulating")  # progress appears after two seconds
        assert "simulating" in shown
        asked = time.monotonic()
        running.send_signal(signal.SIGINT)
        told = read_until(b"interrupted: ")
        told = read_until(b"kept" if older else b"written")
        assert running.wait(PATIENCE_S) == 130
        assert time.monotonic() - asked < 5
        assert "Traceback" not in told
    if older:
        assert f"the older result in {out} is kept" in told
        assert len(Result.load(out).components) == 1000
        assert [path.name for path in tmp_path.iterdir()] == ["result"]
    else:
        assert "nothing was written" in told
        assert not list(tmp_path.iterdir())


def test_ctrl_c_while_the_progress_is_drawn(cli, monkeypatch):
    """The line is drawn whole and taken off, and the last word is heard."""
    drawn, refresh = [], tqdm.refresh

    def interrupted(bar):
        drawn.append(bar.n)
        if bar.n:
            signal.raise_signal(signal.SIGINT)
        refresh(bar)
        drawn.append("whole")

    monkeypatch.setattr(tqdm, "refresh", interrupted)
    monkeypatch.setattr(terminal, "PATIENCE_S", 0)
    monkeypatch.setattr(terminal, "BETWEEN_S", 0)
    monkeypatch.setattr(terminal, "Thread", lambda **_: Mock())  # the main thread draws
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # else a shell's background jobs ignore it
    try:
        ended = cli("run", CLUSTER, SAMPLE, "--policy", "fcfs")
    finally:
        signal.signal(signal.SIGINT, before)
    assert drawn[-1] == "whole"
    assert any(count for count in drawn if count != "whole")
    assert ended.code == 130
    assert ended.err.endswith("scheduler-sim: interrupted: nothing was written\n")


def test_sigterm_ends_cleanly(cli, monkeypatch, tmp_path):
    """It comes when all has been simulated, and the result is about to be written."""
    assert threading.current_thread() is threading.main_thread(), "else the signal ends the tests"
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(Result, "save", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    ended = cli("run", CLUSTER, SAMPLE, "--policy", "fcfs", "--out", tmp_path / "r")
    assert ended.code == 143
    assert "Traceback" not in ended.err
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.long
def test_sigterm_during_a_long_run(compiled, long_trace, tmp_path):
    running, read_until = on_a_terminal(
        "run", CLUSTER, long_trace, "--policy", "conservative", "--out", tmp_path / "r"
    )
    with running:
        read_until(b"simulating")
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_S) == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_sigterm_ends_slurm_in_time_without_events(tmp_path):
    """While somebody waits, usage that does not decay grows: priorities are computed 333 million times."""
    trace, rest = tmp_path / "long.swf", "-1 1 1 1 1 1 -1 -1 -1\n"
    trace.write_text(f"1 0 -1 {10**11} 128 -1 -1 128 {10**11} {rest}2 5 -1 10 128 -1 -1 128 100 {rest}")
    keys = {"PriorityType": "priority/multifactor", "PriorityWeightFairshare": 1, "PriorityDecayHalfLife": 0}
    settings = [f"--set=policy.slurm.{key}={value}" for key, value in keys.items()]
    running, read_until = on_a_terminal("run", CLUSTER, trace, "--policy", "slurm", *settings)
    with running:
        read_until(b"simulating")
        time.sleep(1)
        asked = time.monotonic()
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_S) == 143
        assert time.monotonic() - asked < 10


def _has_worked(running, seconds):
    """Wait until a process has had so much processor time: however busy the machine, it has started then."""
    ticks = os.sysconf("SC_CLK_TCK")
    while running.poll() is None:
        user, system = Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        if int(user) + int(system) >= seconds * ticks:
            return
        time.sleep(0.1)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc that tells processor times")
@pytest.mark.long
def test_no_progress_where_nobody_looks(compiled, long_trace):
    running = started("run", CLUSTER, long_trace, "--policy", "conservative")
    with running:
        _has_worked(running, 5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert (out, err) == ("", "scheduler-sim: interrupted: nothing was written\n")


@pytest.mark.long
def test_the_first_run_says_that_it_compiles(tmp_path):
    settings = {"extra": {"SCHEDULER_SIM_CACHE_DIR": str(tmp_path)}}
    first = process("run", CLUSTER, SAMPLE, "--policy", "fcfs", **settings)
    assert first.code == 0
    assert "compiling the engine for this policy, once on this machine" in first.err
    again = process("run", CLUSTER, SAMPLE, "--policy", "fcfs", **settings)
    assert (again.code, again.err) == (0, "")


@pytest.mark.parametrize(
    "command", [("inspect", SAMPLE), pytest.param(("run", CLUSTER, SAMPLE), marks=pytest.mark.long)]
)
def test_a_reader_that_has_seen_enough(command):
    read, write = os.pipe()
    os.close(read)
    with started(*command, stdout=write) as running:
        os.close(write)
        _, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, err) == (0, "")


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_closed_streams(closed, tmp_path):
    """What is printed goes nowhere; what is written is whole, and no file takes the place of a stream."""

    def close():
        for number in closed:
            os.close(number)

    out = tmp_path / "t.csv"
    assert process("convert", SAMPLE, out, preexec_fn=close).code == 0
    assert len(out.read_text().splitlines()) == 1001
    ended = process("inspect", "nowhere.swf", preexec_fn=close)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == ("" if 2 in closed else "scheduler-sim: nowhere.swf: no such file\n")


@pytest.mark.parametrize("command", [("inspect", SAMPLE), ("schema", "policy"), ("--help",)])
def test_nothing_fails_over_a_closed_stdout(command):
    assert process(*command, preexec_fn=lambda: os.close(1)).code == 0


def test_a_reader_that_has_seen_enough_before_the_work_is_done(tmp_path):
    """Notes come before a file is written; nobody who reads them decides over it."""
    read, write = os.pipe()
    os.close(read)
    with started("convert", SAMPLE, str(tmp_path / "t.csv"), stdout=write, stderr=write) as running:
        os.close(write)
        running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1001


def test_a_mistake_of_ours_is_one_line(cli, monkeypatch):
    def broken(path):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(inspect_command, "_trace", broken)
    ended = cli("inspect", SAMPLE)
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "internal error, please report it: ZeroDivisionError: oops" in ended.err
    monkeypatch.setenv("SCHEDULER_SIM_DEBUG", "1")
    assert "Traceback" in cli("inspect", SAMPLE).err


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_a_failure(unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "w") as full:
        ended = process("inspect", SAMPLE, stdout=full)
    assert ended.code == 1
    assert ended.err.startswith("scheduler-sim: cannot write what is printed: the device is full\n")
    assert "Traceback" not in ended.err


def test_what_is_too_large_for_the_memory(cli, monkeypatch, tmp_path):
    def read(*arguments):
        raise MemoryError

    monkeypatch.setattr(inspect_command, "_trace", read)
    ended = cli("inspect", SAMPLE)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "scheduler-sim: the input is too large for the memory of this machine; nothing was written\n"
    )


@pytest.mark.long
def test_a_trace_too_large_for_the_memory(tmp_path):
    record = "1 {} -1 100 4 -1 -1 4 200 -1 1 2 3 15 1 -1 -1 -1\n"
    path = tmp_path / "large.swf.gz"
    block = "".join(record.format(i) for i in range(100_000)).encode()
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(15):
            file.write(block)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    ended = process(
        "run", CLUSTER, path, "--policy", "fcfs", "--out", tmp_path / "result",
        preexec_fn=limit, extra={"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ended.code == 2
    assert "too large for the memory of this machine" in ended.err
    assert "Traceback" not in ended.err
    assert [p.name for p in tmp_path.iterdir()] == ["large.swf.gz"]


def test_ascii_terminals(tmp_path):
    ended = process("inspect", SAMPLE, extra={"PYTHONIOENCODING": "ascii"})
    assert ended.code == 0
    assert "####" in ended.out


@pytest.mark.parametrize(
    "command", ["", "run", "study", "report", "generate", "convert", "inspect", "explain"]
)
def test_help_has_an_example(cli, command):
    ended = cli(*filter(None, [command]), "--help")
    assert ended.code == 0
    assert "example" in ended.out
    assert f"scheduler-sim {command}".rstrip() in ended.out
    for later in ("fit ",):
        assert f"scheduler-sim {later}" not in ended.out


def test_version(cli):
    assert cli("--version").out == f"scheduler-sim {__version__}\n"


def modules_of(*arguments):
    """The modules that a command loads."""
    code = (
        "import sys; from scheduler_sim.cli.main import main\n"
        f"try: main({list(map(str, arguments))})\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split("LOADED")[1].split())


def loaded_by(*arguments):
    """The packages that a command loads."""
    return {name.split(".")[0] for name in modules_of(*arguments)}


HEAVY = {"numpy", "pandas", "numba", "llvmlite", "pyarrow", "matplotlib", "tqdm", "pydantic", "scipy"}


def test_help_loads_nothing_heavy():
    for arguments in (["--help"], ["--version"], ["run", "--help"], ["study", "--help"]):
        assert not loaded_by(*arguments) & {*HEAVY, "importlib.metadata", "email"}


def test_commands_load_what_they_use():
    assert not loaded_by("inspect", SAMPLE) & {"matplotlib", "tqdm", "scipy", "numba"}


OTHERS = tuple(
    f"scheduler_sim.{name}"
    for name in (
        *("engine.compiler", "engine.rules.slurm", "engine.rules.power_saving.switching"),
        *("simulation.rules.slurm", "simulation.metering", "applications.models", "energy.layer"),
        *("system.slurm_conf.site", "workload.mwf_writer", "workload.sacct", "workload.table_files"),
        *("study", "generation"),
    )
)


def test_a_run_loads_what_it_needs(tmp_path):
    """Once its loop is compiled: no compiler, and of rules, models and readers those that it has."""
    command = ("run", CLUSTER, SAMPLE, "--policy", "easy", "--out", tmp_path / "result", "--force")
    modules_of(*command)
    loaded = modules_of(*command)
    assert not {name.split(".")[0] for name in loaded} & {"numba", "scipy", "matplotlib", "tqdm", "bokeh"}
    assert not [name for name in loaded if name.startswith(OTHERS)]


@pytest.mark.parametrize("ending", ["swf", "mwf", "parquet"])
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
def test_a_run_does_without_pandas(tmp_path, ending, policy):
    """The package is there by name alone: what makes it up is loaded with the first of its names."""
    trace = tmp_path / f"jobs.{ending}"
    jobs = Workload.from_columns(
        nodes=[4, 2, 1], submit_time=[0, 5, 5], run_time=[60, 30, 0], user=list("aba")
    )
    write_trace(jobs, trace)
    command = ("run", CLUSTER, trace, "--policy", policy, "--out", tmp_path / "result", "--quiet")
    assert "pandas.core" not in modules_of(*command)
    assert len(Result.load(tmp_path / "result").components) == 3


def test_what_is_not_loaded_yet_is_as_if_it_were():
    code = (
        "import sys; from scheduler_sim.cli.light_start import load_when_needed\n"
        "load_when_needed('pandas')\n"
        "import pandas as pd, pandas\n"
        "assert 'pandas.core' not in sys.modules and pd is pandas\n"
        "from pandas.api.types import is_string_dtype\n"
        "assert 'pandas.core' in sys.modules and type(pd).__name__ == 'module'\n"
        "load_when_needed('pandas'); load_when_needed('no_such_package')\n"
        "assert sys.modules['pandas'] is pd and 'no_such_package' not in sys.modules\n"
        "print(pd.DataFrame({'a': [1]}).a.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[1]\n"
