"""Benchmarks measure, check what they measure, and have their places in the page."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
import yaml

from benchmarks import native, page, peers, sharing, slurm, studies
from benchmarks.bare_loop import easy
from benchmarks.children import whole
from benchmarks.section import Asked, table
from benchmarks.trace import generate
from tests.conftest import ROOT

SAMPLE = ROOT / "workloads" / "sample-1000.swf"
PAGE = ROOT / "docs" / "benchmarks.md"
COLD = "<!-- cold: x -->\n<!-- end -->\n"
QUICK = Asked(quick=True, trace=SAMPLE)


@pytest.fixture
def measured(monkeypatch):
    """Figures in place of measurements; the starts are those that the test says."""
    starts = {"": "a", "false": "a"}

    def in_process(case):
        how = case.settings.get("policy.slurm.accelerate", "")
        figures = {"jobs": 1000, "engine_s": 0.5, "whole_s": 1.0, "peak_mb": 300.0, "waiting": 2.0}
        return {**figures, "engine_cpu_s": 0.5, "bare_cpu_s": 0.01, "starts": starts[how]}

    monkeypatch.setattr(slurm, "in_process", in_process)
    return starts


@pytest.fixture
def copy(tmp_path):
    """A copy of the page."""
    path = tmp_path / "page.md"
    path.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def outside(text):
    """A page without what stands in its places; the marks stay."""
    return page.filled(text, {name: "" for _, name, _ in page.MARKS.findall(text)})


def places(text):
    """What stands in each place of a page, with its marks."""
    return {found[2]: found[0] for found in page.MARKS.finditer(text)}


def test_a_whole_run_fills_all_places_and_nothing_else(copy, monkeypatch):
    before = copy.read_text(encoding="utf-8")
    fake = {name: lambda asked, name=name: f"| {name} |" for name in page.SECTIONS}
    monkeypatch.setattr(page, "SECTIONS", fake)
    page.main([str(copy)])
    text = copy.read_text(encoding="utf-8")
    assert outside(text) == outside(before)
    assert all(f"\n\n| {name} |\n\n<!-- end -->" in text for name in fake)
    assert "min in all." in text
    assert "By itself" not in text


def test_one_table_says_that_it_is_not_of_the_run(copy):
    before = copy.read_text(encoding="utf-8")
    page.main([str(copy), "--only", "native", "--quick", "--trace", "nowhere/KTH.swf.gz"])
    text = copy.read_text(encoding="utf-8")
    assert outside(text) == outside(before)
    filled = places(text)
    assert "*By itself (small cases, once each, no measurement): " in filled["native"]
    assert "| generated, 1024 nodes | 1,000 | simulate() |" in filled["native"]
    assert "Left out: KTH.swf.gz is not beside the checkout." in filled["native"]
    assert [name for name in filled if filled[name] not in before] == ["native"]


@pytest.mark.parametrize(
    ("text", "given", "told"),
    [
        ("nothing\n", [], "found no place for engine, native, cold, files, slurm, limits, sharing, "),
        ("<!-- cold: x -->\n", ["--only", "cold"], "found no place for cold; allowed: <!-- cold: ... -->"),
        (f"{COLD}<!-- colt: x -->\n<!-- end -->\n", ["--only", "cold"], "a place for colt; allowed: run,"),
        ("", ["--cqsim", "nowhere", "--only", "peers"], "found no place for peers"),
        ("<!-- peers: x -->\n<!-- end -->\n", ["--cqsim", "no", "--only", "peers"], "no src/cqsim_main.py"),
    ],
)  # fmt: skip
def test_a_page_without_a_place_is_refused_before_anything_is_measured(
    text, given, told, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(page, "SECTIONS", dict.fromkeys(page.SECTIONS))
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        page.main([str(tmp_path / "page.md"), *given])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text


@pytest.mark.skipif(not native.compiler(), reason="no C++ compiler is there")
def test_the_loop_in_cpp_gives_the_starts_of_the_one_in_numba(tmp_path):
    jobs = generate(2000, nodes=64, load=1.1)
    columns = [jobs[name] for name in ("submit_time", "nodes", "time_limit", "run_time")]
    columns[3] = np.minimum(columns[2], columns[3])
    starts = native.build(tmp_path)(*columns, 64)
    assert np.array_equal(starts, easy(*columns, 64))
    assert (starts > columns[0]).any()


def test_without_a_compiler_it_says_so_and_goes_on(monkeypatch):
    monkeypatch.setattr(native.shutil, "which", lambda name: None)
    monkeypatch.setattr(native, "child", lambda *given: {"jobs": 7, "simulate()": 0.002})
    text = native.section(QUICK)
    assert "| KTH-SP2, 100 nodes | 7 | simulate() | 2.00 |  |" in text.replace(SAMPLE.name, "KTH-SP2")
    assert text.endswith("Left out: C++, as no compiler is there (c++, g++, clang++).")


@pytest.mark.long
def test_small_cases_are_measured(copy):
    page.main([str(copy), "--quick", "--trace", str(SAMPLE), "--only", "engine", "files", "slurm"])
    tables = places(copy.read_text(encoding="utf-8"))
    assert "| sample-1000.swf, 100 nodes | easy | 1,000 |" in tables["engine"]
    assert tables["files"].count("\n| SWF |") == 3
    assert tables["slurm"].count("| the same |") == 1


def test_the_parts_of_a_run_of_a_study_are_timed_without_each_other(tmp_path):
    recipe = {"modules": [{"name": "cluster", "nodes": 64, "jobs": 50}]}
    small = {"workloads": {"generated": {"recipe": recipe}}, "policies": ["easy"], "baseline": {}, "seeds": 2}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(studies.STUDY | small), encoding="utf-8")
    begin = process_time()
    parts = studies.parts_of(tmp_path / "study.yaml", tmp_path / "study")
    assert list(parts) == [*studies.PARTS.values(), studies.REST]
    assert all(seconds > 0 for seconds in parts.values())
    assert sum(parts.values()) <= process_time() - begin


def test_other_starts_without_acceleration_end_it(measured):
    measured["false"] = "b"
    with pytest.raises(SystemExit, match=r"sample-1000\.swf: other starts without acceleration"):
        slurm.section(QUICK)


def test_a_trace_that_is_not_there_is_left_out_with_a_word(measured):
    head, _, *rows = slurm.section(Asked(trace=ROOT / "nowhere.swf.gz")).splitlines()
    machines = [row.split(" | ")[:3] for row in rows[:6]]
    loads = [("5,000", load) for load in ("0.85", "0.95", "0.982", "1")]
    assert machines == [["| month", *one] for one in [*loads, ("2,500", "0.85"), ("10,000", "0.85")]]
    assert rows[6:] == ["", "Left out: nowhere.swf.gz is not beside the checkout."]
    assert len(head.split("|")) == len(rows[0].split("|"))


def test_the_month_keeps_its_jobs_on_more_nodes_and_under_more_load(tmp_path):
    months = [slurm.month(tmp_path, load, nodes, 0).case for load, nodes in ((0.85, 2500), (1.0, 10000))]
    jobs = [case.workload() for case in [replace(case, days=9.0) for case in months]]
    count = min(len(one) for one in jobs)
    assert count > 1000
    for name in ("nodes", "run_time", "time_limit"):
        assert np.array_equal(jobs[0][name][:count], jobs[1][name][:count])


def test_starts_of_others_are_read_as_they_write_them(tmp_path):
    (tmp_path / "result.rst").write_text("2;80;80;14400.0;177.0;9336.0;327998.0;337334.0;337511.0\n")
    assert peers.starts_of_cqsim(tmp_path) == {2: 337334}
    line = "4;1;1970-01-04 20:40:54__1;1#1;1#__1970-01-04 21:42:14;1970-01-04 21:44:34;2;2;NA;14400;\n"
    (tmp_path / "sched-jobs.swf").write_text(line)
    assert peers.starts_of_accasim(tmp_path) == {4: 3 * 86400 + 21 * 3600 + 42 * 60 + 14}


def test_a_peer_that_fails_is_said_to_and_the_others_stay(tmp_path):
    peer = peers.Peer("broken", (sys.executable, "-S", "-c", "raise SystemExit(1)"), dict)
    ours, broken = peers.compared(QUICK, tmp_path, "easy", 20, [peer])
    assert [row[2:4] for row in (ours, broken)] == [("20", "scheduler-sim"), ("20", "broken")]
    assert broken[4:] == ("failed", "", "", "", "")


def test_the_memory_of_a_process_is_not_that_of_who_asks():
    held = np.ones(40_000_000)  # 320 MB
    usage = whole(sys.executable, "-S", "-c", "pass")
    assert 1 < usage.peak_mb < held.nbytes / 1e6 / 4
    with pytest.raises(SystemExit, match="failed: "):
        whole(sys.executable, "-S", "-c", "raise SystemExit(3)")


def test_a_row_has_a_cell_for_each_column():
    assert table(("<a", "b"), [("x", "1")]) == "| a | b |\n|---|--:|\n| x | 1 |"
    with pytest.raises(ValueError, match="cells for 2 columns"):
        table(("<a", "b"), [("x",)])


def test_a_third_of_the_site_is_on_part_of_a_node():
    jobs = sharing.site(3_000)
    part = (jobs["cores"] < sharing.CORES) | (jobs["gpus"] > 0)
    assert 0.3 < part.mean() < 0.37
    assert (jobs["nodes"][part] == 1).all()
    assert sharing.measure(sharing.Case("easy", 300, sharing.SHARED))["jobs"] == 300


def test_slurm_on_shared_nodes_is_measured_beside_whole_ones(monkeypatch):
    seconds = {sharing.WHOLE: 2.0, sharing.SHARED: 3.0}
    monkeypatch.setattr(
        sharing, "child", lambda *given: {"jobs": int(given[2]), "engine_cpu_s": seconds[given[3]]}
    )
    *site, whole, shared = sharing.section(QUICK).splitlines()[2:]
    assert all(row.endswith("|  |") for row in [*site, whole])
    assert shared == "| month | slurm | shared | 300 | 3.00 | 100 | 1.50 |"
