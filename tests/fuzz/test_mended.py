"""What once ended in a traceback, or took all memory: each now says what is wrong, and where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import scheduler_sim
from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.cli.main import main
from scheduler_sim.energy.profile import PowerProfiles
from scheduler_sim.errors import ConfigError, InputError, TraceError
from scheduler_sim.generation.generate import generate
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.policy.policy import Policy
from scheduler_sim.study.mixes import MOST_MIXES, mixes
from scheduler_sim.study.study import Study
from scheduler_sim.system.slurm_conf.hostlist import expand, natural_key
from scheduler_sim.system.slurm_conf.site import read_slurm_conf
from scheduler_sim.system.system import System
from tests.study.studies import small
from tests.workload.sacct_dump import dump

SYSTEM = "modules: [{name: CM, nodes: 4}]\n"


def told(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("value", [5, "5", [1], {"CPU": {}}, True, "CPU=x"])
def test_weights_that_are_none(value):
    with pytest.raises(ConfigError, match=r"PriorityWeightTRES.*allowed: weights of"):
        Policy.named("slurm").with_settings(
            {"slurm.PriorityType": "priority/multifactor", "slurm.PriorityWeightTRES": value}
        )


@pytest.mark.parametrize("value", [7, [1, 2], [{"a": 1}]])
def test_flags_that_are_none(value):
    with pytest.raises(ConfigError, match=r"PriorityFlags.*allowed: a list of"):
        Policy.named("slurm").with_settings({"slurm.PriorityFlags": value})


def test_a_setting_that_is_too_long_is_named():
    with pytest.raises(ConfigError, match=r"--set policy.depth: found a text of 5000 characters"):
        Policy.named("easy").with_settings({"policy.depth": "9" * 5000})


@pytest.mark.parametrize("key", ["partitions: [{name: large, module: 2}]", "swf: {partitions: {1: 2}}"])
def test_a_number_as_a_name_that_leads_nowhere(tmp_path, key):
    with pytest.raises(ConfigError, match=r"s.yaml:2: .*found 2, no such (module|partition)"):
        System.from_yaml(told(tmp_path / "s.yaml", SYSTEM + key + "\n"))


@pytest.mark.parametrize("settings", ["x", 3, ["depth"], True])
def test_settings_of_a_study_that_are_no_mapping(settings):
    with pytest.raises(ConfigError, match=r"policies.s: set: found .*; allowed: a mapping"):
        small(policies={"s": {"policy": "easy", "set": settings}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ReqMem": "99999999P"}, ":2: more memory than can be counted"),
        ({"ReqMem": "8000Pc"}, ":2: more memory than can be counted for 96 CPUs"),
        ({"NNodes": "999999999999P"}, ":2: more than can be counted"),
    ],
)
def test_amounts_of_a_dump_beyond_int64(tmp_path, change, message):
    with pytest.raises(TraceError, match=message):
        read_trace(dump(tmp_path, change))


def test_an_array_of_a_thousand_million_tasks_is_one_row(tmp_path):
    waiting = {"JobID": "8_[0-999999999%5]", "JobIDRaw": "8", "State": "PENDING", "Start": "Unknown"}
    assert len(read_trace(dump(tmp_path, {}, waiting))) == 2


POWER = """\
modules:
  - name: CM
    idle_w: 100
    typical_w: 200
    peak_w: 300
    reference_khz: 2000000
    pstates: {{lowest_khz: {low}, highest_khz: {high}, step_khz: 1}}
    turbo: {{khz: 2500000, effective_khz: 2600000}}
"""


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ("'5'", "'3'", r"p.yaml:7: .*highest_khz: found 3; allowed: 5 plus a whole number"),
        ("1", "2000000", r"p.yaml:7: .*step_khz: found 1, which makes 2,000,000 P-states"),
    ],
)
def test_p_states_that_are_none_or_too_many(tmp_path, low, high, message):
    with pytest.raises(ConfigError, match=message):
        PowerProfiles.from_yaml(told(tmp_path / "p.yaml", POWER.format(low=low, high=high)))


@pytest.mark.parametrize(
    "change",
    [
        {"dependencies_name": "colour"},
        {"field_count": [[18, 10**13]]},
        {"field_count": [[300, 2]]},
        {"field_count": -1},
        {"field_count": "x"},
        {"comments": [[1, "a"], [0, "b"]]},
        {"comments": [[99, "a"]]},
        {"comments": [[0, 5]]},
        {"header": "text"},
        {"header": [None]},
        {"format": ["swf"]},
        {"encoding": 8},
        {"notes": {}},
        None,
    ],
)
def test_metadata_of_parquet_are_as_untrusted_as_its_rows(tmp_path, change):
    path = tmp_path / "t.parquet"
    write_trace(Workload.from_columns(nodes=[1, 2], submit_time=[0, 1], run_time=5), path)
    table = parquet.read_table(path)
    said = json.loads(table.schema.metadata[b"scheduler_sim.workload"])
    text = b"[" * 100_000 if change is None else json.dumps({**said, **change}).encode()
    parquet.write_table(pa.table(table).replace_schema_metadata({b"scheduler_sim.workload": text}), path)
    with pytest.raises(TraceError, match=r"t.parquet: the workload metadata cannot be read"):
        read_trace(path).dependencies()


def test_node_numbers_of_thousands_of_digits(tmp_path):
    long = "9" * 5000
    assert sorted([f"n{long}", "n10", "n09", "n", "n9" + "0" * 5000], key=natural_key)[:3] == [
        "n",
        "n09",
        "n10",
    ]
    conf = f"NodeName=n{long},n2 CPUs=4\nPartitionName=p Nodes=ALL\n"
    assert read_slurm_conf(told(tmp_path / "slurm.conf", conf)).system.nodes == 2


@pytest.mark.parametrize(
    "text", ["n[1-999999999]", "n" + "[1-999999]" * 50, "n[" + ",".join(["1-999999"] * 5000) + "]"]
)
def test_hostlists_are_counted_before_they_are_written_out(text):
    with pytest.raises(InputError, match="expands to more than 1,000,000 names"):
        expand(text)


def test_systems_of_more_nodes_than_can_be_counted_one_by_one(tmp_path):
    def system(*nodes):
        listed = "".join(f"  - {{name: m{i}, nodes: {n}}}\n" for i, n in enumerate(nodes))
        return System.from_yaml(told(tmp_path / "s.yaml", f"modules:\n{listed}"))

    assert system(9_000_000, 1_000_000).nodes == 10_000_000
    with pytest.raises(ConfigError, match=r"s.yaml:2: .*nodes: found 1000000000; allowed: .* to 10000000"):
        system(10**9)
    with pytest.raises(ConfigError, match=r"s.yaml:3: .*with those before 10,000,001; allowed: at most"):
        system(9_000_000, 1_000_001)
    with pytest.raises(ConfigError, match="found 1,001 modules; allowed: at most 1,000"):
        system(*[1] * 1001)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"seeds": 10**9}, r"seeds: found 1000000000; allowed: a number of seeds up to 100,000"),
        (
            {"parameters": {f"policy.slurm.x{i}": list(range(30)) for i in range(9)}},
            "combinations of their values; allowed: at most 1,000,000",
        ),
        ({"policies": ["fcfs", "easy", "sjf", "ljf", "f1", "f2", "f3", "f4", "wfp3", "unicef", "slurm"],
          "seeds": 100_000}, r"seeds: found 1,100,000 runs, with 100,000 seeds"),
    ],
)  # fmt: skip
def test_studies_of_more_runs_than_there_is_room_for(keys, message):
    with pytest.raises(ConfigError, match=message):
        small(**keys)


def test_mixes_are_counted_as_they_are_listed():
    assert len(mixes(MOST_MIXES - 1, [1, 1], 1, 1)) == MOST_MIXES
    with pytest.raises(InputError, match="allows more than 100,000 mixes"):
        mixes(10**15, [1, 1, 1], 1, 2)
    modules = [{"name": name, "nodes": 1} for name in ("CM", "ESB")]
    with pytest.raises(ConfigError, match=r"search.budget: found 1e\+09, which allows more"):
        Study.of(
            systems={"s": {"modules": modules}},
            workloads={"w": {"recipe": {"modules": [{"name": "CM", "nodes": 4, "jobs": 4}]}}},
            policies=["easy"],
            search={"budget": 10**9, "step": 1},
        )


def test_traces_that_would_not_fit_are_refused_before_they_are_drawn(monkeypatch):
    monkeypatch.setattr("scheduler_sim.workload.memory.available_memory", lambda: 10**9)
    recipe = Recipe.of(name="big", modules=[{"name": "CM", "nodes": 4, "jobs": 10**8}])
    with pytest.raises(InputError, match=r"big: generating 100,000,000 jobs takes about 25\.0 GB"):
        generate(recipe)
    with pytest.raises(ConfigError, match="jobs: found 1000000000000; allowed"):
        Recipe.of(modules=[{"name": "CM", "nodes": 4, "jobs": 10**12}])
    with pytest.raises(ConfigError, match="users: found 1000000000; allowed: an integer from 0 to 1000000"):
        Recipe.of(modules=[{"name": "CM", "nodes": 4, "jobs": 4}], users=10**9)


LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", LONG, "1"),
        ("report", LONG),
        ("inspect", f"{LONG}.swf"),
        ("inspect", LONG),
        ("convert", "t.swf", f"{LONG}.mwf"),
        ("run", "s.yaml", "t.swf", "--out", LONG),
        ("study", "s.yaml", "--workers", "1000000000"),
    ],
)
def test_names_that_nothing_can_have_are_bad_input(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    told(tmp_path / "s.yaml", SYSTEM)
    write_trace(Workload.from_columns(nodes=[1], submit_time=[0], run_time=5), "t.swf")
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert LONG in said or "--workers" in said


def test_a_trace_of_a_study_with_such_a_name():
    with pytest.raises(ConfigError, match=r"workloads.like: nnn.*: no such file"):
        small(workloads={"like": LONG})


@pytest.mark.parametrize(("low", "high"), [("default_time", "max_time"), ("min_nodes", "max_nodes")])
def test_limits_without_end_in_a_partition(tmp_path, low, high):
    """Case 140,043 of seed 1: an infinite value is told as a mistake of its own."""
    text = SYSTEM + f"partitions: [{{name: p, module: CM, {low}: .inf, {high}: 5}}]\n"
    with pytest.raises(ConfigError, match=low):
        System.from_yaml(told(tmp_path / "s.yaml", text))


@pytest.mark.parametrize("ours", ["component_id", "user", "status"])
def test_columns_of_lists_where_a_map_wants_text(tmp_path, ours):
    told(tmp_path / "map.yaml", f"columns: {{submit_time: a, run_time: a, nodes: a, {ours}: b}}\n".replace(
        "status: b", "status: {formula: b, values: {x: 1}}"))  # fmt: skip
    parquet.write_table(pa.table({"a": [1, 2], "b": [[{"name": "x"}], []]}), tmp_path / "t.parquet")
    with pytest.raises(TraceError, match=r"t.parquet: a column of lists or mappings; field b"):
        read_trace(tmp_path / "t.parquet", columns=tmp_path / "map.yaml")


def test_a_table_of_nothing_but_rows_that_are_none(tmp_path):
    told(
        tmp_path / "map.yaml",
        "columns: {submit_time: a, run_time: a, nodes: a, status: {formula: a, values: {x: 1}}}",
    )
    told(tmp_path / "t.csv", "a,b\n1\n2\n")
    for on_error in ("stop", "skip"):
        with pytest.raises(TraceError, match=r"t.csv"):
            read_trace(tmp_path / "t.csv", columns=tmp_path / "map.yaml", on_error=on_error)


def test_events_of_which_none_is_a_job(tmp_path):
    with pytest.raises(TraceError, match=r"t.events: no records"):
        read_trace(told(tmp_path / "t.events", "-dt 5 -e cancel_job | -J x\n"))


def test_carried_text_of_which_only_numbers_are_left_stays_text(tmp_path):
    told(tmp_path / "t.csv", "submit_time,run_time,nodes,tag\n1,2,3,007\n4,5,6,8\n")
    jobs = read_trace(tmp_path / "t.csv").select([1])
    write_trace(jobs, tmp_path / "t.parquet")
    assert read_trace(tmp_path / "t.parquet").carried["trace_tag"].tolist() == ["8"]


def test_dates_of_the_far_future(tmp_path):
    told(tmp_path / "t.csv", "submit_time,run_time,nodes\n2026-03-02 00:00:00,5,1\n2826-03-02 00:00:01,5,1\n")
    jobs = read_trace(tmp_path / "t.csv")
    assert jobs["submit_time"].tolist() == [0, 292_194 * 86_400 + 1]


TOO_LONG = "9" * 300


@pytest.mark.parametrize(
    "asked",
    [
        ("run", TOO_LONG, TOO_LONG),
        ("run", TOO_LONG),
        ("run", "s.yaml", "t.swf", "--policy", f"{TOO_LONG}.py"),
        ("inspect", TOO_LONG),
        ("report", TOO_LONG),
        ("explain", TOO_LONG, "1"),
    ],
    ids=" ".join,
)
def test_a_name_that_no_file_can_have_is_that_of_none(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    told(tmp_path / "s.yaml", SYSTEM)
    told(tmp_path / "t.swf", "1 0 0 60 2 -1 -1 2 90 -1 0 1 1 1 1 -1 -1 -1\n")
    assert main(asked) == 2
    assert TOO_LONG[:20] in capsys.readouterr().err


@pytest.mark.parametrize("name", [TOO_LONG, "a\0b"], ids=["too long", "NUL"])
def test_nor_can_a_system_of_a_study(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told(tmp_path / "t.swf", "1 0 0 60 2 -1 -1 2 90 -1 0 1 1 1 1 -1 -1 -1\n")
    told(tmp_path / "study.yaml", json.dumps({"systems": name, "workloads": "t.swf", "policies": ["easy"]}))
    assert main(["study", "study.yaml", "--out", "study"]) == 2


def test_whether_a_file_is_there_is_asked_so_that_such_a_name_is_no():
    """``Path.is_file`` raises an error for a name that is too long, where ``os.path.isfile`` says no.

    The engine asks for names of its own alone, and ``output`` says of each error what was not written.
    """
    package = Path(scheduler_sim.__file__).parent
    rooms = (one for one in package.iterdir() if one.is_dir() and one.name not in ("engine", "output"))
    files = [*package.glob("*.py"), *(file for room in rooms for file in room.rglob("*.py"))]
    asking = re.compile(r"\.(is_file|is_dir|exists)\(\)")
    assert len(files) > 100
    assert [file for file in files if asking.search(file.read_text())] == []
