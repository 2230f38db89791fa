"""Use of cores, memory and GPUs in tables and pictures, and what was stranded of them."""

from __future__ import annotations

import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.cli.run_page import run_text
from scheduler_sim.errors import InputError
from scheduler_sim.report.html import write_report
from scheduler_sim.report.module_use import resources, shares_of_modules
from scheduler_sim.report.resource_figure import resource_figure
from scheduler_sim.result.columns import TOTAL
from tests.report.schedules import behind_a_shadow, beside_each_other
from tests.report.test_gantt import texts

pytestmark = pytest.mark.interpreted


def two_modules():
    """Job 1 has all the memory of G while 2 waits for a GPU there; job 3 has part of S, job 4 whole nodes."""
    modules = [
        {"name": "G", "nodes": 1, "shared": True, "cores_per_node": 4, "memory_gb": 8, "gpus_per_node": 2},
        {"name": "S", "nodes": 1, "shared": True, "cores_per_node": 8},
        {"name": "W", "nodes": 2},
    ]
    jobs = Workload.from_columns(
        partition=["G", "G", "S", "W"], nodes=[1, 1, 1, 2], submit_time=[0, 10, 0, 0],
        run_time=[50, 50, 100, 25], cores=[1, 1, 2, -1], gpus=[0, 1, 0, 0],
        memory_kb=[8 * 1024**2, 1024**2, 0, 0],
    )  # fmt: skip
    return simulate(System.from_dict({"modules": modules}), jobs, "fcfs")


def test_the_shares_of_each_module():
    """G has 2 GPUs free for 40 of 100 s in which 2 waits for one, and 3 of its 4 cores."""
    shares = shares_of_modules(two_modules(), ["G", "S", "W", TOTAL])
    assert shares == {
        "": [1.0, 1.0, 0.25, 0.625],
        "cores": [0.25, 0.25, None, 0.25],
        "memory": [0.5625, None, None, 0.5625],
        "GPUs": [0.25, None, None, 0.25],
        "cores stranded": [0.3, 0.0, None, 0.1],
        "GPUs stranded": [0.4, None, None, 0.4],
    }


def test_the_table_of_a_run_has_them_where_nodes_are_shared():
    lines = [" ".join(line.split()) for line in run_text(two_modules(), "t", 1.0).splitlines()]
    header = "module nodes utilisation cores memory GPUs cores stranded GPUs stranded"
    assert lines[lines.index(header) + 1] == "G 1 100.00 % 25.00 % 56.25 % 25.00 % 30.00 % 40.00 %"
    whole = simulate(System.homogeneous(2), Workload.from_columns(nodes=1, run_time=1, submit_time=[0]))
    assert "cores" not in run_text(whole, "t", 1.0)


def test_resources_over_time():
    found = {(one.module, one.kind): one for one in resources(two_modules())}
    assert list(found) == [
        ("G", "cores"), ("G", "memory_kb"), ("G", "gpus"), ("S", "cores"),
        (TOTAL, "cores"), (TOTAL, "memory_kb"), (TOTAL, "gpus"),
    ]  # fmt: skip
    gpus, cores = found["G", "gpus"], found[TOTAL, "cores"]
    assert gpus.there == 2000
    assert [column.tolist() for column in gpus.used] == [[50, 100], [1000, 0]]
    assert gpus.stranded is not None
    assert [column.tolist() for column in gpus.stranded] == [[10, 50], [2000, 0]]
    assert cores.there == 12000
    assert [column.tolist() for column in cores.used] == [[0, 100], [3000, 0]]
    assert cores.stranded is not None
    assert [column.tolist() for column in cores.stranded] == [[10, 50], [3000, 0]]


def test_the_picture_has_a_panel_for_each_resource():
    figure = resource_figure(two_modules())
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "Cores of G: 25.0 % used, 30.0 % stranded",
        "Memory of G: 56.2 % used",
        "GPUs of G: 25.0 % used, 40.0 % stranded",
        "Cores of S: 25.0 % used, 0.0 % stranded",
    ]
    assert [panel.get_ylabel() for panel in figure.axes[:3]] == [
        "cores of 4",
        "GB of memory of 8",
        "GPUs of 2",
    ]
    assert "none of the components that waited" in texts(figure)
    alone = resource_figure(beside_each_other())
    assert alone.axes[0].get_title(loc="left").startswith("Cores: ")


def test_without_shared_nodes_there_is_nothing_to_draw():
    with pytest.raises(InputError, match="jobs share no nodes of this run; allowed: a system with a module"):
        resource_figure(behind_a_shadow())


def test_what_is_not_known_is_said():
    nodes = {"name": "G", "nodes": 2, "shared": True, "cores_per_node": 4}
    jobs = Workload.from_columns(nodes=1, run_time=10, submit_time=[0, 5])
    simulation = Simulation(System.from_dict({"modules": [nodes]}), jobs, "fcfs")
    simulation.run(until=2)
    simulation.drain("G", 1)
    simulation.run()
    result = simulation.result()
    assert "and where nodes were out of service or jobs" in texts(resource_figure(result))
    assert "stranded" not in run_text(result, "t", 1.0)


def test_the_page_has_the_shares_and_says_what_stranded_is(tmp_path):
    two_modules().save(tmp_path)
    page = write_report(tmp_path).read_text(encoding="utf-8")
    for text in ("GPUs stranded", "Stranded: free on nodes", "G 25.0 % of 2", 'id="gpus-chart"'):
        assert text in page
