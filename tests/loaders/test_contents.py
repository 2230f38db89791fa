"""What a file is, its first lines say, whatever its name."""

from __future__ import annotations

import gzip
import json

import pytest

from scheduler_sim import read_trace, write_trace
from scheduler_sim.errors import TraceError
from tests.workload.records import mwf, swf, write
from tests.workload.sacct_dump import JOB, dump

NAMES = (
    "t.csv",
    "t.swf",
    "t.mwf",
    "t.txt",
    "t.log",
    "t",
    "t.parquet",
    "t.jsonl",
    "t.dat",
    "t.sacct",
    "t.csv.gz",
)
EVENT = "-dt 10 -e submit_batch_job | -sim-walltime 60 --uid=ann -J one -N 1 -t 3-00:00:00 -p batch one.job"
TABLE = "job_id,submit_time,start,end,nodes\n7,100,110,160,2\n"
CASES = {
    "swf": f"; Computer: x\n{swf()}\n",
    "mwf": f"# one\n{mwf()}\n",
    "jsonl": json.dumps({"id": 7, "submit_time": 0, "run_time": 60, "nodes": 2}) + "\n",
    "slurm-sim-events": f"{EVENT}\n",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", CASES)
def test_any_format_under_any_name(tmp_path, kind, name):
    jobs = read_trace(write(tmp_path / name, CASES[kind].encode()))
    own = {"swf": "t.swf", "mwf": "t.mwf", "jsonl": "t.jsonl"}.get(kind)
    says_another = name not in (own, "t.txt", "t.log", "t", "t.dat")
    assert len(jobs) == 1
    assert jobs.source.format == kind
    assert any("though its name says" in note for note in jobs.source.notes) == says_another


@pytest.mark.parametrize("name", ["t.csv", "t.swf", "t.txt", "t"])
def test_parquet_under_any_name(tmp_path, name):
    jobs = read_trace(dump(tmp_path, JOB))
    write_trace(jobs, tmp_path / "u.parquet")
    (tmp_path / name).write_bytes((tmp_path / "u.parquet").read_bytes())
    assert read_trace(tmp_path / name).table.equals(jobs.table)


@pytest.mark.parametrize("name", ["t.txt", "t", "t.swf", "t.dat", "t.log.gz"])
def test_tables_with_names_that_can_be_understood(tmp_path, name):
    assert read_trace(write(tmp_path / name, TABLE.encode()))["run_time"].tolist() == [50]


def test_packed_without_a_suffix(tmp_path):
    (tmp_path / "t").write_bytes(gzip.compress(CASES["swf"].encode()))
    assert len(read_trace(tmp_path / "t")) == 1


def test_the_format_that_is_given_goes_first(tmp_path):
    path = write(tmp_path / "t.csv", CASES["swf"].encode())
    with pytest.raises(TraceError, match="wrong number of fields"):
        read_trace(path, "csv")


def test_an_error_tells_why_it_was_read_so(tmp_path):
    text = "JobID|User|Submit|Start|End|NNodes\n7|ada|100|110|160|2\n"
    with pytest.raises(TraceError, match=r"no column State.*\n.*though its name says a table; --from csv"):
        read_trace(write(tmp_path / "t.csv", text.encode()))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("04/18/2021 09:00:00;E;7.pbs;user=ann ctime=1\n", "accounting log of PBS: --from pbs"),
        ('[{"jobid": 7}]\n', "list in JSON, as Philly's job log: --from philly"),
        ("JOBID|USER|STATE|TIME\n7|ann|RUNNING|1:00\n", "output of squeue, which predict takes"),
        ("1 0 -1 10 1 -1 -1 1 20 -1\n", "10 numbers may be a record of SWF.*--from swf"),
        ("a,b,c\n1,2,3\n", "a table of 3 columns: --from csv with --columns"),
        ("nothing at all\n", "found 'nothing at all'; allowed: --from with the format"),
    ],
)
def test_what_nothing_tells_is_refused_with_what_it_may_be(tmp_path, text, told):
    with pytest.raises(TraceError, match=f"unknown trace format: neither.*{told}"):
        read_trace(write(tmp_path / "t.log", text.encode()))
