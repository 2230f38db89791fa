"""Dumps of sacct in other forms than --parsable2: separators, widths, JSON, texts with line ends, times."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise

import pytest

from scheduler_sim import read_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.workload.sacct_rows import FREE_TEXT
from tests.conftest import ROOT
from tests.workload.records import write
from tests.workload.sacct_dump import JOB, TEN, dump, lines

#: Three jobs and a step: one with texts that need care, one that has not ended.
ROWS = (
    {"AllocTRES": "billing=8,cpu=96,mem=16G,node=2", "SubmitLine": "sbatch job.sh"},
    {"JobID": "7.batch", "JobIDRaw": "7.batch", "AllocTRES": "cpu=96,node=2", "SubmitLine": ""},
    {"JobID": "9_3", "JobIDRaw": "9", "JobName": "a b^c", "AllocTRES": "cpu=96,node=2",
     "SubmitLine": "sbatch -x 3,4; --wrap ls"},
    {"JobID": "10", "JobIDRaw": "10", "State": "RUNNING", "End": "Unknown", "AllocTRES": "cpu=96,node=2",
     "SubmitLine": "srun ./a"},
)  # fmt: skip


def cells():
    return [line.split("|") for line in lines(*ROWS)]


def seen(jobs):
    return {
        name: jobs[name].tolist()
        for name in ("component_id", "array_task_id", "name", "submit_time", "nodes", "cores", "skipped")
    }


def plain(tmp_path):
    return seen(read_trace(dump(tmp_path, *ROWS)))


@pytest.mark.parametrize(
    "between", ["|", ",", "\t", ";", "^|^", "||", "~", " | ", "@@", ":=:"], ids=lambda text: repr(text)
)
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.log", "t", "t.swf", "t.csv.gz", "t.json", "t.parquet"])
def test_any_separator_under_any_name(tmp_path, between, name):
    jobs = read_trace(write(tmp_path / name, [between.join(row) for row in cells()]))
    assert seen(jobs) == plain(tmp_path)
    assert "1 job step left out" in jobs.source.notes


@pytest.mark.parametrize("options", [{}, {"delimiter": ";", "quoting": csv.QUOTE_ALL}, {"delimiter": "\t"}])
@pytest.mark.parametrize("numbered", [False, True])
def test_tables_as_programs_write_them(tmp_path, options, numbered):
    """With quotation marks where there have to be, and perhaps numbers of rows before them."""
    out = io.StringIO()
    rows = [[*([i or ""] if numbered else []), *row] for i, row in enumerate(cells())]
    csv.writer(out, lineterminator="\n", **options).writerows(rows)
    jobs = read_trace(write(tmp_path / "t.csv", out.getvalue().encode()))
    assert seen(jobs) == plain(tmp_path)
    assert jobs["name"].tolist()[1] == "a b^c"


def test_lower_case_and_any_order(tmp_path):
    rows = [row[::-1] for row in cells()]
    rows[0] = [name.lower() for name in rows[0]]
    assert seen(read_trace(write(tmp_path / "t.csv", ["|".join(r) for r in rows]))) == plain(tmp_path)


def test_the_format_that_is_asked_for_goes_before_the_content(tmp_path):
    text = [
        "JobID|State|Submit|Start|End|NNodes",
        "7|COMPLETED|100|110|160|2",
        "7.batch|COMPLETED|100|110|160|2",
    ]
    path = write(tmp_path / "t.csv", text)
    assert len(read_trace(path)) == 1
    assert len(read_trace(path, "csv")) == 2


def test_a_table_of_others_with_a_job_id_stays_one(tmp_path):
    text = ["JobID,User,Submit,Start,End,Nodes,Project", "7,ada,100,110,160,2,x"]
    jobs = read_trace(write(tmp_path / "t.csv", text))
    assert jobs.source.format == "csv"
    assert jobs["run_time"].tolist() == [50]


def test_a_table_with_the_names_and_states_of_others_stays_one(tmp_path):
    text = ["jobid,user,submit,start,end,nnodes,state", "7,ada,100,110,160,2,done"]
    assert read_trace(write(tmp_path / "t.csv", text)).source.format == "csv"
    text[1] = text[1].replace("done", "COMPLETED")
    assert read_trace(write(tmp_path / "t.csv", text)).source.format == "sacct"


def fixed(rows, widths):
    """As sacct prints without --parsable: cut with +, to the right."""
    cut = [
        [word if len(word) <= w else word[: w - 1] + "+" for word, w in zip(r, widths, strict=True)]
        for r in rows
    ]
    text = [" ".join(word.rjust(w) for word, w in zip(row, widths, strict=True)) for row in cut]
    return [text[0], " ".join("-" * w for w in widths), *text[1:]]


def test_columns_of_fixed_width(tmp_path):
    names = ["JobID", "JobName", "State", "Submit", "Start", "End", "Elapsed", "NNodes", "NCPUS"]
    when = ["2026-03-02T10:00:00", "2026-03-02T10:00:30", "2026-03-02T10:01:30", "00:01:00", "2", "96"]
    rows = [names, ["7", "a-very-long-name", "OUT_OF_MEMORY", *when], ["7.batch", "b", "COMPLETED", *when]]
    path = write(tmp_path / "t.txt", fixed(rows, [12, 10, 10, 19, 19, 19, 10, 8, 6]))
    jobs = read_trace(path)
    assert (len(jobs), jobs["status"].tolist(), jobs["run_time"].tolist()) == (1, [1], [60])
    assert jobs["cores"].tolist() == [48]
    default = [["JobID", "JobName", "State"], ["7", "x", "COMPLETED"]]
    with pytest.raises(TraceError, match=r"no column Submit; allowed: .*sacct --parsable2 --format=JobID,"):
        read_trace(write(tmp_path / "u.txt", fixed(default, [12, 10, 10])))


def test_without_a_header_the_way_to_one_is_told(tmp_path):
    for name in ("t.txt", "t.csv", "t.sacct"):
        path = write(tmp_path / name, lines({})[1:])
        with pytest.raises(
            TraceError, match=r":1: no header of sacct.*its 17 columns.*sacct without --noheader"
        ):
            read_trace(path)


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t"])
@pytest.mark.parametrize("between", ["|", ",", "\t", ";", "^|^", " | "])
def test_so_it_is_with_any_separator(tmp_path, between, name):
    row = ["7_1", "x", "a,b" if between != "," else '"a,b"', "COMPLETED", "2026-03-02T10:00:00"]
    shown = re.escape(between.strip(" ").replace("\t", "\\t"))
    told = rf":1: no header of sacct.*its 5 columns.*printf 'JobID{shown}JobName{shown}\.\.\.\\n'; cat {name}"
    with pytest.raises(TraceError, match=told):
        read_trace(write(tmp_path / name, [between.join(row)]))


def test_widths_without_a_header_cannot_be_told(tmp_path):
    rows = [["JobID", "JobName", "State"], ["7", "x", "COMPLETED"]]
    path = write(tmp_path / "t.txt", fixed(rows, [12, 10, 10])[2:])
    with pytest.raises(TraceError, match=r"no header of sacct.*allowed: sacct without --noheader: .*widths"):
        read_trace(path)


def test_what_is_cut_to_a_width_says_how_to_print_the_whole(tmp_path):
    rows = [["JobID", "State", "Submit", "Elapsed", "NNodes"]]
    rows += [["7", "COMPLETED", "2026-03-02T10:00:00", "00:01:00", "2"]]
    path = write(tmp_path / "t.txt", fixed(rows, [12, 10, 10, 10, 8]))
    with pytest.raises(TraceError, match=r"cut to the width.*field Submit; .*--parsable2, or Submit%40"):
        read_trace(path)


def test_marks_around_every_field_are_no_part_of_it(tmp_path):
    path = write(tmp_path / "t.csv", [",".join(f'"{word}"' for word in row) for row in cells()])
    assert seen(read_trace(path)) == plain(tmp_path)


@pytest.mark.parametrize(
    ("job", "at", "text"),
    [
        ({"JobName": "run_a\n"}, 1, "run_a"),
        ({"JobName": "a\n\nb|c"}, 1, "a b|c"),
        ({"JobName": "a\n14|x"}, 1, "a 14|x"),
        ({"SubmitLine": "sbatch --wrap date |\nhostname"}, 1, "cfd"),
        ({"JobName": "a|b", "SubmitLine": 'sbatch -J "a|b" --wrap "x |\ny"'}, 1, "a|b"),
        ({"Comment": "one\ntwo|three\nfour", "WorkDir": "/x|y"}, 1, "cfd"),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_line_ends_and_separators_within_texts(tmp_path, job, at, text, last):
    """The record ends where its number of columns is reached, and the next begins with a number."""
    before, after = {"JobID": "5", "JobIDRaw": "5"}, {"JobID": "8", "JobIDRaw": "8", "User": "ben"}
    path = dump(tmp_path, before, job, *(() if last else (after,)))
    jobs = read_trace(path)
    assert jobs["component_id"].tolist() == ([5, 7] if last else [5, 7, 8])
    assert jobs["name"].tolist()[at] == text
    assert jobs["nodes"].tolist() == [2] * len(jobs)
    assert jobs["user"].tolist()[at] == "ada"
    assert any("a line end within a text" in note for note in jobs.source.notes)


def test_rows_of_which_too_little_is_there(tmp_path):
    """A line that was cut short does not take the next job with it; the error counts all such lines."""
    whole = lines({"JobIDRaw": 5}, {"JobIDRaw": 6}, {"JobIDRaw": 8}, {"JobIDRaw": 9})
    cut = [*whole[:2], "7|7|run", whole[2], "oops", whole[3], "7|7|cut|ada"]
    path = write(tmp_path / "t.sacct", cut)
    told = (
        r"t\.sacct:3: too few fields; found 3; allowed: 17, .*3 such lines beside 3 rows\); --on-error skip"
    )
    with pytest.raises(TraceError, match=told):
        read_trace(path)
    jobs = read_trace(path, on_error="skip")
    assert jobs["component_id"].tolist() == [5, 6, 8]
    assert "3 lines left out: 3 too few fields" in jobs.source.notes[-1]


def test_a_text_over_the_edge_of_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("scheduler_sim.workload.lines.BLOCK_BYTES", 64)
    jobs = read_trace(dump(tmp_path, {"JobName": "x\n" * 20}, {"JobID": "8", "JobIDRaw": "8"}))
    assert jobs["component_id"].tolist() == [7, 8]
    assert jobs["name"].tolist()[0] == " ".join("x" * 20)


@pytest.mark.parametrize(
    ("spelt", "seconds"),
    [
        ("2026-03-02T10:00:00+0100", TEN - 3600),
        ("2026-03-02T10:00:00-05:30", TEN + 19800),
        ("2026-03-02T10:00:00Z", TEN),
        ("2026-03-02 10:00:00", TEN),
        ("2026-03-02T10:00:00.25", TEN),
    ],
)
def test_times_in_other_forms(tmp_path, spelt, seconds):
    ends = dict.fromkeys(("Eligible", "Start", "End"), "2026-03-02T20:00:00Z")
    jobs = read_trace(dump(tmp_path, {"Submit": spelt, **ends}))
    assert jobs["submit_time"].tolist() == [seconds]


def test_times_that_nobody_can_read_say_how_to_print_others(tmp_path):
    with pytest.raises(TraceError, match=r"not a time; field Submit.*SLURM_TIME_FORMAT=%s before sacct"):
        read_trace(dump(tmp_path, {"Submit": "2 Mar 10:00"}))


@pytest.mark.parametrize("word", ["(null)", "N/A", "None assigned", "Unknown", "UNLIMITED", "INVALID"])
def test_words_of_slurm_for_nothing_say_nothing_in_any_column(tmp_path, word):
    silent = dict.fromkeys(
        ("Account", "QOS", "Constraints", "Licenses", "Reservation", "ReqMem", "Timelimit", "ReqTRES",
         "ReqGRES", "Dependency", "ExitCode", "Restarts", "ReqNodes"),
        word,
    )  # fmt: skip
    jobs = read_trace(dump(tmp_path, silent))
    for name in ("account", "qos", "constraint", "licences", "reservation", "gres", "dependency_ids"):
        assert jobs[name].tolist() == [""], name
    for name in ("memory_kb", "time_limit", "gpus", "listed_nodes"):
        assert jobs[name].tolist() == [-1], name


def test_columns_that_sacct_does_not_have_are_named(tmp_path):
    jobs = read_trace(dump(tmp_path, {"Constrains": "x", "Zzz": "red", "WorkDir": "/"}))
    assert jobs.source.notes == (
        "columns that are not of sacct, passed over: Constrains (did you mean 'Constraints'?), Zzz",
    )


def in_json(set_numbers, **changes):
    """A job as sacct --json prints it; since 23.02 with numbers that may not be set."""

    def number(value):
        if not set_numbers:
            return 0xFFFFFFFE if value is None else value
        return {"set": value is not None, "infinite": False, "number": value or 0}

    states = ["COMPLETED"] if set_numbers else "COMPLETED"
    tres = [
        {"type": "cpu", "name": "", "id": 1, "count": 96},
        {"type": "mem", "name": "", "id": 2, "count": 16384},
        {"type": "node", "name": "", "id": 4, "count": 2},
        {"type": "gres", "name": "gpu", "id": 1001, "count": 4},
    ]
    job = {
        "job_id": 7, "name": "c|f\nd", "user": "ada", "account": "fluids", "partition": "batch",
        "array": {"job_id": 0, "task_id": number(None), "task": ""},
        "het": {"job_id": 0, "job_offset": number(None)}, "qos": "normal",
        "state": {"current": states, "reason": "None"}, "allocation_nodes": 2, "constraints": "",
        "time": {"submission": 1772445600, "eligible": 1772445600, "start": 1772445630, "end": 1772445690,
                 "elapsed": 60, "limit": number(60)},
        "required": {"CPUs": 96, "memory_per_cpu": number(None), "memory_per_node": number(None)},
        "tres": {"allocated": tres, "requested": tres},
        "exit_code": {"status": "SUCCESS", "return_code": number(0) if set_numbers else 0},
        "steps": [{"step": {"id": "7.batch"}}],
    }  # fmt: skip
    return {**job, **changes}


@pytest.mark.parametrize("set_numbers", [False, True])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["t.json", "t.txt", "t", "t.csv", "t.json.gz"])
def test_json_of_sacct(tmp_path, set_numbers, indent, name):
    task = {"array": {"job_id": 9, "task_id": {"set": True, "infinite": False, "number": 3}, "task": ""}}
    jobs = [
        in_json(set_numbers),
        in_json(set_numbers, job_id=10, **task),
        in_json(set_numbers, job_id=11, state={"current": "RUNNING"}),
    ]
    text = json.dumps({"meta": {"plugin": {}}, "errors": [], "jobs": jobs}, indent=indent)
    found = read_trace(write(tmp_path / name, text.encode()))
    assert found["component_id"].tolist() == [7, 10, 11]
    assert found["array_task_id"].tolist() == [-1, 3, -1]
    assert found["name"].tolist()[0] == "c|f d"
    assert found["submit_time"].tolist()[0] == TEN
    assert found["time_limit"].tolist()[0] == 3600
    assert (found["memory_kb"].tolist()[0], found["cores"].tolist()[0], found["gpus"].tolist()[0]) == (
        8388608,
        48,
        2,
    )
    assert found["skipped"].tolist() == [0, 0, 4]
    assert "3 job steps left out" in found.source.notes


def test_json_that_is_none_of_sacct(tmp_path):
    for text, told in (
        ('{"jobs": [', "cannot be read as JSON"),
        ('{"jobs": [{"job_id": 7, "nodes": "n1"}]}', "jobs without time: this may be of another command"),
        ('{"jobs": [{"job_id": "x", "time": {}}]}', "job 1 of the list cannot be read"),
        ('{"jobs": []}', "no records"),
    ):
        with pytest.raises(TraceError, match=told):
            read_trace(write(tmp_path / "t.json", text.encode()), "sacct")


def test_a_job_in_json_that_cannot_be_read_is_left_out(tmp_path):
    jobs = [in_json(True, job_id=6), in_json(True, job_id="x"), in_json(True, job_id=8)]
    path = write(tmp_path / "t.json", json.dumps({"jobs": jobs}).encode())
    with pytest.raises(TraceError, match="job 2 of the list cannot be read"):
        read_trace(path)
    found = read_trace(path, on_error="skip")
    assert found["component_id"].tolist() == [6, 8]
    assert "1 line left out: 1 a job of the list that cannot be read" in found.source.notes[-1]


@pytest.mark.parametrize("page", ["replay-your-cluster.md", "how-to/predict.md"])
def test_the_commands_of_the_docs_keep_texts_apart(page):
    """No text beside another, so that all can be told; ReqTRES where GPUs are asked for."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (columns,) = re.findall(r"--format[= ](JobID,\S+)", text)
    texts = [column.lower() in FREE_TEXT for column in columns.split(",")]
    assert texts[-1]
    assert not any(one and other for one, other in pairwise(texts))
    assert ("AllocTRES" in columns) == ("ReqTRES" in columns)


def test_the_plain_job_is_in_all_of_them():
    assert cells()[1][: len(JOB)] == list(JOB.values())
