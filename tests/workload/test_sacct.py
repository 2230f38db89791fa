"""Dumps of sacct as traces: what each column becomes, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import read_trace, write_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.workload.fields import SKIP_REASONS
from tests.workload.records import write
from tests.workload.sacct_dump import TEN, dump, lines


def columns(workload, *names):
    return {name: workload[name].tolist() for name in names}


def test_a_plain_job(tmp_path):
    jobs = read_trace(dump(tmp_path, {}))
    said = {name: jobs[name].tolist()[0] for name in jobs.table}
    assert {name: value for name, value in said.items() if value not in ("", -1, 0)} == {
        "modular_job_id": 7, "component_id": 7, "components_total": 1, "name": "cfd", "user": "ada",
        "account": "fluids", "qos": "normal", "partition": "batch", "submit_time": TEN, "wait_time": 30,
        "run_time": 60, "time_limit": 3600, "listed_time_limit": 3600, "nodes": 2, "allocated_nodes": 2,
        "cores": 48,
    }  # fmt: skip
    assert jobs.source.header == (
        "; UnixStartTime: 1772409600",  # midnight, 2 March 2026
        "; Note: times are local times of the site, taken as UTC",
    )
    assert jobs.source.notes == ()
    assert jobs.not_honoured() == {}


def test_columns_go_by_name_in_any_order_and_case(tmp_path):
    plain = read_trace(dump(tmp_path, {}))
    rows = [line.split("|")[::-1] for line in lines({"NodeList": "n[1-2]", "WorkDir": "/home"})]
    other = write(
        tmp_path / "t.psv", ["|".join(name.upper() for name in rows[0]), *("|".join(r) for r in rows[1:])]
    )
    assert read_trace(other).table.equals(plain.table)


def test_second_0_is_the_midnight_before_the_first_submission(tmp_path):
    first, later = {"Submit": "2026-03-01T23:59:59"}, {"JobIDRaw": "8", "Submit": "2026-03-02T00:00:01"}
    assert read_trace(dump(tmp_path, later, first))["submit_time"].tolist() == [86401, 86399]


def test_times_since_1970_are_the_same_moments(tmp_path):
    plain = read_trace(dump(tmp_path, {}))
    moments = {"Submit": 1772445600, "Eligible": 1772445600, "Start": 1772445630, "End": 1772445690}
    jobs = read_trace(dump(tmp_path, moments))
    assert jobs.table.equals(plain.table)
    assert jobs.source.header == ("; UnixStartTime: 1772409600",)


@pytest.mark.parametrize(
    ("state", "started", "skipped", "status", "fails"),
    [
        ("COMPLETED", True, 0, 0, 0),
        ("FAILED", True, 0, 1, 1),
        ("TIMEOUT", True, 0, 1, 1),
        ("OUT_OF_MEMORY", True, 0, 1, 1),
        ("NODE_FAIL", True, 0, 1, 1),
        ("PREEMPTED", True, 0, 1, 1),
        ("REQUEUED", True, 0, 1, 1),
        ("CANCELLED by 1000", True, 0, 5, 1),
        ("CANCELLED+", False, 1, 5, 1),
        ("CANCELLED by 1000", False, 1, 5, 1),
        ("DEADLINE", False, 2, 1, 1),
        ("RUNNING", True, 4, -1, 1),
        ("PENDING", False, 4, -1, 1),
    ],
)
def test_states(tmp_path, state, started, skipped, status, fails):
    change = {} if started else {"Start": "None", "ElapsedRaw": 0}
    jobs = read_trace(dump(tmp_path, {"State": state, **change}))
    assert columns(jobs, "skipped", "status", "exit_code") == {
        "skipped": [skipped], "status": [status], "exit_code": [fails],
    }  # fmt: skip


def test_cancelled_at_the_start_is_cancelled_before_it_ran(tmp_path):
    """Old versions of sacct give a start to jobs that never ran: that of their end."""
    jobs = read_trace(dump(tmp_path, {"State": "CANCELLED by 0", "ElapsedRaw": 0}))
    assert SKIP_REASONS[jobs["skipped"][0]] == "cancelled before it ran"


def test_the_exit_code_is_that_of_the_job_with_signals_as_in_shells(tmp_path):
    said = [("FAILED", "3:0", 3), ("FAILED", "0:9", 137), ("FAILED", "0:0", 1), ("COMPLETED", "0:0", 0)]
    jobs = [
        {"JobIDRaw": i, "State": state, "ExitCode": code, "DerivedExitCode": "9:0"}
        for i, (state, code, _) in enumerate(said)
    ]
    assert read_trace(dump(tmp_path, *jobs))["exit_code"].tolist() == [code for *_, code in said]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        ("00:01:00", 60),
        ("30:00", 1800),
        ("90", 5400),
        ("2-12:00:00", 216000),
        ("1-6", 108000),
        ("UNLIMITED", -1),
        ("Partition_Limit", -1),
        ("", -1),
        ("00:00:00", -1),
    ],
)
def test_limits(tmp_path, limit, seconds):
    jobs = read_trace(dump(tmp_path, {"Timelimit": limit}))
    assert jobs["time_limit"].tolist() == [seconds]
    assert any("without a time limit" in note for note in jobs.source.notes) == (seconds == -1)


def test_a_raw_limit_is_minutes_and_goes_first(tmp_path):
    assert read_trace(dump(tmp_path, {"TimelimitRaw": "90"}))["time_limit"].tolist() == [5400]


@pytest.mark.parametrize(
    ("elapsed", "seconds"), [("00:01:40", 100), ("01:40.250", 100), ("3-00:00:01", 259201), ("00:00:00", 0)]
)
def test_run_times(tmp_path, elapsed, seconds):
    path = dump(tmp_path, {"Elapsed": elapsed}, without=["ElapsedRaw"])
    assert read_trace(path)["run_time"].tolist() == [seconds]


@pytest.mark.parametrize(
    ("said", "watts"),
    [
        ({"ConsumedEnergyRaw": "30000"}, 500),
        ({"ConsumedEnergy": "30.00K"}, 500),
        ({"ConsumedEnergyRaw": "30000", "ConsumedEnergy": "1K"}, 500),
        ({"ConsumedEnergyRaw": "0", "ConsumedEnergy": "1.5M"}, 25_000),
        ({"AllocTRES": "billing=2,cpu=96,energy=1500,node=2"}, 25),
        ({"ConsumedEnergyRaw": "30000", "State": "TIMEOUT"}, 500),
        ({"ConsumedEnergyRaw": "0"}, -1),
        ({"ConsumedEnergyRaw": ""}, -1),
        ({"ConsumedEnergyRaw": "18446744073709551614"}, -1),
        ({"ConsumedEnergyRaw": "30000", "ElapsedRaw": "0"}, -1),
    ],
)
def test_energy_over_the_time_run_is_the_measured_power(tmp_path, said, watts):
    """Of all nodes together, over the 60 s that it ran."""
    assert read_trace(dump(tmp_path, said))["measured_power_w"].tolist() == [watts]


def test_energies_that_cannot_be(tmp_path):
    jobs = read_trace(dump(tmp_path, {"ConsumedEnergyRaw": 10**12}))
    assert jobs["measured_power_w"].tolist() == [-1]
    assert "1 job with an impossible energy, taken as not measured" in jobs.source.notes
    with pytest.raises(TraceError, match="2: not an energy; field ConsumedEnergy; found 'much'; allowed: J"):
        read_trace(dump(tmp_path, {"ConsumedEnergy": "much"}))
    with pytest.raises(TraceError, match="2: not a frequency; field AveCPUFreq; found 'fast'; allowed: kHz"):
        read_trace(dump(tmp_path, {"AveCPUFreq": "fast"}))
    assert read_trace(dump(tmp_path, {"AveCPUFreq": "2.40G"}))["allocated_frequency_khz"].tolist() == [
        2_400_000
    ]


def test_what_its_limit_killed_would_have_run_on(tmp_path):
    """Slurm looks every 30 s: a job killed at its limit must be over it at the next look, too."""
    jobs = read_trace(dump(tmp_path, {"State": "TIMEOUT", "Timelimit": "00:01:00", "ElapsedRaw": 60}))
    assert jobs["run_time"].tolist() == [90]


def test_without_elapsed_the_run_time_is_from_start_to_end(tmp_path):
    assert read_trace(dump(tmp_path, {}, without=["ElapsedRaw"]))["run_time"].tolist() == [60]


@pytest.mark.parametrize(
    ("said", "nodes"),
    [
        ({"NNodes": 1536, "AllocNodes": "1.50K"}, 1536),
        ({"NNodes": "", "AllocNodes": "1.50K"}, 1536),
        ({"NNodes": "", "AllocTRES": "billing=8,cpu=8,mem=2G,node=4"}, 4),
        ({"NNodes": "", "ReqTRES": "cpu=8,node=5"}, 5),
        ({"NNodes": 0, "ReqNodes": 6}, 6),
        ({"NNodes": 2, "ReqNodes": 1}, 2),  # what it had, not the least it asked for
    ],
)
def test_nodes(tmp_path, said, nodes):
    assert read_trace(dump(tmp_path, said))["nodes"].tolist() == [nodes]


@pytest.mark.parametrize(
    ("said", "kb"),
    [
        ("4Gn", 4 << 20),
        ("2Gc", 96 << 20),  # 96 CPUs on 2 nodes
        ("3G", 3 << 19),  # of the whole job, on 2 nodes
        ("1.50G", 3 << 18),
        ("1K", 1),  # half a KB on each, rounded up
        ("100", 100 << 9),
        ("0n", -1),
        ("", -1),
    ],
)
def test_memory_is_that_of_a_node(tmp_path, said, kb):
    assert read_trace(dump(tmp_path, {"ReqMem": said}))["memory_kb"].tolist() == [kb]


def test_eligible_after_submission_is_a_begin_time(tmp_path):
    jobs = read_trace(
        dump(
            tmp_path,
            {"Eligible": "2026-03-02T10:00:20"},
            {"JobIDRaw": 8, "Eligible": "Unknown"},
            {"JobIDRaw": 9, "Eligible": "2026-03-02T09:59:00"},
        )
    )
    assert jobs["begin_time"].tolist() == [TEN + 20, -1, -1]


def test_arrays(tmp_path):
    jobs = read_trace(
        dump(
            tmp_path,
            {"JobID": "20_1", "JobIDRaw": 21},
            {"JobID": "20_12", "JobIDRaw": 22},
            {"JobID": "20_[13-19%4]", "JobIDRaw": 20, "State": "PENDING", "Start": "Unknown"},
            {"JobID": "23_[1,3,5,...", "JobIDRaw": 23, "State": "PENDING", "Start": "Unknown"},
        )
    )
    assert columns(jobs, "component_id", "array_job_id", "array_task_id", "array_limit", "skipped") == {
        "component_id": [21, 22, 20, 23],
        "array_job_id": [20, 20, 20, 23],
        "array_task_id": [1, 12, -1, -1],
        "array_limit": [4, 4, 4, -1],
        "skipped": [0, 0, 4, 4],
    }
    assert jobs["modular_job_id"].tolist() == [21, 22, 20, 23]  # each task is a job of its own


def test_tasks_without_raw_numbers_get_free_ones(tmp_path):
    path = dump(tmp_path, {"JobID": "20_1"}, {"JobID": "20_2"}, {"JobID": "30"}, without=["JobIDRaw"])
    jobs = read_trace(path)
    assert jobs["component_id"].tolist() == [31, 32, 30]
    assert jobs.source.notes == ("no JobIDRaw: 2 tasks of arrays got numbers above those of all jobs",)


@pytest.mark.parametrize("without", [[], ["JobIDRaw"]])
def test_heterogeneous_jobs(tmp_path, without):
    jobs = read_trace(
        dump(
            tmp_path,
            {"JobID": "40+0", "JobIDRaw": 40, "Partition": "CM"},
            {"JobID": "40+1", "JobIDRaw": 41, "Partition": "ESB"},
            {"JobID": "42", "JobIDRaw": 42},
            without=without,
        )
    )
    assert columns(jobs, "modular_job_id", "component_id", "components_total") == {
        "modular_job_id": [40, 40, 42], "component_id": [40, 41, 42], "components_total": [2, 2, 1],
    }  # fmt: skip
    assert jobs.not_honoured() == {"heterogeneous": 2}


def test_job_steps_are_left_out(tmp_path):
    steps = [{"JobID": f"7.{step}", "JobIDRaw": f"7.{step}", "User": ""} for step in ("batch", "extern", "0")]
    jobs = read_trace(dump(tmp_path, {}, *steps))
    assert len(jobs) == 1
    assert jobs.source.notes == ("3 job steps left out",)


def test_each_run_of_a_requeued_job_counts_and_the_last_has_its_number(tmp_path):
    late = {"Submit": "2026-03-02T11:00:00", "Start": "2026-03-02T11:00:05", "ElapsedRaw": 50}
    runs = [{**late, "JobIDRaw": 7}, {"State": "NODE_FAIL"}, {"JobIDRaw": 90}]
    jobs = read_trace(dump(tmp_path, *runs))
    assert columns(jobs, "component_id", "modular_job_id", "run_time", "skipped") == {
        "component_id": [7, 91, 90], "modular_job_id": [7, 91, 90], "run_time": [50, 60, 60],
        "skipped": [0, 0, 0],
    }  # fmt: skip
    assert jobs.source.notes == ("1 run followed by another run of the same job got unused numbers",)


def test_dependencies_follow_the_last_run(tmp_path):
    again = {"JobID": "3_5", "JobIDRaw": 4, "Submit": "2026-03-02T11:00:00"}
    first, other = {"JobID": "3_5", "JobIDRaw": 4, "State": "NODE_FAIL"}, {"JobID": "3_6", "JobIDRaw": 3}
    waiting = [{"JobIDRaw": 10 + i, "Dependency": text} for i, text in enumerate(("afterok:3", "afterok:4"))]
    jobs = read_trace(
        dump(tmp_path, first, again, other, *waiting, {"JobIDRaw": 12, "Dependency": "afterok:3_5"})
    )
    assert jobs.dependencies()[["row", "after_row"]].values.tolist() == [[3, 1], [3, 2], [4, 1], [5, 1]]


def test_runs_of_a_heterogeneous_job_are_jobs_of_their_own(tmp_path):
    late = {"Submit": "2026-03-02T11:00:00"}
    parts = [{"JobID": "40+0", "JobIDRaw": 40}, {"JobID": "40+1", "JobIDRaw": 41}]
    jobs = read_trace(dump(tmp_path, *parts, *({**part, **late} for part in parts)))
    assert columns(jobs, "modular_job_id", "component_id", "components_total") == {
        "modular_job_id": [42, 42, 40, 40], "component_id": [42, 43, 40, 41], "components_total": [2] * 4,
    }  # fmt: skip


def test_dumps_put_together_may_overlap(tmp_path):
    """The same run in two dumps counts once, as the later line says it, or as the one that knows its end."""
    running = {"State": "RUNNING", "End": "Unknown", "ElapsedRaw": 10}
    pending = {"JobIDRaw": 10, "State": "PENDING", "Start": "Unknown", "ElapsedRaw": 0}
    first = lines(running, {"JobIDRaw": 8}, {"JobIDRaw": 9}, pending)
    second = lines({}, {"JobIDRaw": 8, "ElapsedRaw": 50}, {**running, "JobIDRaw": 9}, {"JobIDRaw": 10})
    jobs = read_trace(write(tmp_path / "t.sacct", [*first, "", *second]))
    live = jobs["skipped"] == 0
    assert jobs["component_id"][live].tolist() == [9, 7, 8, 10]
    assert jobs["run_time"][live].tolist() == [60, 60, 50, 60]
    assert {SKIP_REASONS[code] for code in jobs["skipped"][~live]} == {"the same run once more"}
    assert len(set(jobs["component_id"].tolist())) == 8
    assert jobs.source.notes == ()
    write_trace(jobs, tmp_path / "t.swf")
    assert len(read_trace(tmp_path / "t.swf")) == 4


def depending(tmp_path, *texts):
    """Jobs 1, 2 and task 5 of array 3, then from 11 on jobs with these dependencies, eligible 20 s late."""
    before = [{"JobIDRaw": 1}, {"JobIDRaw": 2}, {"JobID": "3_5", "JobIDRaw": 4}]
    after = [
        {"JobIDRaw": 11 + i, "Dependency": text, "Eligible": "2026-03-02T10:00:20"}
        for i, text in enumerate(texts)
    ]
    return read_trace(dump(tmp_path, *before, *after))


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("afterok:1", [(0, "AFTEROK", 0)]),
        ("afterok:1(unfulfilled),afterany:2(failed)", [(0, "AFTEROK", 0), (1, "AFTERANY", 0)]),
        ("afternotok:1:2", [(0, "AFTERNOTOK", 0), (1, "AFTERNOTOK", 0)]),
        ("after:1+10:2", [(0, "AFTER", 10), (1, "AFTER", 0)]),
        ("afterok:3_5", [(2, "AFTEROK", 0)]),
        ("afterok:3_*", [(2, "AFTEROK", 0)]),
        ("aftercorr:3", [(2, "AFTEROK", 0)]),
        ("afterok:1?afterok:2", [(0, "AFTEROK", 0), (1, "AFTEROK", 0)]),
    ],
)
def test_dependencies_take_the_place_of_the_begin_time(tmp_path, text, edges):
    jobs = depending(tmp_path, text)
    found = jobs.dependencies()
    assert found["row"].unique().tolist() == [3]
    assert list(zip(found["after_row"], found["kind"], found["minutes"], strict=True)) == edges
    assert jobs["dependency_any"].tolist()[3] == ("?" in text)
    assert jobs["begin_time"].tolist()[3] == -1


def test_dependencies_on_jobs_that_are_not_there_are_satisfied(tmp_path):
    jobs = depending(tmp_path, "afterok:99", "afterok:99:1", "afterok:99?afterok:1", "afterok:3_4", "(null)")
    assert jobs.dependencies()[["row", "after_row"]].values.tolist() == [[4, 0]]
    assert jobs["begin_time"].tolist()[3:] == [TEN + 20, -1, TEN + 20, TEN + 20, TEN + 20]
    assert jobs.source.notes == ("4 dependencies on jobs not in the dump, taken as satisfied",)


def test_singletons(tmp_path):
    jobs = depending(tmp_path, "singleton", "afterok:1,singleton(unfulfilled)")
    assert jobs.singletons().tolist() == [3, 4]
    assert jobs.dependencies()[["row", "after_row"]].values.tolist() == [[4, 0]]


def test_the_separator_within_a_text(tmp_path):
    """sacct does not escape it. Where one column alone can have it, the row is put together again."""
    with_features = {"JobName": "a|b||c", "Constraints": "", "NodeList": "n1"}
    features = {"JobIDRaw": 8, "Constraints": "skylake|rome", "NodeList": "n1"}
    jobs = read_trace(dump(tmp_path, with_features, features))
    assert jobs["name"].tolist() == ["a|b||c", "cfd"]
    assert jobs["constraint"].tolist() == ["", "skylake|rome"]
    assert jobs.source.notes == ("2 rows with the separator or a line end within a text",)


def test_the_separator_where_it_may_belong_to_two_texts(tmp_path):
    """All other columns are known; of texts that decide where a job runs, no guess is made."""
    jobs = read_trace(dump(tmp_path, {"Comment": "x", "WorkDir": "/a|b"}))
    assert columns(jobs, "nodes", "run_time", "user") == {"nodes": [2], "run_time": [60], "user": ["ada"]}
    assert "nothing tells where one text ends" in jobs.source.notes[-1]
    path = dump(tmp_path, {}, {"JobIDRaw": 8, "Constraints": "x", "Comment": "y|z"})
    told = (
        r"dump\.sacct:3: too many fields.*nothing tells which; found 20; allowed: 19, .*1 such line beside 1"
    )
    with pytest.raises(TraceError, match=told):
        read_trace(path)
    assert len(read_trace(path, on_error="skip")) == 1


def test_jobs_on_part_of_a_node_are_counted(tmp_path):
    jobs = read_trace(
        dump(
            tmp_path,
            {"NCPUS": 96},  # 48 a node
            {"JobIDRaw": 8, "NCPUS": 4, "NNodes": 1},
            {"JobIDRaw": 9, "NCPUS": 8, "NNodes": 1, "Partition": "small"},
        )
    )
    assert jobs["cores"].tolist() == [48, 4, 8]
    assert jobs.not_honoured() == {"cores": 1}


@pytest.mark.parametrize(
    ("change", "gpus", "gres"),
    [
        ({"ReqTRES": "cpu=96,mem=4G,node=2,gres/gpu=2", "AllocTRES": "cpu=96,node=2,gres/gpu=4"}, 2, ""),
        ({"ReqTRES": "node=2,gres/gpu=2", "AllocTRES": ""}, 1, ""),
        ({"AllocTRES": "node=2,gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2"}, 2, ""),
        ({"AllocTRES": "node=2,gres/gpu:a100=1,gres/gpu:v100=2"}, 2, ""),
        ({"AllocTRES": "billing=9,energy=44,node=2,gres/shard=3,bb/cray=4"}, -1, "gres/shard:2,bb/cray:4"),
        ({"AllocTRES": "node=2", "SubmitLine": "sbatch -N2 --gpus=a100:3 job.sh"}, 2, "gpu:a100"),
        ({"SubmitLine": "sbatch --gpus-per-node 4 job.sh"}, 4, ""),
        ({"SubmitLine": "sbatch -G 2 job.sh"}, 1, ""),
        ({"SubmitLine": "srun --gres=gpu:2,nvme:1 ./a.out"}, 2, "gres/nvme:1"),
        ({"SubmitLine": "srun cmake -G Ninja"}, -1, ""),
        ({"AllocGRES": "gpu:4", "ReqGRES": "gpu:2"}, 2, ""),
        ({"ReqGRES": "gpu:k80:2(S:0)"}, 2, "gpu:k80"),
        ({"ReqTRES": "node=2,gres/gpu:1g.5gb=1", "AllocTRES": ""}, 1, "gpu:1g.5gb"),
        ({"ReqTRES": "node=2,gres/gpu=4,gres/gpu:3090=4,gres/shard=8"}, 2, "gpu:3090,gres/shard:4"),
        ({"ReqTRES": "gres/gpu:a=2,gres/gpu:b=4", "AllocTRES": "gres/gpu=6"}, 3, "gpu:a,gpu:b"),
        ({"ReqTRES": "gres/gpu=2", "AllocTRES": "gres/gpu=2,gres/gpu:a100=2"}, 1, ""),
        ({"SubmitLine": "srun --gres=gpu:a100,nvme:1 ./a.out"}, 1, "gpu:a100,gres/nvme:1"),
        ({"AllocTRES": "node=2,license/cfd=2"}, -1, "license/cfd:2"),
        ({"AllocTRES": "node=2,license/cfd=2", "Licenses": "cfd:2"}, -1, ""),
    ],
)
def test_gpus_and_other_resources_are_counted(tmp_path, change, gpus, gres):
    """Of two nodes, GPUs on each of them, rounded up."""
    jobs = read_trace(dump(tmp_path, change))
    assert (jobs["gpus"].tolist(), jobs["gres"].tolist()) == ([gpus], [gres])
    said = {"gpus": gpus > 0, "gres": gres != ""}
    assert jobs.not_honoured() == {name: 1 for name, asked in said.items() if asked}


def test_types_of_gpus_that_jobs_had_are_told_where_nothing_says_what_they_asked_for(tmp_path):
    had = "cpu=96,node=2,gres/gpu=4,gres/gpu:a100=4"
    told = (
        "2 jobs had GPUs of a type by AllocTRES, and without ReqTRES nothing tells whether they asked for it"
    )
    jobs = [{"AllocTRES": had}, {"JobIDRaw": 8, "AllocTRES": had}, {"JobIDRaw": 9, "AllocTRES": "cpu=96"}]
    found = read_trace(dump(tmp_path, *jobs))
    assert any(told in note for note in found.source.notes)
    assert (found["gpus"].tolist(), found["gres"].tolist()) == ([2, 2, -1], ["", "", ""])
    asked = {"AllocTRES": had, "ReqTRES": "cpu=96,gres/gpu=4"}
    assert not any("AllocTRES" in note for note in read_trace(dump(tmp_path, asked)).source.notes)
    line = {"AllocTRES": had, "SubmitLine": "sbatch --gpus=a100:4 x.sh"}
    found = read_trace(dump(tmp_path, line))
    assert (found["gres"].tolist(), found.source.notes) == (["gpu:a100"], ())


def test_what_may_be_requeued_says_the_command_that_submitted_it(tmp_path):
    lines = ("sbatch --no-requeue job.sh", "sbatch --no-requeue --requeue job.sh", "/bin/srun a.out", "")
    jobs = read_trace(dump(tmp_path, *({"JobIDRaw": i, "SubmitLine": line} for i, line in enumerate(lines))))
    assert jobs["requeue"].tolist() == [0, 1, 0, -1]


def test_without_their_own_columns_cores_and_memory_are_those_of_tres(tmp_path):
    job = {"ReqTRES": "cpu=8,mem=3G,node=2", "AllocTRES": "cpu=96,mem=3G,node=2"}
    jobs = read_trace(dump(tmp_path, job, without=["NCPUS"]))
    assert (jobs["cores"].tolist(), jobs["memory_kb"].tolist()) == ([48], [3 * 1024**2 // 2])


def test_who_started_before_being_submitted_is_told_and_has_no_recorded_wait(tmp_path):
    early = {"JobIDRaw": 8, "Start": "2026-03-01T10:00:30", "End": "2026-03-01T10:01:30"}
    never = {"JobIDRaw": 9, "State": "PENDING", "Start": "2026-03-01T10:00:30"}
    jobs = read_trace(dump(tmp_path, {}, never, early, {**early, "JobIDRaw": 10}))
    assert jobs["wait_time"].tolist() == [30, -1, -1, -1]
    assert jobs["skipped"].tolist()[2:] == [0, 0]
    assert jobs.source.notes == (
        "2 jobs with a Start before Submit, first at line 4: the recorded wait is taken as unknown",
    )


def test_requeued_jobs_are_told(tmp_path):
    jobs = read_trace(dump(tmp_path, {"Restarts": 1}, {"JobIDRaw": 8, "Restarts": 0}))
    assert jobs.source.notes == ("1 job requeued: earlier runs are here only after sacct --duplicates",)


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"Submit": "yesterday"}, "Submit", "not a time"),
        ({"Submit": "2026-13-02T10:00:00"}, "Submit", "not a time"),
        ({"Start": "2026-02-30T10:00:00"}, "Start", "not a time"),
        ({"Submit": "Unknown"}, "Submit", "a job without a submit time"),
        ({"Timelimit": "1h"}, "Timelimit", "not a duration"),
        ({"ElapsedRaw": "-5"}, "ElapsedRaw", "not a number"),
        ({"State": "COMPLETE"}, "State", r"unknown state \(did you mean 'COMPLETED'\?\)"),
        ({"JobIDRaw": "7a"}, "JobIDRaw", "not a job id"),
        ({"NNodes": "two"}, "NNodes", "not a number"),
        ({"ReqMem": "4GB"}, "ReqMem", "not an amount of memory"),
        ({"ExitCode": "x"}, "ExitCode", "not an exit code"),
        ({"Dependency": "after 7"}, "Dependency", "not a dependency"),
        ({"Dependency": "afterok:6,afterany:7?singleton"}, "Dependency", "both all and any one"),
    ],
)
def test_mistakes_have_line_column_and_what_is_allowed(tmp_path, change, field, told):
    path = dump(tmp_path, {"JobIDRaw": 6}, {"JobID": "7.0"}, {}, {**change})
    with pytest.raises(
        TraceError, match=rf"dump\.sacct:5: {told}; field {field}; found .*; allowed: "
    ) as caught:
        read_trace(path)
    assert caught.value.found == next(iter(change.values()))


def test_all_mistakes_show_at_once_by_line_each_text_once(tmp_path):
    path = dump(
        tmp_path,
        {"State": "DONE", "NNodes": "two"},
        {"JobIDRaw": 8, "Start": "noon"},
        {"JobIDRaw": 9, "State": "GONE"},
        {"JobIDRaw": 10, "State": "DONE"},
    )
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    told = [line.removeprefix(f"{path}:").split("; found")[0] for line in str(caught.value).split("\n")]
    assert told == [
        "2: unknown state; field State",
        "2: not a number; field NNodes",
        "3: not a time; field Start",
        "4: unknown state; field State",
    ]


def test_what_the_table_refuses_has_its_line_too(tmp_path):
    path = dump(tmp_path, {"JobIDRaw": 6}, {"JobID": "7.0"}, {"Dependency": "before:6"})
    with pytest.raises(TraceError, match=r"dump\.sacct:4: unknown kind of dependency"):
        read_trace(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (["JobID|State|Submit|NNodes|Elapsed"], "no records"),
        (["JobID State", "1 COMPLETED"], r":1: no header of sacct"),
        (["# note", "1|COMPLETED"], r":2: no header of sacct"),
        (["JobID|State|State", "1|COMPLETED|COMPLETED"], "column state occurs twice"),
        (["JobID|State|NNodes|Elapsed", "1|COMPLETED|1|01:00"], "no column Submit"),
        (
            ["JobID|State|Submit|Elapsed", "1|COMPLETED|2026-03-02T10:00:00|01:00"],
            "no column NNodes or AllocNodes",
        ),
        (["JobID|State|Submit|NNodes", "1|COMPLETED|2026-03-02T10:00:00|1"], "no column ElapsedRaw or"),
        (["JobID|State|Submit|NNodes|Elapsed", "1|COMPLETED|2026-03-02T10:00:00|1"], ":2: too few fields"),
    ],
)
def test_files_that_are_no_dumps(tmp_path, text, told):
    with pytest.raises(TraceError, match=told):
        read_trace(write(tmp_path / "t.sacct", text))


@pytest.mark.parametrize(
    "name", ["t.sacct", "t.psv", "t.txt", "t.sacct.gz", "t.txt.gz", "t.sacct.zst", "t.txt.zst"]
)
def test_names_of_dumps(tmp_path, name):
    assert len(read_trace(write(tmp_path / name, lines({})))) == 1


def test_other_texts_need_the_format(tmp_path):
    with pytest.raises(TraceError, match="unknown trace format"):
        read_trace(write(tmp_path / "t.txt", ["no dump"]))


def test_it_is_not_written(tmp_path):
    jobs = read_trace(dump(tmp_path, {}))
    with pytest.raises(TraceError, match="sacct is read, not written"):
        write_trace(jobs, tmp_path / "t.psv")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "|\n"])
def test_line_ends_and_the_separator_of_parsable(tmp_path, ending):
    text = "".join(f"{line}{ending}" for line in lines({}))
    plain = read_trace(dump(tmp_path, {}))
    assert read_trace(write(tmp_path / "t.sacct", text.encode())).table.equals(plain.table)


def test_latin_1(tmp_path):
    text = "".join(f"{line}\n" for line in lines({"JobName": "größe"}))
    assert read_trace(write(tmp_path / "t.sacct", text.encode("latin-1")))["name"].tolist() == ["größe"]


def test_on_to_other_formats_and_back(tmp_path):
    jobs = depending(tmp_path, "aftercorr:3", "afterok:3,singleton", "after:2+5")
    write_trace(jobs, tmp_path / "t.parquet")
    assert read_trace(tmp_path / "t.parquet").table.equals(jobs.table)
    for name in ("t.csv", "t.mwf"):  # MWF knows no arrays: their tasks are named one by one
        write_trace(jobs, tmp_path / name)
        again = read_trace(tmp_path / name)
        assert again.dependencies().equals(jobs.dependencies())
        assert again.singletons().tolist() == jobs.singletons().tolist()
    write_trace(jobs, tmp_path / "t.swf")
    again = read_trace(tmp_path / "t.swf")
    for name in ("submit_time", "run_time", "nodes", "time_limit", "wait_time"):
        assert np.array_equal(again[name], jobs[name])
    assert again.source.header_number("UnixStartTime") == 1772409600
