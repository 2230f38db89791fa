"""``scheduler-sim predict``."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.interpreted

SITE = ROOT / "configs" / "systems" / "small-site.conf"
QUEUE = ROOT / "workloads" / "sample-squeue.txt"
HISTORY = ROOT / "workloads" / "sample-sacct.txt"
KNOWN = ("--queue", QUEUE, "--history", HISTORY)
FEW = ("--draws", 9, "--workers", 1)

SMALL_QUEUE = """\
JOBID|USER|STATE|TIME|START_TIME|TIME_LIMIT|NODES|SUBMIT_TIME|REASON
7|ann|RUNNING|1:00:00|2026-03-09T09:00:00|2:00:00|10|2026-03-09T08:00:00|None
8|\x1b[31mbob|PENDING|0:00|N/A|1:00:00|10|2026-03-09T08:30:00|Resources
9|ann|PENDING|0:00|N/A|1:00:00|10|2026-03-09T08:40:00|JobHeldUser
"""


@pytest.fixture
def small(tmp_path, system):
    """Write a queue of three, and a history in which all of two weeks took three quarters of their limit."""
    queue, history = tmp_path / "squeue.txt", tmp_path / "sacct.txt"
    queue.write_text(SMALL_QUEUE)
    times = [f"2026-03-0{1 + i % 8}T{i % 24:02}:00:00" for i in range(1, 400)]
    rows = [f"{i}|ann|COMPLETED|{time}|{time}|2700|01:00:00|1" for i, time in enumerate(times)]
    history.write_text("\n".join(["JobID|User|State|Submit|Start|ElapsedRaw|Timelimit|NNodes", *rows, ""]))
    return (system(), "--queue", queue, "--history", history)


def test_the_page_and_the_picture(cli, small, tmp_path):
    """The job that runs takes 1.5 h of its 2 h; then the other starts: at 10:30."""
    asked = ("--job", "nodes=10 time=30:00")
    ended = cli("predict", *small, *FEW, *asked, "--plot", tmp_path / "starts.png")
    assert (ended.code, ended.err) == (0, f"picture: {tmp_path / 'starts.png'}\n")
    assert (tmp_path / "starts.png").read_bytes().startswith(b"\x89PNG")
    for told in (
        r"^squeue.txt|under easy, from Mon 9 Mar 10:00 on",
        r"^  runs      1 job$",
        r"^  waits     1 job; left out, because they wait for something else: 1 JobHeldUser$",
        r"^  history   399 jobs that had ended",
        r"^  8 +.*bob +- +10 +1:00:00 +Mon 9 Mar 10:30 +Mon 9 Mar 10:30 +Mon 9 Mar 10:30 +Mon 9 Mar 11:00$",
        r"^  A job submitted now:$",
        r"^ +10 +0:30:00 +Mon 9 Mar 1\d:\d\d .* Mon 9 Mar 12:00$",
        r"^ +10 +0:15:00 ",
        r"^  None of the others starts much sooner than the first.$",
    ):
        assert re.search(told, ended.out, re.M), f"{told}\n{ended.out}"
    assert "\x1b" not in ended.out
    assert cli("predict", *small, *FEW, *asked).out == ended.out


@pytest.mark.compiled
def test_the_same_on_two_processes_and_on_dask(cli, small):
    """30 draws are two pieces of work."""
    distributed = pytest.importorskip("distributed")
    here = cli("predict", *small, "--draws", 30, "--workers", 1)
    assert here.code == 0, here.err
    assert cli("predict", *small, "--draws", 30, "--workers", 2).out == here.out
    assert cli("predict", *small, "--draws", 30, "--workers", 1, "--seed", 1).code == 0
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        assert cli("predict", *small, "--draws", 30, "--dask", cluster.scheduler_address).out == here.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--policy", "slrum"), "did you mean"),
        (("--draws", 3), "--draws: found 3; allowed: an integer from 9"),
        (("--at", "noon"), "--at: found 'noon'; allowed: YYYY-MM-DDThh:mm:ss"),
        (("--at", "2026-03-09T08:00:00"), "was submitted or started after the instant"),
        (("--seed", -1), "--seed: found -1"),
        (("--workers", 0), "--workers: found 0"),
        (("--workers", 2, "--dask", "x"), "allowed: one of the two"),
        (("--job", "nodes=a"), "--job: nodes: found 'a'"),
        (("--job", "nodes=2 time=9 partition=gpu"), "--job: unknown partition 'gpu' in system"),
        (("--at", "2026-02-01T00:00:00"), "after the instant"),
        (("--plot", "starts.pdf"), "--plot: found 'starts.pdf'"),
    ],
)
def test_bad_input(cli, small, more, told):
    ended = cli("predict", *small, *more)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


def test_a_queue_in_which_nobody_waits(cli, small, tmp_path):
    queue = tmp_path / "squeue.txt"
    queue.write_text("".join(SMALL_QUEUE.splitlines(keepends=True)[:2]))
    ended = cli("predict", *small, *FEW)
    assert ended.code == 2
    assert "found no waiting job; allowed: at least one, or --job" in ended.err
    ended = cli("predict", *small, *FEW, "--job", "nodes=20 time=60")
    assert ended.code == 0, ended.err
    assert re.search(r"^ +20 +1:00:00 +never +never +never +never$", ended.out, re.M)


@pytest.fixture
def site(small, tmp_path):
    """Write the folder of a site with the same queue and history; bob has used a little."""
    folder = tmp_path / "site"
    folder.mkdir()
    for file in (small[2], small[4]):
        file.rename(folder / file.name)
    (folder / "slurm.conf").write_text(
        "ClusterName=brook\nAccountingStorageType=accounting_storage/slurmdbd\n"
        "PriorityType=priority/multifactor\nPriorityWeightFairshare=1000\nSelectType=select/linear\n"
        "NodeName=n[1-10]\nPartitionName=p Nodes=ALL\n"
    )
    (folder / "sshare.txt").write_text("Account|User|RawShares|RawUsage\nroot||1|30\n phys|bob|1|30\n")
    return folder


def test_the_folder_of_a_site(cli, site):
    """It is predicted under its own Slurm, whose schedulers look within a minute: the job starts at 10:30."""
    ended = cli("predict", site, *FEW)
    assert ended.code == 0, ended.err
    for told in (
        r"^  squeue.txt +the queue, for predictions$",
        r"^  sshare.txt +usage of 1 user, for predictions$",
        r"under slurm, from Mon 9 Mar 10:00 on",
        r"^  8 +.*bob +- +10 +1:00:00 +Mon 9 Mar 10:3[01] .* Mon 9 Mar 11:0[01]$",
    ):
        assert re.search(told, ended.out, re.M), f"{told}\n{ended.out}"
    assert "under easy, from" in cli("predict", site, *FEW, "--policy", "easy").out


def test_nodes_out_of_service_and_reservations_of_a_site(cli, site):
    """A reservation that begins while a job runs on its nodes; a node that is out of service for a day."""
    (site / "reservations.txt").write_text(
        "ReservationName=r StartTime=2026-03-09T10:15:00 EndTime=2026-03-09T16:00:00 Nodes=n[1-10]"
        " Users=root\n"
    )
    ended = cli("predict", site, *FEW)
    assert re.search(r"^  8 .*10 +1:00:00 +Mon 9 Mar 16:00 .* Mon 9 Mar 16:0[01]$", ended.out, re.M), (
        ended.out
    )
    event = "NodeName|TimeStart|TimeEnd|State\nn1|2026-03-08T09:00:00|Unknown|{}\n"
    (site / "sacctmgr_event.txt").write_text(event.format("DRAIN"))
    ended = cli("predict", site, *FEW, "--policy", "easy")
    assert re.search(r"^  8 .*10 +1:00:00 +never +never +never +never$", ended.out, re.M), ended.out
    (site / "sacctmgr_event.txt").write_text(event.format("DOWN"))
    ended = cli("predict", site, *FEW, "--policy", "easy")
    assert (ended.code, "job 7 runs, but would not start on this system" in ended.err) == (
        2,
        True,
    )


def test_a_folder_and_files_that_do_not_go_together(cli, site, small):
    for options, told in (
        ((site, "--queue", QUEUE), "allowed: a folder alone, whose files they are"),
        (
            (SITE, "--queue", QUEUE),
            "--history: not given; allowed: a file, or the folder of a site as SYSTEM",
        ),
    ):
        ended = cli("predict", *options)
        assert (ended.code, told in ended.err) == (2, True), ended.err
    (site / "squeue.txt").unlink()
    assert "found no squeue.txt; allowed: a folder with what squeue printed" in cli("predict", site).err


def test_the_sample_is_of_the_sample_dump():
    """Made anew it is the same, and what ran fits on the site."""
    import runpy

    text = QUEUE.read_text(encoding="utf-8")
    script = runpy.run_path(str(ROOT / "workloads" / "queue_like.py"))
    assert [line for job in script["rows_of"]() if (line := script["_line"](job))] == text.splitlines()[2:]
